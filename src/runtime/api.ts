import type { LanguageModelV4Middleware } from '@ai-sdk/provider';
import type { HostEnv } from '../binding/env.ts';
import type { CassetteOptions } from '../cassette/cassette.ts';
import type { LoggingConfig } from '../config/config.ts';
import type { Approval, PendingDocument } from '../contract/approval.ts';
import type {
  DecisionDocument,
  EvalDocument,
  HookInfo,
  ProviderInfo,
  ToolDocument,
  ToolInfo,
} from '../contract/document.ts';
import type { Threshold } from '../contract/eval.ts';
import type { RuntimeEvent } from '../contract/event.ts';
import type { RunDetails, RunDocument, RunInfo, RunStatus } from '../contract/run.ts';
import type { EventInput } from '../hooks/event-input.ts';
import type { PointEvent } from '../hooks/fire-point.ts';
import type { LogTarget } from '../log/log.ts';
import type { EvalInput } from '../pipeline/run/eval-request.ts';
import type { RunOptions } from '../pipeline/run/runs.ts';
import type { SuiteProgress } from '../suite/file/model.ts';
import type { Reporter } from '../suite/report/reporter.ts';
import type { CaseRecord, RunHeader, RunSource, SuiteReport } from '../suite/run/record.ts';
import type { Selection } from '../suite/select/select.ts';
import type { DecisionInput } from '../tool-call/decider.ts';
import type { LauncherName } from '../transport/launch/open.ts';

export interface RuntimeOptions {
  /** How processes are started; `auto` takes the fastest way that this machine has. */
  readonly launcher?: LauncherName | undefined;
  /** Where log lines go; `false` for nowhere. Default: stderr. */
  readonly log?: Partial<LogTarget> | false | undefined;
  /** Overrides `spec.logging.defaultLevel`. */
  readonly logLevel?: LoggingConfig['level'] | undefined;
  /** Called with every event, in order. */
  readonly onEvent?: ((event: RuntimeEvent) => void) | undefined;
  /** When aborted, queued events for observers and shadows are dropped. */
  readonly signal?: AbortSignal | undefined;
  /** The environment that processes are given parts of. Default: this process's own. */
  readonly env?: HostEnv | undefined;
  /** Processes at once, in the place of `spec.concurrency`. */
  readonly concurrency?: number | undefined;
  /** A file to which every exchange with a model is added. */
  readonly record?: string | undefined;
  /** A recording that answers instead of every provider. */
  readonly replay?: string | undefined;
  /** Records or replays every exchange, with processes as with models. */
  readonly cassette?: CassetteOptions | undefined;
}

/** A pending call, as the `approve` callback gets it. */
export interface PendingCallNotice {
  readonly id: string;
  readonly tool: string;
  readonly callId: string;
  readonly reason: string;
  readonly message: string;
}

export interface CallOptions {
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Decides a pending call on the spot; undefined leaves it pending. */
  readonly approve?: ((pause: PendingCallNotice) => Promise<Approval | undefined>) | undefined;
}

export interface EvalOptions {
  readonly signal?: AbortSignal | undefined;
  /** What decides `passed`; without bounds a score of 1.0 passes. */
  readonly threshold?: Threshold | undefined;
  /** The name that eval hooks see; default: the eval's type. */
  readonly id?: string | undefined;
}

export interface SuiteRunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Read instead of the suite's own `dataset.path`. */
  readonly dataset?: string | undefined;
  /** Which of the cases run. */
  readonly select?: Selection | undefined;
  /** How often each case is run, and how its scores become one. Default: what the suite says. */
  readonly epochs?: number | undefined;
  readonly reducer?: string | undefined;
  /** Retries after an infrastructure fault. Default: what the suite says. */
  readonly retries?: number | undefined;
  /** Milliseconds that one run of a case may take. */
  readonly timeoutMs?: number | undefined;
  /** Ends the run at that many failed cases. */
  readonly bail?: number | undefined;
  /** Rows that cannot be used do not fail the run. */
  readonly keepGoing?: boolean | undefined;
  /** Whether answers of the subject are kept and used again. Default: what the suite says. */
  readonly cache?: boolean | undefined;
  /**
   * Resumes the run of that id, or with `true` the last unfinished run of the suite with the same options.
   */
  readonly resume?: true | string | undefined;
  /** false: the run is kept nowhere, and cannot be resumed, shown or compared later. */
  readonly keep?: boolean | undefined;
  /** Reports the run. */
  readonly reporter?: Reporter | undefined;
  /** Called once the run has its id. */
  readonly onStart?: ((header: RunHeader) => void) | undefined;
  /** Called after each case, in the order of the dataset; must not throw. */
  readonly onProgress?: ((progress: SuiteProgress, record: CaseRecord | undefined) => void) | undefined;
}

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

export interface GuardOptions {
  /** The provider's name that hooks see; default: the model's own. */
  readonly providerId?: string | undefined;
  /** hold: text is released when the whole answer has passed. windowed: behind a hold-back window. */
  readonly stream?: 'hold' | 'windowed' | undefined;
  /** Characters that a windowed stream holds back. */
  readonly window?: number | undefined;
}

export interface PendingFilter {
  readonly runId?: string | undefined;
  /** Decided ones too. */
  readonly all?: boolean | undefined;
}

/** An open runtime: the entries of one config file, ready to be called. Methods throw RuntimeError only. */
export interface Runtime extends AsyncDisposable {
  readonly file: string;
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
    /** Runs of suites that are kept. All throw STORE_FAILED, and RUN_UNKNOWN for an id that is not there. */
    readonly runs: {
      /** Newest first. */
      list(filter?: { readonly limit?: number | undefined }): Promise<SuiteRunInfo[]>;
      open(id: string): Promise<RunSource>;
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
    fire(
      event: EventInput | PointEvent,
      options?: {
        readonly signal?: AbortSignal | undefined;
        /** Called with the name of each hook that is asked or notified. */
        readonly onHear?: ((hook: string) => void) | undefined;
      },
    ): Promise<DecisionDocument>;
  };
  readonly providers: { list(): ProviderInfo[] };
  /** AI SDK middleware that takes every call of a model through the provider hooks. Throws RUNTIME_CLOSED. */
  guard(options?: GuardOptions): LanguageModelV4Middleware;
  /**
   * Runs a Pipeline file on this runtime until it ends or waits for a person. `input` is a value, or JSON
   * text whose bytes are kept. Throws CONFIG_INVALID, FILE_UNREADABLE, INPUT_INVALID, STORE_FAILED, ABORTED.
   */
  run(pipeline: string | URL, input?: unknown, options?: RunOptions): Promise<RunDocument>;
  /** Runs in the state store. All throw STORE_FAILED, and RUN_UNKNOWN for an id that is not there. */
  readonly runs: {
    list(filter?: {
      readonly status?: RunStatus | undefined;
      readonly limit?: number | undefined;
    }): Promise<RunInfo[]>;
    show(id: string): Promise<RunDetails>;
    /** Resumes a run that is pending or was cut off. Throws RUN_BUSY, CONFIG_INVALID, ABORTED. */
    resume(id: string, options?: RunOptions): Promise<RunDocument>;
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
