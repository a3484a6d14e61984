import type { LanguageModelV4Middleware } from '@ai-sdk/provider';
import type { Json } from '../base/json/json.ts';
import type { EventInput } from '../calls/hooks/event-input.ts';
import type { PointEvent } from '../calls/hooks/fire-point.ts';
import type { DecisionInput, PendingDecisionInput } from '../calls/tool-call/approvals.ts';
import type { ConsoleConfig, GatewayLimits, McpConfig, McpServerConfig } from '../config/config.ts';
import type {
  PendingCheck,
  PendingCounts,
  PendingDocument,
  PendingInfo,
  PendingPage,
} from '../contract/approval.ts';
import type { AuditPage, Conversation, DecisionCounts, DecisionPage } from '../contract/decision.ts';
import type {
  CallOutcome,
  DecisionDocument,
  EvalDocument,
  HookInfo,
  ProviderInfo,
  ToolDocument,
  ToolInfo,
} from '../contract/document.ts';
import type { PinReport } from '../contract/pin.ts';
import type {
  RunDetails,
  RunDocument,
  RunInfo,
  RunPage,
  RunSummary,
  StepDetails,
  StepPage,
  StepsOptions,
} from '../contract/run.ts';
import type { Callers, CallersOptions } from '../gateway/http/callers.ts';
import type { EvalInput } from '../pipelines/run/eval-request.ts';
import type { StartOptions } from '../pipelines/run/new-run.ts';
import type { RunOptions } from '../pipelines/run/runs.ts';
import type { WatchKind } from '../store/changes.ts';
import type { Rating, RatingInput, RatingPlace } from '../suites/rating/rating.ts';
import type { GateResult, RunSource, SuiteReport } from '../suites/record.ts';
import type { ChannelHandlers, LoginInfo, LoginOptions, UpstreamChannel } from '../upstreams/channel.ts';
import type { JudgedListing, Listing, PinAcceptance } from '../upstreams/pins.ts';
import type {
  AgentEvent,
  AuditPageFilter,
  CallOptions,
  Change,
  ConversationOf,
  DecisionCountFilter,
  DecisionPageFilter,
  EvalOptions,
  FireOptions,
  GuardOptions,
  JudgeOptions,
  OutcomeOptions,
  PendingCheckOptions,
  PendingCountFilter,
  PendingFilter,
  PendingPageFilter,
  RunListFilter,
  StartCallOptions,
  StartedCall,
  StartedRun,
  StepPageOptions,
  SuiteRunOptions,
  WatchOptions,
} from './api-options.ts';
import type { FetchOptions, Gateway, GatewayOptions } from './gateway/document.ts';
import type { QueuedRun, Worker, WorkerInfo, WorkerOptions, WorkOptions } from './worker/api.ts';

export type { Principal } from '../contract/caller.ts';
export type { Callers, CallersOptions } from '../gateway/http/callers.ts';
export type * from './api-options.ts';
export type * from './gateway/document.ts';
export type * from './worker/api.ts';

/** A stored run of a suite. */
export interface SuiteRunInfo {
  readonly id: string;
  readonly kind: 'suite' | 'shadow';
  readonly suite: string;
  readonly status: 'running' | 'passed' | 'failed' | 'error' | 'interrupted';
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** The number of judged cases. */
  readonly cases: number;
  /** The fraction of cases that passed, from 0 to 1; null if the run has not ended or has no cases. */
  readonly pass_rate: number | null;
}

/** How a run of a suite ended, for a history of its gates. */
export interface SuiteRunEnd extends Omit<SuiteRunInfo, 'id' | 'kind'> {
  readonly run_id: string;
  /** As the suite had them in that run; empty if the run has not ended. */
  readonly gates: readonly GateResult[];
}

export interface SuiteHistoryFilter {
  readonly suite?: string | undefined;
  /** The maximum number of runs, 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
}

export interface SuiteRunFilter {
  readonly limit?: number | undefined;
  /** The name of the suite or hook. */
  readonly suite?: string | undefined;
  /** Only runs after the run with this ID, the last of the previous page. */
  readonly after?: string | undefined;
}

/** An entry of `spec.mcp_servers`. */
export interface UpstreamInfo {
  readonly name: string;
  readonly transport: 'stdio' | 'streamable_http';
  readonly pins: McpServerConfig['pins'];
  /** What a proxy passes besides tools. */
  readonly pass: McpServerConfig['pass'];
}

