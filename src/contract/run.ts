import type { Fault } from '../base/errors.ts';
import type { PendingNotice } from './approval.ts';

/**
 * The stored status. A run whose process was killed stays `running` until it resumes. `queued`: it waits for a worker.
 * `suspended`: a model API or a server had an error that may pass. `waiting`: it waits for a time.
 */
export type RunStatus =
  | 'queued'
  | 'running'
  | 'pending'
  | 'suspended'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'denied'
  | 'cancelled';

/** The displayed status. `running`: it runs now. `cut_off`: the process that ran it has ended. */
export type ShownStatus = RunStatus | 'cut_off';

/** The caller's labels of a run, values by name. */
export type RunLabels = Readonly<Record<string, string>>;

export interface StepDocument {
  /** The path of the step: ids joined with `/`, positions in brackets, as in `orders[2]/refund`. */
  readonly step: string;
  readonly kind:
    | 'tool'
    | 'eval'
    | 'chat'
    | 'parallel'
    | 'steps'
    | 'for_each'
    | 'while'
    | 'wait'
    | 'ask'
    | 'pipeline';
  readonly status: 'ok' | 'failed' | 'denied' | 'skipped' | 'pending';
  readonly duration_ms: number;
  /** The run that a pipeline step started, which has its own steps. */
  readonly run_id?: string;
  /** Hooks that failed open by the rules of their dialects. */
  readonly failed_open?: readonly { readonly hook: string; readonly cause: string }[];
  readonly error?: Fault;
}

/** Why a run is suspended, and when it continues. Times are ISO 8601. */
export interface RunSuspension {
  /** When the error first occurred. */
  readonly since: string;
  /** The number of consecutive failures. */
  readonly tries: number;
  /** When `signalbox work` or a worker continues the run. */
  readonly due_at: string;
  readonly error: Fault;
}

/** Present only while a run is suspended or waits. */
interface SetDown {
  readonly suspended?: RunSuspension;
  /** When the current `wait` ends, ISO 8601. No process holds the run until then. */
  readonly waits_until?: string;
}

/** The result of a run, as `run --json` prints it. */
export interface RunDocument extends SetDown {
  readonly run_id: string;
  /** `running` or `queued`: a run with this id was started before and has not ended. */
  readonly status: RunStatus;
  /** Null unless completed. */
  readonly output: unknown;
  readonly pending: readonly PendingNotice[];
  /** Ended steps in the order of their ends, a group after its steps; then those that wait. */
  readonly steps: readonly StepDocument[];
  /** The error that stopped or suspended the run. For a cancelled run, who cancelled it and why. */
  readonly error?: Fault;
}

/** A run as `runs list --json` prints it. Times are ISO 8601. */
export interface RunInfo extends SetDown {
  readonly run_id: string;
  /** `pipeline`, or `tool` for a single call that went pending. */
  readonly kind: 'pipeline' | 'tool';
  readonly name: string;
  readonly file: string | null;
  readonly status: ShownStatus;
  readonly created_at: string;
  readonly updated_at: string;
  readonly pending: number;
  readonly labels?: RunLabels;
  /** The run waits for a worker, but no running worker has its pipeline, config and scripts. */
  readonly lacks_worker?: true;
  /** The parent run, if a step of another run started this one. */
  readonly parent?: {
    readonly run_id: string;
    /** The outermost run, which resumes together with all runs below it. */
    readonly root_run_id: string;
    /** The path of the step, from the outermost run. */
    readonly step: string;
  };
}

/** A page of a list, newest run first. */
export interface RunPage {
  readonly runs: readonly RunInfo[];
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
}

/** One line of a run's timeline. Times are ISO 8601. */
export interface TimelineEntry {
  readonly at: string;
  readonly what: 'started' | 'retried' | 'step began' | 'step ended' | 'pending' | 'decided' | 'ended';
  readonly step: string | null;
  readonly detail: string;
}

