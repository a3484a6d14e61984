import type { EventInput } from '../calls/hooks/event-input.ts';
import type { LoggingConfig } from '../config/config.ts';
import type { Approval, PendingDocument, PendingUse } from '../contract/approval.ts';
import type { ToolDocument } from '../contract/document.ts';
import type { Threshold } from '../contract/eval.ts';
import type { RunEvent, RuntimeEvent } from '../contract/event.ts';
import type { HookMode, Verdict } from '../contract/hook.ts';
import type { OnProgress } from '../contract/progress.ts';
import type { RunDocument, RunLabels, ShownStatus, StepsOptions } from '../contract/run.ts';
import type { TraceContext } from '../contract/trace.ts';
import type { AgentCaller } from '../dialects/inbound.ts';
import type { CassetteOptions } from '../process/cassette/cassette.ts';
import type { HostEnv } from '../process/env.ts';
import type { LauncherName } from '../process/launch/native.ts';
import type { WatchKind } from '../store/changes.ts';
import type { CallIdentity } from '../store/identities.ts';
import type { SuiteProgress } from '../suites/file/model.ts';
import type { CaseRecord, JudgeAgain, RunHeader } from '../suites/record.ts';
import type { Reporter } from '../suites/report/reporter.ts';
import type { Selection } from '../suites/select/select.ts';
import type { LogTarget } from './log/log.ts';

export type { CallIdentity } from '../store/identities.ts';

/** Receives the events of some types. What only other types need, such as measurements, costs nothing then. */
interface RuntimeListener {
  readonly types: readonly RuntimeEvent['type'][];
  /** May be declared for the events of these types alone. */
  take(event: RuntimeEvent): void;
}

export interface RuntimeOptions {
  /** How processes are started; `auto` uses the fastest way that this machine supports. */
  readonly launcher?: LauncherName | undefined;
  /** Where log lines go; `false` writes none. Default: stderr. */
  readonly log?: Partial<LogTarget> | false | undefined;
  /** Overrides `spec.logging.defaultLevel`. */
  readonly logLevel?: LoggingConfig['level'] | undefined;
  /** Overrides `spec.logging.format`. */
  readonly logFormat?: LoggingConfig['format'] | undefined;
  /** Receives events in order: a function receives all, a listener those of its types. */
  readonly onEvent?: ((event: RuntimeEvent) => void) | RuntimeListener | undefined;
  /** When aborted, queued events for observers and shadow hooks are dropped. */
  readonly signal?: AbortSignal | undefined;
  /** The environment from which processes get their variables. Default: the environment of this process. */
  readonly env?: HostEnv | undefined;
  /** Files merged over the config in this order; later values win. */
  readonly overlays?: readonly string[] | undefined;
  /** How many processes run at once. Overrides `spec.concurrency`. */
  readonly concurrency?: number | undefined;
  /**
   * true: opens an OpenTelemetry SDK for `spec.telemetry` if this process has registered none; `traces`: without
   * metrics, which nobody would read; `hook`: as `traces`, and the last spans may delay `close` by half a second only.
   * The command line does. Default: false.
   */
  readonly ownsTelemetry?: boolean | 'traces' | 'hook' | undefined;
  /** A file to which every exchange with a model is appended. */
  readonly record?: string | undefined;
  /** A recording that answers in place of every provider. */
  readonly replay?: string | undefined;
  /** Records or replays every exchange with processes and models. */
  readonly cassette?: CassetteOptions | undefined;
}

