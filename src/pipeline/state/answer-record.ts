import type { ChatMessage } from '../../contract/provider.ts';
import type { Fault } from '../../errors.ts';
import { parseMessage } from '../../hooks/message.ts';
import { Json } from '../../json/json.ts';
import {
  exact,
  flag,
  listOf,
  number,
  object,
  oneOf,
  optional,
  orNull,
  type Reader,
  text,
  type ValueOf,
} from '../../json/record.ts';
import { fault, plainRecord, type RecordKind } from './record.ts';

/** A message, the bytes of its members included. */
export const message: Reader<ChatMessage> = (json, at) => {
  messageShape(json, at);
  return parseMessage(json.text);
};

const messageShape = object({
  role: oneOf('system', 'user', 'assistant', 'tool'),
  content: text,
  tool_calls: optional(orNull(listOf(object({})))),
});

/** A model’s answer after the guard has filtered it, and its cost. */
export type ModelAnswer = ValueOf<typeof answer>;
const answer = object({
  message,
  /** The native finish reason: stop, tool_use, max_output_tokens, safety, … */
  finish_reason: text,
  /** Tokens; null where the provider does not report them. */
  usage: object({ input_tokens: orNull(number), output_tokens: orNull(number) }),
  /** US dollars; absent where the provider has no pricing, or does not say what was used. */
  cost_usd: optional(number),
  /** The guard’s metadata about the answer. */
  metadata: exact,
});

const failure = object({ error: optional(fault) });

/** An answer, or why there is none. */
export const answerRecord: RecordKind<ModelAnswer | { readonly error: Fault }> = {
  name: 'model answer',
  write: (value) => Json.from(value),
  read: (json, at) => {
    const { error } = failure(json, at);
    return error === undefined ? answer(json, at) : { error };
  },
};

/** A score; `score` is null when there is none, and `detail` then says why. */
export type ScoreRecord = ValueOf<typeof score>;
const score = object({ score: orNull(number), passed: flag, detail: text, data: exact });
export const scoreRecord = plainRecord('score', score);
