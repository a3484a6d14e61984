import { type EvalOutcome, type EvalRequest, unscored } from '../../contract/eval.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import { type RuntimeError, toFault } from '../../errors.ts';
import { type Json, stringifyJson } from '../../json/json.ts';
import { elementsOf } from '../../json/scan.ts';
import { formatCount } from '../../text/format-count.ts';
import { type Body, malformed, nonNull, readReply, toBody } from '../body.ts';
import { type Codec, type Decoded, decoded, type Note } from '../dialect.ts';
import { toMessage } from '../message.ts';
import { noteUnknownKeys } from '../unknown-keys.ts';
import type { Casing } from './casing.ts';
import { judgedMembers, outcomeKeys, readOutcome, reportedError, textOf } from './eval.ts';

/**
 * Several cases in one request, an addition to the published wire: `{"type", "batch": [{"index", "params", "content",
 * "context"}, …]}` in, `{"results": [{"score", …}, …]}` out, as many and in the same order.
 */
export function createEvalBatchCodec(casing: Casing): Codec<readonly EvalRequest[], readonly EvalOutcome[]> {
  return {
    encode: (requests) => encode(requests, casing),
    decode: (reply, requests) => decode(reply, requests.length),
  };
}

function encode(requests: readonly EvalRequest[], casing: Casing): Message {
  const batch = requests.map((request, index) => ({ index, ...judgedMembers(request, casing) }));
  return toMessage(stringifyJson({ type: requests[0]?.type, batch }));
}

/** A count that is not the batch's leaves no way to tell whose result is missing, so that nobody gets one. */
function decode(reply: Reply, count: number): Decoded<readonly EvalOutcome[]> {
  const body = readReply(reply, 'EVAL_ERROR');
  const notes = noteUnknownKeys(body, ['results', 'error']);
  const error = textOf(body, 'error');
  if (error !== '')
    return decoded(
      Array.from({ length: count }, () => reportedError(error)),
      notes,
    );
  const results = requireResults(body, count);
  if (results.length !== count) {
    const given = `the reply has ${counted(results.length, 'result')} for a batch of ${counted(count, 'case')}`;
    throw malformed(
      given,
      'Answer every case, in the order of the batch; one without a score as {"error": "why"}.',
    );
  }
  const places = results.map(readPlace);
  const isOrderKnown = places.every((place, at) => place === undefined || place === at);
  const read = results.map((result, at) => readResult(result, { at, place: places[at], isOrderKnown }));
  return decoded(
    read.map(({ output }) => output),
    [...notes, ...firstOfEach(read.flatMap((each) => each.notes))],
  );
}

function requireResults(body: Body, count: number): readonly Json[] {
  const results = body.get('results');
  if (results !== undefined && Array.isArray(results.value)) return elementsOf(results);
  if (results !== undefined) throw malformed('the reply’s `results` is no list', hintOfResults);
  if (body.get('score') === undefined) throw malformed('the reply has no `results`', hintOfResults);
  throw malformed(
    `the reply is one score, and the request was a batch of ${counted(count, 'case')}`,
    hintOfScore,
  );
}

const hintOfResults =
  'Print {"results": […]}, one result for each case of the batch, or remove `batch` from the eval.';
const hintOfScore =
  'Remove `batch` from the eval, or let its program answer {"results": […]} to a request with `batch`.';

/** Which case the result says it is of; NaN when that is no whole number, undefined when it says none. */
function readPlace(result: Json): number | undefined {
  const index = memberIndex(result);
  if (index === undefined) return undefined;
  return typeof index.value === 'number' && Number.isInteger(index.value) ? index.value : Number.NaN;
}

function memberIndex(result: Json): Json | undefined {
  try {
    return nonNull(toBody(result).get('index'));
  } catch {
    // What is no object says nothing; it is refused where it is read.
    return undefined;
  }
}

interface Placed {
  readonly at: number;
  readonly place: number | undefined;
  /** No result says that it belongs elsewhere. */
  readonly isOrderKnown: boolean;
}

function readResult(result: Json, placed: Placed): Decoded<EvalOutcome> {
  try {
    requirePlace(placed);
    const body = toBody(result);
    return decoded(readOutcome(body), noteUnknownKeys(body, [...outcomeKeys, 'index']));
  } catch (thrown) {
    const fault = toFault(thrown);
    return decoded(unscored(fault.message, fault));
  }
}

function requirePlace({ at, place, isOrderKnown }: Placed): void {
  if (place === at || (place === undefined && isOrderKnown)) return;
  if (place !== undefined) throw misplaced(`result ${at} of the batch says that it is of another case`);
  throw misplaced(
    'a result of this batch names another case than the one in its place, and this one names none',
  );
}

function misplaced(message: string): RuntimeError {
  return malformed(
    message,
    'Results stand in the order of the batch; an `index` in one is that of its case, from 0.',
  );
}

/** The notes without repeats: what is said of one result holds for most of them. */
function firstOfEach(notes: readonly Note[]): Note[] {
  return [...new Map(notes.map((note) => [note.message, note])).values()].slice(0, MAX_NOTES);
}

const MAX_NOTES = 20;

function counted(count: number, noun: string): string {
  return formatCount(count, noun);
}