/** A pending call as the `approve` callback receives it. */
export interface PendingCallNotice {
  readonly id: string;
  readonly tool: string;
  readonly callId: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * A started run: a promise of its document, and an iterable of its events in order, for one reader. A slow reader does
 * not block the run. Of unread events, the last 1,000 are kept.
 */
export interface StartedRun extends Promise<RunDocument>, AsyncIterable<RunEvent> {
  /** Resolves once the run is stored, before its first step. Rejects with the error of the run if it was not stored. */
  readonly id: Promise<string>;
  [Symbol.asyncIterator](): AsyncIterator<RunEvent>;
}

interface TraceOptions {
  /**
   * The trace that the caller continues. Processes get it, and the events of operations have it. A value that is not
   * valid by W3C Trace Context is an error, USAGE.
   */
  readonly trace?: TraceContext | undefined;
}

export interface CallOptions extends TraceOptions {
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Decides a pending call at once; undefined leaves it pending. */
  readonly approve?: ((pause: PendingCallNotice) => Promise<Approval | undefined>) | undefined;
  /** See `FireOptions`. */
  readonly wholeFaults?: boolean | undefined;
  /** Receives the progress that a tool with `runtime: server` reports; must not throw. */
  readonly onProgress?: OnProgress | undefined;
  /**
   * Who makes the call. With an `id`, the call is stored before it starts: the same id with the same arguments is the
   * same call, in any process, and returns its outcome for 24 hours. Without an `id`, a call with the same tool and
   * arguments finds one that waits for a person, or whose outcome nobody has received; any other call is new.
   */
  readonly identity?: CallIdentity | undefined;
}

export interface StartCallOptions extends TraceOptions {
  /** The identity of the call, or its `id` without a principal. Default: no other start is the same call. */
  readonly id?: CallIdentity | string | undefined;
  readonly labels?: RunLabels | undefined;
  /** Cancels the call while this process executes it. A call that waits for a person stays. */
  readonly signal?: AbortSignal | undefined;
}

/** A tool call that is stored as a run. Both promises reject with the same error; it is enough to handle one. */
export interface StartedCall {
  /** The ID of the run, once it is stored and before the process of the tool starts. It cannot be guessed. */
  readonly id: Promise<string>;
  /** Resolves when the call has ended or waits for a person. */
  readonly done: Promise<ToolDocument>;
}

export interface OutcomeOptions {
  /** How long to wait for a decision and for the call, in milliseconds. Default: until the call has ended. */
  readonly waitMs?: number | undefined;
  /** Ends the wait with ABORTED. The call continues. */
  readonly signal?: AbortSignal | undefined;
}

export interface FireOptions extends TraceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the name of each hook that runs or is notified. */
  readonly onHear?: ((hook: string) => void) | undefined;
  /**
   * true: the document of a failed hook contains everything known, including the output of its process. This is meant
   * for the person who runs it. Default: only the error code and the message of Signalbox; the log has the rest.
   */
  readonly wholeFaults?: boolean | undefined;
}

export interface EvalOptions extends TraceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Decides `passed`; without bounds only a score of 1.0 passes. */
  readonly threshold?: Threshold | undefined;
  /** The name that eval hooks see. Default: the type of the eval. */
  readonly id?: string | undefined;
}

export interface SuiteRunOptions extends TraceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Overrides `dataset.path` of the suite. */
  readonly dataset?: string | undefined;
  /** Providers that replace those of the suite’s chat. If there are several, each is a variant. */
  readonly providers?: readonly string[] | undefined;
  /** Selects cases. */
  readonly select?: Selection | undefined;
  /** How often each case runs, and how its scores are combined. Default: from the suite. */
  readonly epochs?: number | undefined;
  readonly reducer?: string | undefined;
  /** Retries after an infrastructure failure. Default: from the suite. */
  readonly retries?: number | undefined;
  /** Timeout of one run of a case, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Ends the run after this number of failed cases. */
  readonly bail?: number | undefined;
  /** Invalid rows do not fail the run. */
  readonly keepGoing?: boolean | undefined;
  /**
   * Whether answers of the subject and of models are cached. A string is the folder for answers of models. Default:
   * from the suite.
   */
  readonly cache?: boolean | string | undefined;
  /** The budget for model calls of the run, in US dollars. Default: from the suite. */
  readonly maxCostUsd?: number | undefined;
  /** Called with each amount, in US dollars, that counts against the budget of the run; must not throw. */
  readonly onSpent?: ((usd: number) => void) | undefined;
  /** Resumes the run with this ID. `true` resumes the latest unfinished run of the suite with the same options. */
  readonly resume?: true | string | undefined;
  /**
   * Judges cases of a stored run again, and stores the results in that run. Earlier results are kept; `replaced()` and
   * `reopenings()` of the run return them. After an interruption, the same call continues.
   */
  readonly again?: JudgeAgain | undefined;
  /** true: workers of the state store judge the cases. The store must be in Postgres. */
  readonly workers?: boolean | undefined;
  /** false: the run is not stored, and cannot be resumed, shown or compared later. */
  readonly keep?: boolean | undefined;
  readonly reporter?: Reporter | undefined;
  /** Called once the run has an ID. */
  readonly onStart?: ((header: RunHeader) => void) | undefined;
  /** Called after each case, in the order of the dataset; must not throw. */
  readonly onProgress?: ((progress: SuiteProgress, record: CaseRecord | undefined) => void) | undefined;
}

