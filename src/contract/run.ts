import type { Fault } from '../base/errors.ts';
import type { PendingNotice } from './approval.ts';

/**
 * As it is kept. A run whose process was killed stays `running` until it is resumed; one that is `queued` waits for a worker to begin it. `suspended`: by a
 * fault of a model's API or a server, which may be gone later; `waiting`: until a time.
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

/** As it is shown: `running` is executed at this moment, `cut_off` was, by a process that is gone. */
export type ShownStatus = RunStatus | 'cut_off';

/** What the caller of a run calls it by: values by their names. */
export type RunLabels = Readonly<Record<string, string>>;

/** The result of one step in a run document. */
export interface StepDocument {
  /** Path of the step: ids joined with `/`, positions in brackets, as in `orders[2]/refund`. */
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
  /** Of a pipeline step: the run that it began, which has steps of its own. */
  readonly run_id?: string;
  /** Hooks that failed open by the rules of their dialects. */
  readonly failed_open?: readonly { readonly hook: string; readonly cause: string }[];
  readonly error?: Fault;
}

/** What set a run down, and how it goes on. Times are ISO 8601. */
export interface RunSuspension {
  /** When the fault came first. */
  readonly since: string;
  /** How often in a row it came. */
  readonly tries: number;
  /** When `signalbox work` or a worker goes on with it. */
  readonly due_at: string;
  readonly error: Fault;
}

/** Of a run that has been set down; both are absent for any other. */
interface SetDown {
  readonly suspended?: RunSuspension;
  /** When the `wait` that it has come to is over, ISO 8601; nobody holds the run until then. */
  readonly waits_until?: string;
}

/** The result of a run, as `run --json` prints it. */
export interface RunDocument extends SetDown {
  readonly run_id: string;
  /** `running` and `queued`: it was started before under the same id, and has not ended yet. */
  readonly status: RunStatus;
  /** Null unless completed. */
  readonly output: unknown;
  /** Open pendings, in the order of their calls. */
  readonly pending: readonly PendingNotice[];
  /** Those that have ended, in the order in which they did, a group after its steps; then those that wait. */
  readonly steps: readonly StepDocument[];
  /** What stopped the run, or suspended it; of a cancelled one, who cancelled it and why. */
  readonly error?: Fault;
}

/** A run as `runs list --json` prints it. Times are ISO 8601. */
export interface RunInfo extends SetDown {
  readonly run_id: string;
  /** `pipeline`, or `tool` for a single call that went pending. */
  readonly kind: 'pipeline' | 'tool';
  /** The pipeline's or the tool's name. */
  readonly name: string;
  readonly file: string | null;
  readonly status: ShownStatus;
  readonly created_at: string;
  readonly updated_at: string;
  /** Open pendings. */
  readonly pending: number;
  /** Absent: it has none. */
  readonly labels?: RunLabels;
  /** It is to be worked on, and no worker that is there has its pipeline, config and scripts. */
  readonly lacks_worker?: true;
  /** The run whose step it is; absent: it is no step of another. */
  readonly parent?: {
    readonly run_id: string;
    /** The outermost one, which goes on with all below it. */
    readonly root_run_id: string;
    /** The path of the step, from the outermost run on. */
    readonly step: string;
  };
}

/** Some runs of a list, newest first. */
export interface RunPage {
  readonly runs: readonly RunInfo[];
  /** What the next page begins after; absent: there is none. */
  readonly next?: string;
}

/** One line of a run's timeline. Times are ISO 8601. */
export interface TimelineEntry {
  readonly at: string;
  readonly what: 'started' | 'retried' | 'step began' | 'step ended' | 'pending' | 'decided' | 'ended';
  readonly step: string | null;
  readonly detail: string;
}

/** What a run came to, in numbers; what the runs did that its steps began is counted with it. */
export interface RunTotals {
  /** From its start to its end, or to its last change; ms. */
  readonly duration_ms: number;
  /** Steps of the file that have ended, each item of a loop by itself. */
  readonly steps: number;
  readonly model_calls: number;
  readonly tool_calls: number;
  /** Scores of evals, those of guardrails too. */
  readonly scores: number;
  /** Of the model calls that say so. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Model calls whose tokens are not known. */
  readonly unmeasured_calls: number;
  /** US dollars, of the model calls whose provider has a price; null where none has. */
  readonly cost_usd: number | null;
  /** Model calls whose cost is not known. */
  readonly unpriced_calls: number;
}

/** A run as `runs show --json` prints it. */
export interface RunDetails extends RunInfo {
  readonly input: unknown;
  readonly output: unknown;
  readonly error: Fault | null;
  readonly pendings: readonly PendingNotice[];
  readonly timeline: readonly TimelineEntry[];
  /** The run went on for longer than its timeline does. */
  readonly timeline_cut?: true;
  readonly totals: RunTotals;
  /** The runs that its steps began, in that order, the first thousand; absent: there are none. */
  readonly children?: readonly RunInfo[];
  /** There are more of them. */
  readonly children_cut?: true;
}

/** A call of a tool in a step. */
export interface ToolCallDetails {
  readonly what: 'tool call';
  /** Its path in the run. */
  readonly path: string;
  readonly tool: string | null;
  /** As the step or the model asked for it; null where it was not kept. */
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
  /** What was judged; null while it is open. */
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
