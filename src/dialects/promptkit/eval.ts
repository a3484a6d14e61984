import { type EvalOutcome, type EvalRequest, scored, unscored } from '../../contract/eval.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import { isObject, type Json, stringifyJson } from '../../json/json.ts';
import { type Body, excerpt, malformed, nonNull, readReply } from '../body.ts';
import { type Codec, type Decoded, decoded } from '../dialect.ts';
import { toMessage } from '../message.ts';
import { noteUnknownKeys } from '../unknown-keys.ts';
import type { Casing } from './casing.ts';

/** Evals: `{"type", "params", "content", "context"}` in, `{"score", "detail"?, "data"?}` or `{"error"}` out. */
export function createEvalCodec(casing: Casing): Codec<EvalRequest, EvalOutcome> {
  return { encode: (request) => encode(request, casing), decode };
}

function encode(request: EvalRequest, casing: Casing): Message {
  return toMessage(stringifyJson({ type: request.type, ...judgedMembers(request, casing) }));
}

/** What a request says of the one text that it asks about. */
export function judgedMembers({ params, content, context }: EvalRequest, casing: Casing) {
  const { messages, turn_index, variables, metadata, session_id, prompt_id } = context;
  const tool_calls = context.tool_calls.map(casing.evalToolCall);
  const conversation = { messages, turn_index, tool_calls, variables, metadata, session_id, prompt_id };
  return { params, content, context: conversation };
}

function decode(reply: Reply): Decoded<EvalOutcome> {
  const body = readReply(reply);
  return decoded(readOutcome(body), noteUnknownKeys(body, outcomeKeys));
}

/** The members of a reply about one text. */
export const outcomeKeys: readonly string[] = ['score', 'detail', 'data', 'error'];

/** The outcome in a reply about one text. Throws REPLY_MALFORMED. */
export function readOutcome(body: Body): EvalOutcome {
  const error = body.get('error')?.value ?? '';
  if (typeof error !== 'string') throw malformed('the reply’s `error` is not a string');
  if (error !== '') return unscored(error);
  const score = body.get('score');
  if (score === undefined)
    throw malformed('the reply has no `score`', 'Print {"score": number from 0 to 1}.');
  if (typeof score.value !== 'number') throw malformed(`the score is no number: ${excerpt(score.text)}`);
  // JSON.parse makes 1e400 infinite, which no comparison with the bounds lets through.
  if (!(score.value >= 0 && score.value <= 1))
    throw malformed(`the score is outside 0..1: ${excerpt(score.text)}`);
  return scored(score.value, readDetail(body.get('detail')), readData(body.get('data')));
}

function readDetail(detail: Json | undefined): string {
  const value = detail?.value ?? '';
  if (typeof value !== 'string') throw malformed('the reply’s `detail` is not a string');
  return value;
}

function readData(given: Json | undefined): Json | undefined {
  const data = nonNull(given);
  if (data !== undefined && !isObject(data.value)) throw malformed('the reply’s `data` is not an object');
  return data;
}