export interface GuardOptions {
  /** The provider name that hooks see. Default: the name that the model reports. */
  readonly providerId?: string | undefined;
  /** hold: releases text when the whole answer has passed. windowed: releases text behind a hold-back window. */
  readonly stream?: 'hold' | 'windowed' | undefined;
  /** The number of characters that a windowed stream holds back. */
  readonly window?: number | undefined;
}

/** Filters a list of runs; all given conditions must hold. */
export interface RunListFilter {
  /** The name of the pipeline, or of the tool of a single call. */
  readonly pipeline?: string | undefined;
  readonly status?: ShownStatus | undefined;
  /** Labels that a run must have. It may have others. */
  readonly labels?: RunLabels | undefined;
  /** Runs started at this time or later, and before `until`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Runs that steps of this run started, instead of top-level runs. */
  readonly parent?: string | undefined;
  /** Includes runs that steps of other runs started. */
  readonly children?: boolean | undefined;
  /** The maximum number of runs. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

export interface PendingFilter {
  readonly runId?: string | undefined;
  /** Includes decided calls. */
  readonly all?: boolean | undefined;
}

/** Filters calls; all given conditions must hold. */
export interface PendingCountFilter {
  /** The name of the tool; `@ask` for questions of `ask` steps. */
  readonly tool?: string | undefined;
  /** The ID of the run, or of its outermost run. */
  readonly run?: string | undefined;
  /** A person who may decide, by the config that is open now. */
  readonly by?: string | undefined;
  /** Calls that were made at this time or later. */
  readonly since?: Date | undefined;
}

export interface PendingPageFilter extends PendingCountFilter {
  /** Default: `open`. */
  readonly status?: PendingDocument['status'] | 'all' | undefined;
  /** The maximum number of calls, 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
  /** Calls that were approved or answered, by whether their callers came back. `status` is then `all` by default. */
  readonly use?: PendingUse | undefined;
  /** Shortens the texts of each call to about this length, `args` included, and says so with `args_cut`. */
  readonly maxCharacters?: number | undefined;
}

/** Filters recorded decisions; all given conditions must hold. */
export interface DecisionFilter {
  /** The name of the hook. */
  readonly hook?: string | undefined;
  readonly verdict?: Verdict | undefined;
  readonly mode?: HookMode | undefined;
  /** The kind of the operation in which the hook ran, such as `tool`, `model` or `gateway`. */
  readonly operation?: string | undefined;
  /** The ID of the run. */
  readonly run?: string | undefined;
  /** The `event` of a decision. Give the time around it too, by which it is found. */
  readonly event?: string | undefined;
  /** Decisions of this time or later, and before `until`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

export interface DecisionCountFilter extends DecisionFilter {
  /** Also counts each hour or day by itself, in UTC, at most 10,000 of them. Requires `since`. */
  readonly every?: 'hour' | 'day' | undefined;
}

export interface DecisionPageFilter extends DecisionFilter {
  /** The maximum number of decisions, 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

/** Filters recorded calls of the gateway; all given conditions must hold. */
export interface AuditPageFilter {
  /** The ID of the key, or the name of the caller. */
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  /** How the call ended, such as `ok` or `denied`. */
  readonly outcome?: string | undefined;
  /** Calls of this time or later. */
  readonly since?: Date | undefined;
  /** The maximum number of calls, 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

export interface StepPageOptions extends StepsOptions {
  /** The maximum number of steps, 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

/** Selects model calls: by a run, the ID of an operation, or a pending call, which selects those of its step. */
export interface ConversationOf {
  readonly run?: string | undefined;
  /** The path of a step of the run, or of a call in it. Default: all steps. */
  readonly step?: string | undefined;
  readonly operation?: string | undefined;
  readonly pending?: string | undefined;
  /** The maximum number of model calls, 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

export interface PendingCheckOptions {
  /** Other arguments for the call, an object or JSON text. */
  readonly args?: unknown;
  /** The person who would approve. Default: anyone who may. */
  readonly by?: string | undefined;
}

export interface WatchOptions {
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined;
}

export interface Change {
  /** What may have changed. */
  readonly kinds: readonly WatchKind[];
}

/** An event of an external agent. If `caller` is given, calls that require an approval wait for a person. */
export type AgentEvent = EventInput & { readonly caller?: AgentCaller | undefined };

export interface JudgeOptions extends TraceOptions {
  readonly signal?: AbortSignal | undefined;
  /** The time within which the agent needs its answer, in milliseconds. Default: no limit. */
  readonly withinMs?: number | undefined;
  /** The working folder of the agent if the event does not contain it. */
  readonly cwd?: string | undefined;
}
