import { type EvalOutcome, type EvalRequest, scored, unscored } from '../../contract/eval.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import { RuntimeError, toFault } from '../../errors.ts';
import { isObject, type Json, stringifyJson } from '../../json/json.ts';
import { type Body, excerpt, malformed, nonNull, readReply } from '../body.ts';
import { type Codec, type Decoded, decoded } from '../dialect.ts';
import { toMessage } from '../message.ts';
import { noteUnknownKeys } from '../unknown-keys.ts';
import type { Casing } from './casing.ts';

/** Evals: `{"type", "params", "content", "context"}` in, `{"score", "detail"?, "data"?}`, `{"abstain"}` or `{"error"}` out. */
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
  const body = readReply(reply, 'EVAL_ERROR', '{"score": N} with a number from 0 to 1');
  return decoded(readOutcome(body), noteUnknownKeys(body, outcomeKeys));
}

/** The members of a reply about one text. */
export const outcomeKeys: readonly string[] = ['score', 'detail', 'data', 'abstain', 'error'];

/** The outcome in a reply about one text. Throws REPLY_MALFORMED. */
export function readOutcome(body: Body): EvalOutcome {
  const error = textOf(body, 'error');
  if (error !== '') return reportedError(error);
  const score = body.get('score');
  const abstention = textOf(body, 'abstain');
  if (abstention !== '') {
    if (score !== undefined) throw malformed('the reply has both a `score` and `abstain`');
    return unscored(abstention);
  }
  if (score === undefined)
    throw malformed('the reply has no `score`', hintOfScore, { text: excerpt(body.json.text) });
  if (typeof score.value !== 'number')
    throw malformed(`the score is no number: ${excerpt(score.text)}`, hintOfScore);
  // JSON.parse makes 1e400 infinite, which no comparison with the bounds lets through.
  if (!(score.value >= 0 && score.value <= 1))
    throw malformed(`the score is outside 0..1: ${excerpt(score.text)}`, hintOfScore);
  return scored(score.value, textOf(body, 'detail'), readData(body.get('data')));
}

const hintOfScore = 'Print {"score": N} with a number from 0 to 1, such as 0.85 for 85 %.';

/** The outcome of an eval that answers with an error: a fault, unlike an abstention. */
export function reportedError(error: string): EvalOutcome {
  return unscored(error, toFault(new RuntimeError('EVAL_ERROR', error)));
}

/** The text of that member; empty where there is none. Throws REPLY_MALFORMED. */
export function textOf(body: Body, key: string): string {
  const value = body.get(key)?.value ?? '';
  if (typeof value !== 'string') throw malformed(`the reply’s \`${key}\` is not a string`);
  return value;
}

function readData(given: Json | undefined): Json | undefined {
  const data = nonNull(given);
  if (data !== undefined && !isObject(data.value)) throw malformed('the reply’s `data` is not an object');
  return data;
}