/** Makes a call in the place of the runtime's own connection. */
export interface Exchange {
  /** The definition by which the call is judged, such as one of `judge`. */
  readonly definition: Json;
  /** Receives the JSON text of the arguments after the hooks, and returns that of the result. */
  readonly exchange: (args: string) => Promise<string>;
}

type UpstreamCallOptions = CallOptions & Exchange;

/** The MCP servers of the config. All methods throw NAME_UNKNOWN, and RUNTIME_CLOSED. */
export interface Upstreams {
  list(): UpstreamInfo[];
  /** Connects one server, or throws why it cannot be used. Without a name: all, and reports those in the log. */
  connect(name?: string): Promise<void>;
  /** A connection of its own, for a client whose messages are passed on. Throws PROCESS_START. */
  channel(name: string, handlers: ChannelHandlers): Promise<UpstreamChannel>;
  /** A `fetch` with the headers of the config, for requests to the url. Throws USAGE if the server is a program. */
  http(name: string): Promise<{ readonly url: string; readonly fetch: typeof fetch }>;
  /** Logs in as a person, for a server with `auth: {type: login}`. Throws AUTH_FAILED, USAGE, ADDRESS_REFUSED, ABORTED. */
  login(name: string, options: LoginOptions): Promise<LoginInfo>;
  /** Forgets the login; false if there was none. */
  logout(name: string): Promise<boolean>;
  /** Judges what a server sent over a channel by its pin. Throws STORE_FAILED. */
  judge(name: string, listing: Listing, options?: { readonly isPart?: boolean }): Promise<JudgedListing>;
  /** Connects, and compares the definitions with the pin. Throws the errors of `connect`, STORE_FAILED. */
  pins(name: string): Promise<PinReport>;
  /** Accepts the definitions that a person has read. Throws the errors of `pins`, DEFINITION_UNACCEPTED, USAGE. */
  accept(name: string, acceptance: PinAcceptance): Promise<PinReport>;
  /** Like `tools.call` of the tool NAME__TOOL, but the call is made by `exchange`. */
  call(name: string, tool: string, args: string, options: UpstreamCallOptions): Promise<ToolDocument>;
}

