import type { EvalOutcome, EvalRequest } from '../contract/eval.ts';
import type { Message, Reply } from '../contract/exchange.ts';
import type { Answer, NativeEvent } from '../contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../contract/tool.ts';
import type { VolatileFields } from '../process/cassette/volatile-fields.ts';

/** A remark for the log about a reply that could be decoded. */
export interface Note {
  readonly level: 'debug' | 'warn';
  readonly message: string;
}

export interface Decoded<Output> {
  readonly output: Output;
  readonly notes: readonly Note[];
}

/** Pure functions that encode a neutral request for the wire and decode the reply. */
export interface Codec<Input, Output> {
  /** The message for a request. Throws RuntimeError when the request cannot be encoded. */
  encode(input: Input): Message;
  /** The outcome in a reply. Throws PROCESS_EXIT, PROCESS_SIGNAL, REPLY_MALFORMED, TOOL_ERROR. */
  decode(reply: Reply, input: Input): Decoded<Output>;
}

/** One native wire vocabulary: a codec for each capability. */
export interface Dialect {
  readonly name: string;
  readonly tool: Codec<ToolCall, ToolOutcome>;
  readonly eval: Codec<EvalRequest, EvalOutcome>;
  /** Several cases of one type in one request; as many outcomes, in the same order. */
  readonly evalBatch: Codec<readonly EvalRequest[], readonly EvalOutcome[]>;
  readonly hook: Codec<NativeEvent, Answer>;
  /** The members of payloads whose values differ from run to run. */
  readonly volatileFields: VolatileFields;
}

/** A decoded output with its notes, by default none. */
export function decoded<Output>(output: Output, notes: readonly Note[] = []): Decoded<Output> {
  return { output, notes };
}

/**
 * The request with that JSON text, on one line: spliced texts may have line breaks between their tokens,
 * where any white space will do, and a server reads line by line.
 */
export function toMessage(json: string): Message {
  return { method: 'execute', body: toOneLine(json) };
}

/** The same for a text that is spliced in between two that are on one line. */
export function toSplicedMessage(before: string, json: string, after: string): Message {
  return { method: 'execute', body: before + toOneLine(json) + after };
}

function toOneLine(json: string): string {
  const isOneLine = !json.includes('\n') && !json.includes('\r');
  return isOneLine ? json : json.replaceAll(/[\r\n]/g, ' ');
}
