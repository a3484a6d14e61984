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

/** Keeps the bytes of the message's members. */
export const message: Reader<ChatMessage> = (json, at) => {
  checked(messageShape, json, at);
  return parseMessage(json.text);
};

const messageShape = members({
  role: oneOf('system', 'user', 'assistant', 'tool'),
  content: text,
  tool_calls: optional(nullOr(listOf(anyMembers))),
});

export type ModelAnswer = ValueOf<typeof answer>;
const answer = object({
  message,
  /** The native finish reason: stop, tool_use, max_output_tokens, safety, … */
  finish_reason: text,
  /** In tokens; null if the provider does not report them. */
  usage: object({ input_tokens: nullOr(number), output_tokens: nullOr(number) }),
  /** In US dollars; absent if the provider has no pricing or reports no usage. */
  cost_usd: optional(number),
  /** The id of the provider that answered, and its model; absent if hooks answered. */
  provider: optional(text),
  model: optional(text),
  metadata: exact,
});

const failure = object({ error: ifPresent(fault) });

export const answerRecord: RecordKind<ModelAnswer | { readonly error: Fault }> = {
  name: 'model answer',
  write: composeJson,
  read: (json, at) => {
    const { error } = failure(json, at);
    return error === undefined ? answer(json, at) : { error };
  },
};

/** `score` is null if there is none; `detail` then gives the reason. */
export type ScoreRecord = Omit<ValueOf<typeof score>, 'eval' | 'content' | 'params'>;
const score = object({
  score: nullOr(number),
  passed: flag,
  detail: text,
  data: exact,
  eval: optional(text),
  content: ifPresent(exact),
  params: ifPresent(exact),
});
export const scoreRecord = plainRecord('score', score);
