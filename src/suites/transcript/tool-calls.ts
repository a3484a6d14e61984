import { isObject } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import type { EvalToolCall } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { datasetError } from '../dataset/row.ts';

/**
 * Reads tool calls in OpenAI's or PromptKit's format, with the replies of `tool` messages. `place` is the path of the
 * messages. Throws DATASET_INVALID.
 */
export function readToolCalls(messages: readonly ChatMessage[], place: string): readonly EvalToolCall[] {
  const calls = messages.map((message, index) => readCalls(message, index, `${place}[${index}]`));
  const replies = messages.flatMap((message, index) => {
    return message.role === 'tool' ? [readReply(message, index, `${place}[${index}]`)] : [];
  });
  const replyOf = matchReplies(calls, replies);
  return calls.flat().map((call) => {
    const { name, args, index } = call;
    const { result = '', error = '', errorType = '' } = replyOf.get(call) ?? {};
    return { name, args, result, error, index, ...(errorType === '' ? {} : { error_type: errorType }) };
  });
}

interface RequestedCall {
  readonly id: string | undefined;
  readonly name: string;
  readonly args: unknown;
  readonly index: number;
}

function readCalls(message: ChatMessage, index: number, place: string): readonly RequestedCall[] {
  if (message.role !== 'assistant') return [];
  return readList(message['tool_calls'], `${place}.tool_calls`).map((item, position) => {
    const callPlace = `${place}.tool_calls[${position}]`;
    const call = requireObject(item, callPlace);
    const wrapped = call['function'] !== undefined && call['function'] !== null;
    return {
      id: readId(call['id'], `${callPlace}.id`),
      ...(wrapped ? readFunction : readPlain)(call, callPlace),
      index,
    };
  });
}

/** Some providers send empty ids. */
function readId(value: unknown, place: string): string | undefined {
  return readText(value, place) || undefined;
}

type NamedArgs = Pick<RequestedCall, 'name' | 'args'>;

function readPlain({ name, args }: JsonObject, place: string): NamedArgs {
  return { name: requireText(name, `${place}.name`), args: args ?? {} };
}

function readFunction(call: JsonObject, place: string): NamedArgs {
  const { name, arguments: args } = requireObject(call['function'], `${place}.function`);
  return {
    name: requireText(name, `${place}.function.name`),
    args: readArguments(args, `${place}.function.arguments`),
  };
}

function readArguments(value: unknown, place: string): JsonObject {
  if (value === undefined || value === null || value === '') return {};
  const args = typeof value === 'string' ? tryParseLossless(value) : value;
  if (!isObject(args) || JSON.isRawJSON(args)) throw datasetError(place, 'the JSON text of an object', value);
  return args;
}

interface ToolReply {
  readonly id: string | undefined;
  readonly result: string;
  readonly error: string;
  readonly errorType: string;
  readonly index: number;
}

function readReply(message: ChatMessage, index: number, place: string): ToolReply {
  const result = message['tool_result'];
  const { id, error, error_type: errorType } = isObject(result) ? result : {};
  return {
    id: readId(message['tool_call_id'], `${place}.tool_call_id`) ?? readId(id, `${place}.tool_result.id`),
    result: message.content,
    error: readText(error, `${place}.tool_result.error`),
    errorType: readText(errorType, `${place}.tool_result.error_type`),
    index,
  };
}

/**
 * A reply belongs to the last unanswered call with its id. Without an id, a call gets the next reply before the next
 * round of calls.
 */
function matchReplies(
  callsByMessage: readonly (readonly RequestedCall[])[],
  replies: readonly ToolReply[],
): ReadonlyMap<RequestedCall, ToolReply> {
  const replyOf = new Map<RequestedCall, ToolReply>();
  const taken = new Set<ToolReply>();
  const take = (call: RequestedCall, answer: ToolReply | undefined): void => {
    if (answer === undefined) return;
    replyOf.set(call, answer);
    taken.add(answer);
  };
  const rounds = callsByMessage.filter((calls) => calls.length > 0);
  for (const call of rounds.toReversed().flat()) {
    if (call.id === undefined) continue;
    take(
      call,
      replies.find((answer) => answer.index > call.index && answer.id === call.id && !taken.has(answer)),
    );
  }
  for (const [round, calls] of rounds.entries()) {
    const end = rounds[round + 1]?.[0]?.index ?? Number.POSITIVE_INFINITY;
    for (const call of calls) {
      if (replyOf.has(call)) continue;
      const isNext = (answer: ToolReply): boolean =>
        answer.index > call.index &&
        answer.index < end &&
        !taken.has(answer) &&
        (call.id === undefined || answer.id === undefined);
      take(call, replies.find(isNext));
    }
  }
  return replyOf;
}

// Readers of mapped row values; `place` is the path for messages. `read…` accepts absent and null as empty, `require…`
// does not. All throw DATASET_INVALID.

export type JsonObject = Readonly<Record<string, unknown>>;

export function readList(value: unknown, place: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw datasetError(place, 'a list', value);
  return value;
}

export function readObject(value: unknown, place: string): JsonObject {
  if (value === undefined || value === null) return {};
  return requireObject(value, place);
}

export function requireObject(value: unknown, place: string): JsonObject {
  if (!isObject(value) || JSON.isRawJSON(value)) throw datasetError(place, 'a mapping', value);
  return value;
}

export function readText(value: unknown, place: string): string {
  if (value === undefined || value === null) return '';
  return requireText(value, place);
}

export function requireText(value: unknown, place: string): string {
  if (typeof value !== 'string') throw datasetError(place, 'text', value);
  return value;
}

export function readIndex(value: unknown, place: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw datasetError(place, 'a whole number from 0', value);
  }
  return value;
}