/** An open runtime: the entries of one config file, ready to be called. Methods throw only RuntimeError. */
export interface Runtime extends AsyncDisposable {
  readonly file: string;
  /** The files merged over the config, in order. */
  readonly overlays: readonly string[];
  /** `spec.logging.format`; undefined if it is not set. */
  readonly logFormat: 'json' | 'text' | undefined;
  readonly name: string;
  /** Whether runs and pending calls outlive this process: false for a state store in memory. */
  readonly isDurable: boolean;
  /** `spec.mcp`, and the limits of HTTP connections (`spec.gateway.limits`). */
  readonly mcp: McpConfig & { readonly limits: GatewayLimits };
  /** `spec.console`. `url`: the address of the page for links; undefined if nobody outside can know it. */
  readonly console: ConsoleConfig & {
    readonly url: string | undefined;
    /** What is recorded to see there: `spec.decisions`, its `content`, and `spec.gateway.audit`. */
    readonly records: { readonly decisions: boolean; readonly content: boolean; readonly audit: boolean };
  };
  /** What `spec.telemetry` measures. */
  readonly telemetry: {
    /**
     * The metrics of this process in the text format of Prometheus, with its content type. Undefined if they are off.
     * Throws the fault that keeps them from being measured.
     */
    readonly metrics?: (() => Promise<{ readonly type: string; readonly text: string }>) | undefined;
    /** HOST:PORT of a server of its own for the metrics. */
    readonly listen?: string | undefined;
    /** Why nothing is measured or exported, and what to install. */
    readonly fault?: string | undefined;
  };
  readonly tools: {
    list(): ToolInfo[];
    /**
     * `args` is an object, or JSON text that the tool receives byte for byte. The document of a pending call is
     * returned after the call is stored. Throws NAME_UNKNOWN, RUNTIME_CLOSED; with an `identity` also CALL_ID_TAKEN,
     * ARGS_INVALID, STORE_FAILED, ABORTED.
     */
    call(name: string, args?: unknown, options?: CallOptions): Promise<ToolDocument>;
    /**
     * Makes a call as a run from its start: it is stored before its process starts, any process can continue or cancel
     * it (`runs.resume`, `runs.cancel`), and read its outcome. Throws as `call`, and USAGE.
     */
    start(name: string, args?: unknown, options?: StartCallOptions): StartedCall;
    /**
     * The document of a call that `start` has stored, by the ID of its run, also after a restart. Continues the run if
     * no process does. `pending` or `running` when the time is over. Throws RUN_UNKNOWN, USAGE for any other run,
     * STORE_FAILED, ABORTED.
     */
    outcome(run: string, options?: OutcomeOptions): Promise<CallOutcome>;
  };
  /** The MCP servers of `spec.mcp_servers`. */
  readonly upstreams: Upstreams;
  readonly evals: {
    list(): string[];
    /** Throws NAME_UNKNOWN, USAGE, RUNTIME_CLOSED. */
    call(type: string, input: EvalInput, options?: EvalOptions): Promise<EvalDocument>;
    /** Runs an EvalSuite file on this runtime. Throws CONFIG_INVALID, FILE_UNREADABLE, STORE_FAILED, ABORTED. */
    run(suite: string | URL, options?: SuiteRunOptions): Promise<SuiteReport>;
    /**
     * Removes cached answers of models from the folder. Default: the folder beside the state of the project. Throws
     * FILE_UNREADABLE.
     */
    clearCache(folder?: string): Promise<{ readonly folder: string; readonly removed: number }>;
    /** The ends of runs of a suite, newest first, with their gates. Throws STORE_FAILED, USAGE. */
    history(filter?: SuiteHistoryFilter): Promise<SuiteRunEnd[]>;
    /** Stored runs of suites. All methods throw STORE_FAILED, and RUN_UNKNOWN if there is no run with the ID. */
    readonly runs: {
      /** Newest first. */
      list(filter?: SuiteRunFilter): Promise<SuiteRunInfo[]>;
      open(id: string): Promise<RunSource>;
      /** Stores a person's rating of a case. Throws USAGE, and NAME_UNKNOWN for an unknown case, variant or eval. */
      rate(id: string, rating: RatingInput): Promise<Rating>;
      /** Removes a rating. Throws NAME_UNKNOWN if there is none. */
      unrate(id: string, rating: RatingPlace): Promise<void>;
      /**
       * Removes runs that started longer ago than `olderThanMs`, and cached answers of that age. Returns the number of
       * removed runs.
       */
      prune(options: { readonly olderThanMs: number }): Promise<number>;
    };
  };
  readonly hooks: {
    list(): HookInfo[];
    /**
     * Runs the hooks for an event, or for a point and payload of a foreign dialect the hooks of that dialect. Throws
     * EVENT_INVALID, RUNTIME_CLOSED.
     */
    fire(event: EventInput | PointEvent, options?: FireOptions): Promise<DecisionDocument>;
  };
  /** External agents, whose calls Signalbox judges. */
  readonly agents: {
    /** Whether calls of agents may need the decision of a person. */
    readonly hasApprovals: boolean;
    /** The time that such a call waits before it is refused, in milliseconds; 0 refuses it at once. */
    readonly holdMs: number;
    /**
     * Runs the hooks for an event and, for a call with its `caller`, also checks approvals. A call that waits for a
     * person is denied with a reason that names it, and with its `pending`. After the approval, the same call passes
     * once. A `response` whose `content` is a list of MCP blocks is judged text by text. Throws EVENT_INVALID,
     * ARGS_INVALID, STORE_FAILED, ABORTED, RUNTIME_CLOSED.
     */
    judge(event: AgentEvent, options?: JudgeOptions): Promise<DecisionDocument>;
  };
  readonly providers: { list(): ProviderInfo[] };
  /** AI SDK middleware that runs the provider hooks on every model call. Throws RUNTIME_CLOSED. */
  guard(options?: GuardOptions): LanguageModelV4Middleware;
  /**
   * A gateway for the models of the config, behind its hooks, for a server of your own. It opens with its first call.
   * Throws USAGE, RUNTIME_CLOSED.
   */
  gateway(options?: GatewayOptions): Gateway;
  /**
   * Checks who sends the requests of an HTTP server of yours: by keys of `signalbox keys`, and by tokens of
   * `spec.mcp.auth`. Throws LISTEN_FAILED if others could reach it without a credential, STORE_FAILED, RUNTIME_CLOSED.
   */
  callers(options: CallersOptions): Promise<Callers>;
  /**
   * A `fetch` for OpenAI and Anthropic SDKs in this process. Hooks run on calls before they go to the API with the
   * SDK's own credentials. Calls that no hook can read are answered with 404. Throws RUNTIME_CLOSED.
   */
  fetch(options?: FetchOptions): typeof globalThis.fetch;
  /**
   * Runs a Pipeline file on this runtime until it ends or waits for a person. `input` is a value, or JSON text that is
   * kept byte for byte. With the `id` of an earlier run, it resumes that run if nothing executes it, else returns its
   * document. Throws RUN_ID_TAKEN, CONFIG_INVALID, FILE_UNREADABLE, INPUT_INVALID, STORE_FAILED, ABORTED.
   */
  run(pipeline: string | URL, input?: unknown, options?: RunOptions & StartOptions): StartedRun;
  /**
   * Resumes runs as they become due: after a failure, a wait, the decision of a call, or the death of their process.
   * Resolves when it was stopped. On Postgres it is a worker. Throws STORE_FAILED, and USAGE for a store in memory.
   */
  work(options?: WorkOptions): Promise<void>;
  /**
   * Starts a worker in this process, which resumes runs of the store until it is drained or the runtime is closed.
   * Throws STORE_FAILED, LISTEN_FAILED, and USAGE unless the store is in Postgres.
   */
  worker(options?: WorkerOptions): Promise<Worker>;
  readonly workers: {
    /**
     * Workers seen within the last hour, oldest first. Throws STORE_FAILED, and USAGE unless the store is in Postgres.
     */
    list(): Promise<WorkerInfo[]>;
  };
  /** Runs in the state store. All methods throw STORE_FAILED, and RUN_UNKNOWN if there is no run with the ID. */
  readonly runs: {
    /** Newest first. Throws USAGE. */
    list(filter?: RunListFilter): Promise<RunInfo[]>;
    /**
     * Like `list`, in pages of `limit` runs, by default 100. A run that starts meanwhile moves no run to another page.
     * Throws USAGE.
     */
    page(filter?: RunListFilter): Promise<RunPage>;
    /** The run with its timeline and totals, for which all its steps are read; `steps` returns its steps. */
    show(id: string, options?: Pick<StepsOptions, 'maxCharacters'>): Promise<RunDetails>;
    /** The same without timeline, totals and children, which costs the same however many steps the run has. */
    summary(id: string, options?: Pick<StepsOptions, 'maxCharacters'>): Promise<RunSummary>;
    /** The document that `resume` and `retry` return, as it is now. */
    document(id: string): Promise<RunDocument>;
    /**
     * The result of each step in the order in which steps ended, followed by unfinished steps. Steps are read lazily.
     */
    steps(id: string, options?: StepsOptions): AsyncIterable<StepDetails>;
    /**
     * Like `steps`, in pages of `limit` steps, by default 100, and unfinished steps on the first page. A page costs the
     * same however many steps the run has. A step that ends later comes on a later page. Throws USAGE.
     */
    pageSteps(id: string, options?: StepPageOptions): Promise<StepPage>;
    /**
     * Stores a run of a Pipeline file for a worker and returns at once. Throws CONFIG_INVALID, FILE_UNREADABLE,
     * INPUT_INVALID, RUN_ID_TAKEN, and USAGE unless the store is in Postgres.
     */
    queue(pipeline: string | URL, input?: unknown, options?: StartOptions): Promise<QueuedRun>;
    /** Resumes a run that is pending, suspended, waiting or cut off. Throws RUN_BUSY, CONFIG_INVALID, ABORTED. */
    resume(id: string, options?: RunOptions): Promise<RunDocument>;
    /**
     * Runs that `resume` can continue now, including suspended runs that are not due yet; oldest first. Throws USAGE.
     */
    resumable(filter?: Pick<RunListFilter, 'pipeline' | 'labels'>): Promise<RunInfo[]>;
    /**
     * Retries a run that failed or was denied. Failed steps run again with the same idempotency keys, and earlier steps
     * keep their results. With `from`, that step and all later steps run again. Throws RUN_NOT_RETRYABLE, RUN_BUSY,
     * USAGE, CONFIG_INVALID, ABORTED.
     */
    retry(id: string, options?: RunOptions & { readonly from?: string | undefined }): Promise<RunDocument>;
    /** Queues a retry for a worker. Throws as `retry`, and USAGE unless the store is in Postgres. */
    queueRetry(id: string, options?: { readonly from?: string | undefined }): Promise<QueuedRun>;
    /** Throws RUN_ENDED. */
    cancel(id: string, decider: DecisionInput): Promise<RunDocument>;
    /** The principal of a tool call with an identity; null for any other run, and a day after the end of the call. */
    principal(id: string): Promise<string | null>;
    /** Removes runs that ended longer ago than `olderThanMs`. Returns the number of removed runs. */
    prune(options: { readonly olderThanMs: number }): Promise<number>;
  };
  /** Calls that wait for a person. All methods throw STORE_FAILED, and RUN_UNKNOWN if there is no call with the ID. */
  readonly pending: {
    /** All calls at once; `page` is cheaper if many may wait. */
    list(filter?: PendingFilter): Promise<PendingInfo[]>;
    /**
     * A page of calls, oldest first, with who may decide, the schema of the tool, the run and the caller. It costs the
     * same however many calls there are. A call that is added later comes on a later page. Throws USAGE.
     */
    page(filter?: PendingPageFilter): Promise<PendingPage>;
    /** How many calls the filter finds, by status and by tool. Throws USAGE. */
    counts(filter?: PendingCountFilter): Promise<PendingCounts>;
    show(id: string, options?: Pick<PendingPageFilter, 'maxCharacters'>): Promise<PendingInfo>;
    /** Says what `approve` would do, and changes nothing. A call that does not exist is `unknown`. Throws USAGE. */
    check(id: string, options?: PendingCheckOptions): Promise<PendingCheck>;
    /**
     * Waits for the decision, continues the run if no process does, and returns the document of the call. `pending` or
     * `running` when the time is over. Throws ABORTED, and USAGE for questions and for calls that an agent makes.
     */
    outcome(id: string, options?: OutcomeOptions): Promise<CallOutcome>;
    /**
     * A ticket with which one answer of a client may decide the call. Undefined if the call had one before, so that no
     * client asks twice. It counts for 24 hours.
     */
    issueTicket(id: string): Promise<string | undefined>;
    /** True for only one caller, in any process, that has the ticket of the call. */
    useTicket(id: string, ticket: string): Promise<boolean>;
    /** Throws ARGS_INVALID, PENDING_DECIDED, PENDING_EXPIRED, PENDING_CHANGED, OWN_CALL. */
    approve(
      id: string,
      decision: PendingDecisionInput & { readonly args?: unknown },
    ): Promise<PendingDocument>;
    /** Throws PENDING_DECIDED, PENDING_EXPIRED, PENDING_CHANGED, OWN_CALL. */
    reject(id: string, decision: PendingDecisionInput): Promise<PendingDocument>;
    /** Throws RESULT_INVALID, PENDING_DECIDED, PENDING_EXPIRED, PENDING_CHANGED, OWN_CALL. */
    respond(
      id: string,
      decision: PendingDecisionInput & { readonly result: unknown },
    ): Promise<PendingDocument>;
  };
  /**
   * Says when these kinds may have changed, by any process that uses the store: first all of them at once, then at most
   * four times a second those that did. `pendings`: a call waits, is approved or decided. `runs`: a run starts, ends, or
   * has another status. `suites`: a run of a suite starts, ends or is rated. While a database cannot be reached, all
   * kinds may have changed every five seconds. Ends when `signal` aborts or the runtime closes. Throws USAGE,
   * STORE_FAILED, RUNTIME_CLOSED.
   */
  watch(kinds: readonly WatchKind[], options?: WatchOptions): AsyncIterable<Change>;
  /** What hooks decided, if the config has `spec.decisions`. All methods throw STORE_FAILED, USAGE. */
  readonly decisions: {
    /** Newest first. A page costs the same however many decisions are recorded. */
    page(filter?: DecisionPageFilter): Promise<DecisionPage>;
    /** How often each hook decided what; with `every`, also for each hour or day. */
    counts(filter?: DecisionCountFilter): Promise<DecisionCounts>;
    /**
     * The messages of model calls in order, as the hooks left them, if the config has `content: true`. Throws
     * RUN_UNKNOWN for an unknown pending call.
     */
    conversation(of: ConversationOf): Promise<Conversation>;
  };
  /** The calls in the audit of the gateway. Without one, or while it is in memory, there are none. */
  readonly audit: {
    /** Newest first. Throws STORE_FAILED, USAGE. */
    page(filter?: AuditPageFilter): Promise<AuditPage>;
  };
  /** Suspends active runs, waits for observers, then ends every process. Never rejects. */
  close(): Promise<void>;
}
