import type { Fault } from '../base/errors.ts';
import type { StepDocument } from './run.ts';

/** A call of a tool in a step. */
export interface ToolCallDetails {
  readonly what: 'tool call';
  /** Its path in the run. */
  readonly path: string;
  readonly tool: string | null;
  /** As the step or the model asked for it; null in runs of earlier versions. */
  readonly args: unknown;
  /** What the tool was given, where hooks or a person changed it. */
  readonly sent?: unknown;
  /** Of a call that a retry of the run made with other arguments than before. */
  readonly idempotency_key?: string;
  /** `open`: begun, and not ended. */
  readonly status: 'ok' | 'failed' | 'denied' | 'pending' | 'open';
  readonly result?: unknown;
  /** The hook that denied it, and why. */
  readonly hook?: string;
  readonly reason?: string;
  readonly error?: Fault;
  /** What hooks said. */
  readonly metadata?: unknown;
  /** How often it was begun. */
  readonly attempts: number;
  readonly duration_ms: number | null;
}

/** A call of a model in a chat. */
export interface ModelCallDetails {
  readonly what: 'model call';
  readonly path: string;
  readonly status: 'ok' | 'failed' | 'open';
  /** The answer. */
  readonly message?: unknown;
  readonly finish_reason?: string;
  /** Null where the provider does not report them. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** US dollars; null where the provider declares no price. */
  readonly cost_usd: number | null;
  /** What the hooks before and after it decided. */
  readonly metadata?: unknown;
  readonly error?: Fault;
  readonly attempts: number;
  readonly duration_ms: number | null;
}

/** A score of an eval step or a guardrail. */
export interface ScoreDetails {
  readonly what: 'score';
  readonly path: string;
  readonly eval: string | null;
  /** What was judged; null in runs of earlier versions. */
  readonly content: unknown;
  readonly params: unknown;
  readonly status: 'ok' | 'open';
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly detail: string;
  readonly data: unknown;
  readonly attempts: number;
  readonly duration_ms: number | null;
}

/** What hooks decided about a turn or a session. */
export interface HookDetails {
  readonly what: 'hooks';
  readonly path: string;
  /** Everything that is kept of it. */
  readonly decision: unknown;
}

/** One piece of the work of a step. */
export type WorkDetails = ToolCallDetails | ModelCallDetails | ScoreDetails | HookDetails;

/** What one step of a run came to. Times are ISO 8601. */
export interface StepDetails {
  readonly step: string;
  /** Null of a step that has not ended. */
  readonly kind: StepDocument['kind'] | null;
  /** `open`: begun, and not ended. */
  readonly status: StepDocument['status'] | 'open';
  readonly duration_ms: number | null;
  readonly ended_at: string | null;
  readonly error?: Fault;
  /** The path of the inner step that made it fail. */
  readonly failed_at?: string;
  /** The retry of the run in which it was done again; absent before any. */
  readonly retry?: number;
  /** What expressions see of it as `steps.ID`; null of a step that has not ended. */
  readonly view: unknown;
  /** What was done in it, in order; of a loop or a group nothing, since its steps stand for themselves. */
  readonly work: readonly WorkDetails[];
}

export interface StepsOptions {
  /** Only this step, and those inside it: its id, or its path, such as `mails[2]`. */
  readonly step?: string | undefined;
  /** Texts longer than that are shortened, and the longest are not even read. Default: nothing is shortened. */
  readonly maxCharacters?: number | undefined;
}