/** The totals of a run, including the runs that its steps started. */
export interface RunTotals {
  /** Milliseconds from its start to its end, or to its last change. */
  readonly duration_ms: number;
  /** Ended steps of the file; each item of a loop counts. */
  readonly steps: number;
  readonly model_calls: number;
  readonly tool_calls: number;
  /** Scores of evals, including those of guardrails. */
  readonly scores: number;
  /** Of the model calls that report them. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Model calls with unknown token counts. */
  readonly unmeasured_calls: number;
  /** US dollars, for the model calls whose provider has a price; null if none has one. */
  readonly cost_usd: number | null;
  /** Model calls with unknown cost. */
  readonly unpriced_calls: number;
}

/** What is known of a run without reading its steps. */
export interface RunSummary extends RunInfo {
  readonly input: unknown;
  readonly output: unknown;
  readonly error: Fault | null;
  /** Calls that wait for a person; the first thousand in a summary. */
  readonly pendings: readonly PendingNotice[];
}

/** A run as `runs show --json` prints it. */
export interface RunDetails extends RunSummary {
  readonly timeline: readonly TimelineEntry[];
  /** The run's timeline continues beyond this one. */
  readonly timeline_cut?: true;
  readonly totals: RunTotals;
  /** The runs that its steps started, in order, at most the first thousand; absent: none. */
  readonly children?: readonly RunInfo[];
  readonly children_cut?: true;
}

export interface ToolCallDetails {
  readonly what: 'tool call';
  readonly path: string;
  readonly tool: string | null;
  /** As the step or the model requested them; null if they were not stored. */
  readonly args: unknown;
  /** The arguments that the tool received, if hooks or a person changed them. */
  readonly sent?: unknown;
  /** Set for a call that a retry of the run made with other arguments than before. */
  readonly idempotency_key?: string;
  /** `open`: begun but not ended. */
  readonly status: 'ok' | 'failed' | 'denied' | 'pending' | 'open';
  readonly result?: unknown;
  /** The hook that denied the call; `reason` says why. */
  readonly hook?: string;
  readonly reason?: string;
  readonly error?: Fault;
  readonly metadata?: unknown;
  /** How often the call was started. */
  readonly attempts: number;
  readonly duration_ms: number | null;
}

export interface ModelCallDetails {
  readonly what: 'model call';
  readonly path: string;
  readonly status: 'ok' | 'failed' | 'open';
  readonly message?: unknown;
  readonly finish_reason?: string;
  /** Null if the provider does not report them. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** US dollars; null if the provider declares no price. */
  readonly cost_usd: number | null;
  /** The decisions of the hooks before and after the call. */
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
  /** The judged content; null while the score is open. */
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

/** The decisions of hooks about a turn or a session. */
export interface HookDetails {
  readonly what: 'hooks';
  readonly path: string;
  readonly decision: unknown;
}

export type WorkDetails = ToolCallDetails | ModelCallDetails | ScoreDetails | HookDetails;

/** One step of a run. Times are ISO 8601. */
export interface StepDetails {
  readonly step: string;
  /** Null for a step that has not ended. */
  readonly kind: StepDocument['kind'] | null;
  /** `open`: begun but not ended. */
  readonly status: StepDocument['status'] | 'open';
  readonly duration_ms: number | null;
  readonly ended_at: string | null;
  readonly error?: Fault;
  /** The path of the inner step that made it fail. */
  readonly failed_at?: string;
  /** The retry of the run that repeated the step; absent before any retry. */
  readonly retry?: number;
  /** The value of `steps.ID` in expressions; null for a step that has not ended. */
  readonly view: unknown;
  /** The work of the step, in order. Empty for a loop or a group, whose steps have their own entries. */
  readonly work: readonly WorkDetails[];
}

/** A page of steps in the order in which they ended. */
export interface StepPage {
  readonly steps: readonly StepDetails[];
  /** Only on the first page: the first thousand steps that have not ended; absent if there are none. */
  readonly open?: readonly StepDetails[];
  readonly open_cut?: true;
  /** Given as `after`, it returns the next page; absent on the last one. */
  readonly next?: string;
}

export interface StepsOptions {
  /** Only this step and those inside it, by id or by path, such as `mails[2]`. */
  readonly step?: string | undefined;
  /** The maximum length of texts; longer ones are shortened, and the longest are not even read. Default: no limit. */
  readonly maxCharacters?: number | undefined;
}
