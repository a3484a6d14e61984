import { RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, type Json, stringifyJson } from '../../base/json/json.ts';
import { elementsOf } from '../../base/json/scan.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { type EvalOutcome, type EvalRequest, scored, unscored } from '../../contract/eval.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import { type Body, excerpt, malformed, nonNull, noteUnknownKeys, readReply, toBody } from '../body.ts';
import { type Codec, type Decoded, decoded, type Note, toMessage } from '../dialect.ts';
import type { Casing } from './casing.ts';

/**
 * Evals: `{"type", "params", "content", "context"}` in, `{"score", "detail"?, "data"?}`, `{"abstain"}` or `{"error"}`
 * out.
 */
export function createEvalCodec(casing: Casing): Codec<EvalRequest, EvalOutcome> {
  return { encode: (request) => encode(request, casing), decode };
}

function encode(request: EvalRequest, casing: Casing): Message {
  return toMessage(stringifyJson({ type: request.type, ...judgedMembers(request, casing) }));
}

function judgedMembers({ params, content, context }: EvalRequest, casing: Casing) {
  const { messages, turn_index, variables, metadata, session_id, prompt_id } = context;
  const tool_calls = context.tool_calls.map(casing.evalToolCall);
  const conversation = { messages, turn_index, tool_calls, variables, metadata, session_id, prompt_id };
  return { params, content, context: conversation };
}

function decode(reply: Reply): Decoded<EvalOutcome> {
  const body = readReply(reply, 'EVAL_ERROR', '{"score": N} with a number from 0 to 1');
  return decoded(readOutcome(body), noteUnknownKeys(body, outcomeKeys));
}

const outcomeKeys: readonly string[] = ['score', 'detail', 'data', 'abstain', 'error'];

function readOutcome(body: Body): EvalOutcome {
  const error = textOf(body, 'error');
  if (error !== '') return reportedError(error);
  const score = body.get('score');
  const abstention = textOf(body, 'abstain');
  if (abstention !== '') {
    if (score !== undefined) throw malformed('the reply has both a `score` and `abstain`');
    return unscored(abstention);
  }
  if (score === undefined)
    throw malformed('the reply has no `score`', hintOfMissing, { text: excerpt(body.json.text) });
  if (typeof score.value !== 'number')
    throw malformed(`the score is not a number: ${excerpt(score.text)}`, hintOfNumber(score.value));
  // JSON.parse makes 1e400 infinite, so the bounds reject it.
  if (!(score.value >= 0 && score.value <= 1))
    throw malformed(`the score is outside 0..1: ${excerpt(score.text)}`, hintOfScore);
  return scored(score.value, textOf(body, 'detail'), readData(body.get('data')));
}

const hintOfMissing =
  'Print {"score": N} with a number from 0 to 1: {"score": 1} for passed, {"score": 0} for not passed.';

function hintOfNumber(value: unknown): string {
  const isNumber = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value);
  return isNumber ? `Print it without quotes: {"score": ${value}}.` : hintOfScore;
}

const hintOfScore = 'Print {"score": N} with a number from 0 to 1, such as 0.85 for 85 %.';

function reportedError(error: string): EvalOutcome {
  return unscored(error, toFault(new RuntimeError('EVAL_ERROR', error)));
}

function textOf(body: Body, key: string): string {
  const value = body.get(key)?.value ?? '';
  if (typeof value !== 'string') throw malformed(`the reply’s \`${key}\` is not a string`);
  return value;
}

function readData(given: Json | undefined): Json | undefined {
  const data = nonNull(given);
  if (data !== undefined && !isObject(data.value)) throw malformed('the reply’s `data` is not an object');
  return data;
}

/**
 * Several cases in one request, an addition to the published wire: `{"type", "batch": [{"index", "params", "content",
 * "context"}, …]}` in, `{"results": [{"score", …}, …]}` out, as many and in the same order.
 */
export function createEvalBatchCodec(casing: Casing): Codec<readonly EvalRequest[], readonly EvalOutcome[]> {
  return {
    encode: (requests) => encodeBatch(requests, casing),
    decode: (reply, requests) => decodeBatch(reply, requests.length),
  };
}

function encodeBatch(requests: readonly EvalRequest[], casing: Casing): Message {
  const batch = requests.map((request, index) => ({ index, ...judgedMembers(request, casing) }));
  return toMessage(stringifyJson({ type: requests[0]?.type, batch }));
}

/** If the count differs, the missing result is unknown, so no case gets one. */
function decodeBatch(reply: Reply, count: number): Decoded<readonly EvalOutcome[]> {
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
  if (results !== undefined) throw malformed('the reply’s `results` is not a list', hintOfResults);
  if (body.get('score') === undefined) throw malformed('the reply has no `results`', hintOfResults);
  throw malformed(
    `the reply is one score, but the request was a batch of ${counted(count, 'case')}`,
    hintOfBatch,
  );
}

const hintOfResults =
  'Print {"results": […]}, one result for each case of the batch, or remove `batch` from the eval.';
const hintOfBatch =
  'Remove `batch` from the eval, or let its program answer {"results": […]} to a request with `batch`.';

/** The index in the result: NaN if it is not a whole number, undefined if there is none. */
function readPlace(result: Json): number | undefined {
  const index = memberIndex(result);
  if (index === undefined) return undefined;
  return typeof index.value === 'number' && Number.isInteger(index.value) ? index.value : Number.NaN;
}

function memberIndex(result: Json): Json | undefined {
  try {
    return nonNull(toBody(result).get('index'));
  } catch {
    return undefined;
  }
}

interface Placed {
  readonly at: number;
  readonly place: number | undefined;
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
  if (place !== undefined) throw misplaced(`result ${at} of the batch names another case`);
  throw misplaced('another result of this batch names a case out of order, and this one names none');
}

function misplaced(message: string): RuntimeError {
  return malformed(
    message,
    'Write the results in the order of the batch; `index` in a result is the position of its case, from 0.',
  );
}

function firstOfEach(notes: readonly Note[]): Note[] {
  return [...new Map(notes.map((note) => [note.message, note])).values()].slice(0, MAX_NOTES);
}

const MAX_NOTES = 20;

function counted(count: number, noun: string): string {
  return formatCount(count, noun);
}
