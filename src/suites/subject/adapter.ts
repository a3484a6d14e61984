import type { Fault } from '../../base/errors.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { EvalToolCall } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { Services } from '../../pipelines/state/run-context.ts';
import type { HostEnv } from '../../process/env.ts';
import type { ResultStore } from '../../store/result-store.ts';

export interface SubjectContext {
  readonly config: RuntimeConfig;
  readonly services: Services;
  readonly env: HostEnv;
  /** The recording of --replay, which replaces models and processes. */
  readonly replay?: string | undefined;
  readonly retries: number;
  /** The store for cached answers; undefined disables the cache. */
  readonly cache: Pick<ResultStore, 'findAnswer' | 'keepAnswer'> | undefined;
}

export interface SubjectAdapter {
  prepare(scope: Readonly<Record<string, unknown>>): SubjectRequest;
  /** Everything except the request that determines answers, as JSON values without secrets. */
  identify(): unknown;
}

export interface SubjectRequest {
  /** JSON values, equal for equal requests. */
  readonly key: unknown;
  /** Makes one attempt. Faults are in `error`. Rejects with ABORTED if `signal` is aborted. */
  send(signal: AbortSignal): Promise<SubjectOutput>;
}

export type SubjectOutput = Pick<
  Answer,
  'text' | 'result' | 'messages' | 'tool_calls' | 'metadata' | 'error'
>;

export const emptyOutput: Omit<SubjectOutput, 'error'> = {
  text: '',
  result: null,
  messages: [],
  tool_calls: [],
  metadata: {},
};

/** The answer of a subject as plain JSON. Long integers keep their digits. */
export interface Answer {
  /** The judged text; empty if there is no answer. */
  readonly text: string;
  /** The result of a tool, the view of a chat or the output of a pipeline; null if there is no answer. */
  readonly result: unknown;
  readonly messages: readonly ChatMessage[];
  readonly tool_calls: readonly EvalToolCall[];
  /** `latency_ms`, and for chats `input_tokens`, `output_tokens`, `total_tokens`, `cost_usd`, `provider`, `model`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Milliseconds of the last attempt; 0 from the cache. */
  readonly duration_ms: number;
  /** Milliseconds in queues, not included in `duration_ms`. */
  readonly queue_ms: number;
  readonly cached: boolean;
  readonly attempts: number;
  readonly error?: Fault;
}

export interface AnswerOptions {
  readonly scope: Readonly<Record<string, unknown>>;
  readonly epoch: number;
  readonly signal: AbortSignal;
}

export interface SubjectRunner {
  answer(options: AnswerOptions): Promise<Answer>;
}
