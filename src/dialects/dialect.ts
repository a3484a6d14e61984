import type { NativeName } from '../config/config.ts';
import type { EvalOutcome, EvalRequest } from '../contract/eval.ts';
import type { Answer, NativeEvent } from '../contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../contract/tool.ts';
import type { Message, Reply } from '../transport/transport.ts';

/** Something worth telling about a reply that was nevertheless understood. */
export interface Note {
  readonly level: 'debug' | 'warn';
  readonly message: string;
}

export interface Decoded<Output> {
  readonly output: Output;
  readonly notes: readonly Note[];
}

/** A pure translation between a neutral question and its answer, and what goes over the wire. */
export interface Codec<Input, Output> {
  /** Throws RuntimeError when the question cannot be put. */
  encode(input: Input): Message;
  /** Throws RuntimeError when the reply is no answer: PROCESS_EXIT, PROCESS_SIGNAL, REPLY_MALFORMED, TOOL_ERROR. */
  decode(reply: Reply, input: Input): Decoded<Output>;
}

/** One native wire vocabulary: a codec for each capability. */
export interface Dialect {
  readonly name: NativeName;
  readonly tool: Codec<ToolCall, ToolOutcome>;
  readonly eval: Codec<EvalRequest, EvalOutcome>;
  readonly hook: Codec<NativeEvent, Answer>;
}

/** Shorthand for a decoder that found nothing to remark. */
export function decoded<Output>(output: Output, notes: readonly Note[] = []): Decoded<Output> {
  return { output, notes };
}
