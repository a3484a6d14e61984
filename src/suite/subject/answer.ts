import type { EvalToolCall } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { Fault } from '../../errors.ts';

/** What a subject made of a case: plain JSON values, in which long integers keep their digits. */
export interface Answer {
  /** The text that is judged; empty when there is no answer. */
  readonly text: string;
  /** The tool's result, the chat's view, the pipeline's output; null when there is no answer. */
  readonly result: unknown;
  /** Of its chats, in the order in which they ended. */
  readonly messages: readonly ChatMessage[];
  /** Those that its models asked for. */
  readonly tool_calls: readonly EvalToolCall[];
  /** `latency_ms`, and of chats `input_tokens`, `output_tokens`, `total_tokens`, `cost_usd`, `provider`, `model`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Of the last attempt; 0 from the cache. */
  readonly duration_ms: number;
  /** How long it waited for its turn meanwhile, which is no part of that. */
  readonly queue_ms: number;
  readonly cached: boolean;
  /** How often it was asked; 0 from the cache. */
  readonly attempts: number;
  /** Why there is no answer. */
  readonly error?: Fault;
}

export interface AskedSubject {
  /** What expressions see: `case` and `epoch`. */
  readonly scope: Readonly<Record<string, unknown>>;
  readonly epoch: number;
  readonly signal: AbortSignal;
}

/** Makes the texts that a suite judges. */
export interface SubjectRunner {
  /** What goes wrong is in `error`. Rejects with ABORTED when `signal` ends it, and with STORE_FAILED only. */
  answer(asked: AskedSubject): Promise<Answer>;
}
