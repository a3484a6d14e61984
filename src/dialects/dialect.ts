import type { EvalOutcome, EvalRequest } from '../contract/eval.ts';
import type { Message, Reply } from '../contract/exchange.ts';
import type { Answer, NativeEvent } from '../contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../contract/tool.ts';
import type { VolatileFields } from '../process/cassette/volatile-fields.ts';

export interface Note {
  readonly level: 'debug' | 'warn';
  readonly message: string;
}

export interface Decoded<Output> {
  readonly output: Output;
  readonly notes: readonly Note[];
}

export interface Codec<Input, Output> {
  /** Throws RuntimeError if the request cannot be encoded. */
  encode(input: Input): Message;
  /** Throws PROCESS_EXIT, PROCESS_SIGNAL, REPLY_MALFORMED or TOOL_ERROR. */
  decode(reply: Reply, input: Input): Decoded<Output>;
}

export interface Dialect {
  readonly name: string;
  readonly tool: Codec<ToolCall, ToolOutcome>;
  readonly eval: Codec<EvalRequest, EvalOutcome>;
  /** Several cases of one type in one request. Returns as many outcomes, in the same order. */
  readonly evalBatch: Codec<readonly EvalRequest[], readonly EvalOutcome[]>;
  readonly hook: Codec<NativeEvent, Answer>;
  readonly volatileFields: VolatileFields;
}

export function decoded<Output>(output: Output, notes: readonly Note[] = []): Decoded<Output> {
  return { output, notes };
}

/**
 * Puts the JSON text on one line, since servers read line by line. Spliced texts may have line breaks between their
 * tokens.
 */
export function toMessage(json: string): Message {
  return { method: 'execute', body: toOneLine(json), takesMeta: true };
}

export function toSplicedMessage(before: string, json: string, after: string): Message {
  return { method: 'execute', body: before + toOneLine(json) + after, takesMeta: true };
}

function toOneLine(json: string): string {
  const isOneLine = !json.includes('\n') && !json.includes('\r');
  return isOneLine ? json : json.replaceAll(/[\r\n]/g, ' ');
}
