import type { Fault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { checked, exact, ifPresent, object, type Reader, type ValueOf } from '../../base/json/record.ts';
import {
  anyMembers,
  flag,
  listOf,
  members,
  nullOr,
  number,
  oneOf,
  optional,
  text,
} from '../../base/json/shape.ts';
import { parseMessage } from '../../calls/hooks/replace.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { fault, plainRecord, type RecordKind } from './record.ts';

/** A message, the bytes of its members included. */
export const message: Reader<ChatMessage> = (json, at) => {
  checked(messageShape, json, at);
  return parseMessage(json.text);
};

const messageShape = members({
  role: oneOf('system', 'user', 'assistant', 'tool'),
  content: text,
  tool_calls: optional(nullOr(listOf(anyMembers))),
});

/** A model’s answer after the guard has filtered it, and its cost. */
export type ModelAnswer = ValueOf<typeof answer>;
const answer = object({
  message,
  /** The native finish reason: stop, tool_use, max_output_tokens, safety, … */
  finish_reason: text,
  /** Tokens; null where the provider does not report them. */
  usage: object({ input_tokens: nullOr(number), output_tokens: nullOr(number) }),
  /** US dollars; absent where the provider has no pricing, or does not say what was used. */
  cost_usd: optional(number),
  /** Who answered, by id, and its model; absent where hooks have. */
  provider: optional(text),
  model: optional(text),
  /** The guard’s metadata about the answer. */
  metadata: exact,
});

const failure = object({ error: ifPresent(fault) });

/** An answer, or why there is none. */
export const answerRecord: RecordKind<ModelAnswer | { readonly error: Fault }> = {
  name: 'model answer',
  write: composeJson,
  read: (json, at) => {
    const { error } = failure(json, at);
    return error === undefined ? answer(json, at) : { error };
  },
};

/** A score; `score` is null when there is none, and `detail` then says why. */
export type ScoreRecord = Omit<ValueOf<typeof score>, 'eval' | 'content' | 'params'>;
const score = object({
  score: nullOr(number),
  passed: flag,
  detail: text,
  data: exact,
  /** What was judged. */
  eval: optional(text),
  content: ifPresent(exact),
  params: ifPresent(exact),
});
export const scoreRecord = plainRecord('score', score);
