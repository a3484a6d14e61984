import type { Fault } from '../../base/errors.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { EvalToolCall } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { Services } from '../../pipelines/state/run-context.ts';
import type { HostEnv } from '../../process/env.ts';
import type { ResultStore } from '../../store/result-store.ts';

/** What subjects are opened with. */
export interface SubjectContext {
  readonly config: RuntimeConfig;
  readonly services: Services;
  /** The environment of the host, which may name a stand-in for a provider. */
  readonly env: HostEnv;
  /** The recording of --replay, which answers instead of models and processes. */
  readonly replay?: string | undefined;
  /** How often it is asked again after a fault of the infrastructure. */
  readonly retries: number;
  /** Where answers are stored and found again; undefined: each one is made anew. */
  readonly cache: Pick<ResultStore, 'findAnswer' | 'keepAnswer'> | undefined;
}

/** What each kind of subject (tool, chat, pipeline) implements. */
export interface SubjectAdapter {
  /** Evaluates the expressions of the subject for one case. Throws EXPRESSION_FAILED. */
  prepare(scope: Readonly<Record<string, unknown>>): SubjectRequest;
  /** Everything but the request that determines its answers: JSON values, without secrets. */
  identify(): unknown;
}

export interface SubjectRequest {
  /** Equal for equal requests: JSON values. */
  readonly key: unknown;
  /** Makes one attempt. Faults are in `error`; rejects with ABORTED when `signal` is aborted. */
  send(signal: AbortSignal): Promise<SubjectOutput>;
}

/** The output of one attempt. */
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
