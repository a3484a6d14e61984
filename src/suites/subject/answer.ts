import type { Fault } from '../../base/errors.ts';
import type { EvalToolCall } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';

/** The answer of a subject to a case: plain JSON values, in which long integers keep their digits. */
export interface Answer {
  /** The text that is judged; empty when there is no answer. */
  readonly text: string;
  /** The tool's result, the chat's view, the pipeline's output; null when there is no answer. */
  readonly result: unknown;
  /** The messages of its chats, in the order in which the chats ended. */
  readonly messages: readonly ChatMessage[];
  /** The tool calls that its models requested. */
  readonly tool_calls: readonly EvalToolCall[];
  /** `latency_ms`, and of chats `input_tokens`, `output_tokens`, `total_tokens`, `cost_usd`, `provider`, `model`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Milliseconds of the last attempt; 0 from the cache. */
  readonly duration_ms: number;
  /** Milliseconds in queues, which are not part of `duration_ms`. */
  readonly queue_ms: number;
  readonly cached: boolean;
  /** How often it was asked; 0 from the cache. */
  readonly attempts: number;
  /** Why there is no answer. */
  readonly error?: Fault;
}

export interface AnswerOptions {
  /** What expressions see: `case` and `epoch`. */
  readonly scope: Readonly<Record<string, unknown>>;
  readonly epoch: number;
  readonly signal: AbortSignal;
}

/** Makes the texts that a suite judges. */
export interface SubjectRunner {
  /** What goes wrong is in `error`. Rejects with ABORTED when `signal` ends it, and with STORE_FAILED only. */
  answer(options: AnswerOptions): Promise<Answer>;
}
