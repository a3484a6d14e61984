import type { RuntimeConfig } from '../../config/config.ts';
import type { Services } from '../../pipelines/state/run-context.ts';
import type { HostEnv } from '../../process/env.ts';
import type { ResultStore } from '../../store/result-store.ts';
import type { Answer } from './answer.ts';

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
