import type { LanguageModelV4Middleware } from '@ai-sdk/provider';
import type { EventInput } from '../calls/hooks/event-input.ts';
import type { PointEvent } from '../calls/hooks/fire-point.ts';
import type { DecisionInput } from '../calls/tool-call/approvals.ts';
import type { PendingDocument } from '../contract/approval.ts';
import type {
  DecisionDocument,
  EvalDocument,
  HookInfo,
  ProviderInfo,
  ToolDocument,
  ToolInfo,
} from '../contract/document.ts';
import type {
  RunDetails,
  RunDocument,
  RunInfo,
  RunPage,
  StepDetails,
  StepsOptions,
} from '../contract/run.ts';
import type { EvalInput } from '../pipelines/run/eval-request.ts';
import type { StartOptions } from '../pipelines/run/new-run.ts';
import type { RunOptions } from '../pipelines/run/runs.ts';
import type { Rating, RatingInput, RatingPlace } from '../suites/rating/rating.ts';
import type { RunSource, SuiteReport } from '../suites/record.ts';
import type {
  AgentEvent,
  CallOptions,
  EvalOptions,
  FireOptions,
  GuardOptions,
  JudgeOptions,
  PendingFilter,
  RunListFilter,
  StartedRun,
  SuiteRunOptions,
} from './api-options.ts';
import type { FetchOptions, Gateway, GatewayOptions } from './gateway/document.ts';
import type { QueuedRun, Worker, WorkerInfo, WorkerOptions, WorkOptions } from './worker/api.ts';

export type * from './api-options.ts';
export type * from './gateway/document.ts';
export type * from './worker/api.ts';

/** A run that is kept. */
export interface SuiteRunInfo {
  readonly id: string;
  readonly kind: 'suite' | 'shadow';
  readonly suite: string;
  readonly status: 'running' | 'passed' | 'failed' | 'error' | 'interrupted';
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** Cases that were judged. */
  readonly cases: number;
  /** How many of the cases passed as wholes, 0..1; null without an end or a case. */
  readonly pass_rate: number | null;
}

/** Which runs of suites are listed. */
export interface SuiteRunFilter {
  readonly limit?: number | undefined;
  /** The name of their suite, or hook. */
  readonly suite?: string | undefined;
  /** Only runs behind the one of this id: the last of the page before. */
  readonly after?: string | undefined;
}

