import type { HostEnv } from '../../binding/env.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { Equipment } from '../../pipeline/state/run-context.ts';
import type { ResultStore } from '../../store/results.ts';
import type { Answer } from './answer.ts';

/** What subjects are opened with. */
export interface SubjectContext {
  readonly config: RuntimeConfig;
  readonly equipment: Equipment;
  /** The host's environment, which may say who answers for a mock. */
  readonly env: HostEnv;
  /** The recording that answers in the place of models and processes. */
  readonly replay?: string | undefined;
  /** How often it is asked again after a fault of the infrastructure. */
  readonly retries: number;
  /** Where answers are kept and found again; undefined: each is made anew. */
  readonly cache: Pick<ResultStore, 'findAnswer' | 'keepAnswer'> | undefined;
}

/** One kind of subject, opened. */
export interface Source {
  /** What it is asked for one case. Throws EXPRESSION_FAILED. */
  prepare(scope: Readonly<Record<string, unknown>>): Question;
  /** All that decides its answers beside the question: JSON values, without secrets. */
  identify(): unknown;
}

export interface Question {
  /** The same for the same question: JSON values. */
  readonly key: unknown;
  /** Asks once. What goes wrong is in `error`; rejects with ABORTED when `signal` ends it. */
  ask(signal: AbortSignal): Promise<Made>;
}

/** What a subject made. */
export type Made = Pick<Answer, 'text' | 'result' | 'messages' | 'tool_calls' | 'metadata' | 'error'>;

export const nothing: Omit<Made, 'error'> = {
  text: '',
  result: null,
  messages: [],
  tool_calls: [],
  metadata: {},
};