/** An open runtime: the entries of one config file, ready to be called. Methods throw RuntimeError only. */
export interface Runtime extends AsyncDisposable {
  readonly file: string;
  /** The files that were laid over it, in this order. */
  readonly overlays: readonly string[];
  /** What `spec.logging.format` says; undefined where it says nothing. */
  readonly logFormat: 'json' | 'text' | undefined;
  readonly name: string;
  /** Whether runs and pending calls outlive this process: false for a state store in memory. */
  readonly isDurable: boolean;
  readonly tools: {
    list(): ToolInfo[];
    /**
     * `args` is an object, or JSON text whose bytes the tool is given. A call that goes pending is in the
     * state store when its document comes. Throws NAME_UNKNOWN, RUNTIME_CLOSED.
     */
    call(name: string, args?: unknown, options?: CallOptions): Promise<ToolDocument>;
  };
  readonly evals: {
    list(): string[];
    /** Throws NAME_UNKNOWN, USAGE, RUNTIME_CLOSED. */
    call(type: string, input: EvalInput, options?: EvalOptions): Promise<EvalDocument>;
    /** Runs an EvalSuite file on this runtime. Throws CONFIG_INVALID, FILE_UNREADABLE, STORE_FAILED, ABORTED. */
    run(suite: string | URL, options?: SuiteRunOptions): Promise<SuiteReport>;
    /** Removes the answers of models that are kept in the folder; default: beside the state of the project. Throws FILE_UNREADABLE. */
    clearCache(folder?: string): Promise<{ readonly folder: string; readonly removed: number }>;
    /** Runs of suites that are kept. All throw STORE_FAILED, and RUN_UNKNOWN for an id that is not there. */
    readonly runs: {
      /** Newest first. */
      list(filter?: SuiteRunFilter): Promise<SuiteRunInfo[]>;
      open(id: string): Promise<RunSource>;
      /** Keeps what a person thinks of a case. Throws USAGE, and NAME_UNKNOWN for a case, a variant or an eval that is not there. */
      rate(id: string, rating: RatingInput): Promise<Rating>;
      /** Takes a rating back. Throws NAME_UNKNOWN where there is none. */
      unrate(id: string, rating: RatingPlace): Promise<void>;
      /** Removes runs that began so long ago, and answers kept as long. Returns how many runs. */
      prune(options: { readonly olderThanMs: number }): Promise<number>;
    };
  };
  readonly hooks: {
    list(): HookInfo[];
    /**
     * Takes an event through its whole chain, or a foreign dialect's own point and payload through the hooks of that
     * dialect. Throws EVENT_INVALID, RUNTIME_CLOSED.
     */
    fire(event: EventInput | PointEvent, options?: FireOptions): Promise<DecisionDocument>;
  };
  /** Agents that run elsewhere, and ask what they may do. */
  readonly agents: {
    /** Whether a person may have to decide about calls of agents. */
    readonly hasApprovals: boolean;
    /** Milliseconds for which such a call waits before it is refused; 0: it does not. */
    readonly holdMs: number;
    /**
     * Takes an event through its hooks, and a call with its `caller` through the approvals too. A call that waits for a
     * person is denied with a reason that names it; after the approval the same call passes once. Throws EVENT_INVALID,
     * ARGS_INVALID, STORE_FAILED, ABORTED, RUNTIME_CLOSED.
     */
    judge(event: AgentEvent, options?: JudgeOptions): Promise<DecisionDocument>;
  };
  readonly providers: { list(): ProviderInfo[] };
  /** AI SDK middleware that takes every call of a model through the provider hooks. Throws RUNTIME_CLOSED. */
  guard(options?: GuardOptions): LanguageModelV4Middleware;
  /**
   * A gateway of the config's models, behind its hooks, for a server of one's own. It is opened with its first call. Throws
   * USAGE, RUNTIME_CLOSED.
   */
  gateway(options?: GatewayOptions): Gateway;
  /**
   * A `fetch` for SDKs of OpenAI and Anthropic in this process: calls pass the hooks on their way to the API that the SDK
   * calls, with the SDK's own credentials. Calls that no hook can read are answered with 404. Throws RUNTIME_CLOSED.
   */
  fetch(options?: FetchOptions): typeof globalThis.fetch;
  /**
   * Runs a Pipeline file on this runtime until it ends or waits for a person. `input` is a value, or JSON
   * text whose bytes are kept. With the `id` of a run that was started before, it goes on with that one where nobody executes it, or tells of it. Throws RUN_ID_TAKEN, CONFIG_INVALID, FILE_UNREADABLE, INPUT_INVALID, STORE_FAILED, ABORTED.
   */
  run(pipeline: string | URL, input?: unknown, options?: RunOptions & StartOptions): StartedRun;
  /**
   * Goes on with runs as they are due: those that a fault suspended, whose wait is over, whose calls were decided, or whose process is gone. Resolves
   * when it was stopped. Over Postgres it is a worker. Throws STORE_FAILED, and USAGE for a store in memory.
   */
  work(options?: WorkOptions): Promise<void>;
  /**
   * Goes on with runs of the store from now on, in this process, until it is drained or the runtime closed. Throws STORE_FAILED,
   * LISTEN_FAILED, and USAGE for a store of one machine.
   */
  worker(options?: WorkerOptions): Promise<Worker>;
  readonly workers: {
    /** Those of the last hour, the oldest first. Throws STORE_FAILED, and USAGE for a store of one machine. */
    list(): Promise<WorkerInfo[]>;
  };
  /** Runs in the state store. All throw STORE_FAILED, and RUN_UNKNOWN for an id that is not there. */
  readonly runs: {
    /** Newest first. Throws USAGE. */
    list(filter?: RunListFilter): Promise<RunInfo[]>;
    /** The same by pages of `limit`, by default 100: a run that begins meanwhile moves none from one page to another. Throws USAGE. */
    page(filter?: RunListFilter): Promise<RunPage>;
    /** The run as a whole; `steps` tells of its parts. */
    show(id: string, options?: Pick<StepsOptions, 'maxCharacters'>): Promise<RunDetails>;
    /**
     * What each step came to, in the order in which they ended, and those that have not; read as they are asked for, however
     * many there are.
     */
    steps(id: string, options?: StepsOptions): AsyncIterable<StepDetails>;
    /**
     * Keeps a run of a Pipeline file for a worker, and waits for nothing. Throws CONFIG_INVALID, FILE_UNREADABLE, INPUT_INVALID, RUN_ID_TAKEN, and
     * USAGE for a store of one machine.
     */
    queue(pipeline: string | URL, input?: unknown, options?: StartOptions): Promise<QueuedRun>;
    /** Resumes a run that is pending, was suspended, waits or was cut off. Throws RUN_BUSY, CONFIG_INVALID, ABORTED. */
    resume(id: string, options?: RunOptions): Promise<RunDocument>;
    /** Those that `resume` can go on with now, whenever a fault makes them due; the oldest first. Throws USAGE. */
    resumable(filter?: Pick<RunListFilter, 'pipeline' | 'labels'>): Promise<RunInfo[]>;
    /**
     * Goes on with a run that failed or was denied: what failed is done again under the same idempotency keys, and everything before
     * it is kept; with `from` that step and all behind it. Throws RUN_NOT_RETRYABLE, RUN_BUSY, USAGE, CONFIG_INVALID, ABORTED.
     */
    retry(id: string, options?: RunOptions & { readonly from?: string | undefined }): Promise<RunDocument>;
    /** Leaves that to a worker. Throws as `retry`, and USAGE for a store of one machine. */
    queueRetry(id: string, options?: { readonly from?: string | undefined }): Promise<QueuedRun>;
    /** Throws RUN_ENDED. */
    cancel(id: string, decider: DecisionInput): Promise<RunDocument>;
    /** Removes runs that ended longer ago than that. Returns how many. */
    prune(options: { readonly olderThanMs: number }): Promise<number>;
  };
  /** Calls that wait for a person. All throw STORE_FAILED, and RUN_UNKNOWN for an id that is not there. */
  readonly pending: {
    list(filter?: PendingFilter): Promise<PendingDocument[]>;
    show(id: string): Promise<PendingDocument>;
    /** Throws ARGS_INVALID, PENDING_DECIDED, PENDING_EXPIRED. */
    approve(id: string, decision: DecisionInput & { readonly args?: unknown }): Promise<PendingDocument>;
    /** Throws PENDING_DECIDED, PENDING_EXPIRED. */
    reject(id: string, decision: DecisionInput): Promise<PendingDocument>;
    /** Throws RESULT_INVALID, PENDING_DECIDED, PENDING_EXPIRED. */
    respond(id: string, decision: DecisionInput & { readonly result: unknown }): Promise<PendingDocument>;
  };
  /** Suspends active runs, waits for observers, then ends every process. Never rejects. */
  close(): Promise<void>;
}
