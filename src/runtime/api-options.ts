import type { EventInput } from '../calls/hooks/event-input.ts';
import type { LoggingConfig } from '../config/config.ts';
import type { Approval } from '../contract/approval.ts';
import type { Threshold } from '../contract/eval.ts';
import type { RunEvent, RuntimeEvent } from '../contract/event.ts';
import type { RunDocument, RunLabels, ShownStatus } from '../contract/run.ts';
import type { AgentCaller } from '../dialects/inbound.ts';
import type { CassetteOptions } from '../process/cassette/cassette.ts';
import type { HostEnv } from '../process/env.ts';
import type { LauncherName } from '../process/launch/native.ts';
import type { SuiteProgress } from '../suites/file/model.ts';
import type { CaseRecord, JudgeAgain, RunHeader } from '../suites/record.ts';
import type { Reporter } from '../suites/report/reporter.ts';
import type { Selection } from '../suites/select/select.ts';
import type { LogTarget } from './log/log.ts';

export interface RuntimeOptions {
  /** How processes are started; `auto` takes the fastest way that this machine has. */
  readonly launcher?: LauncherName | undefined;
  /** Where log lines go; `false` for nowhere. Default: stderr. */
  readonly log?: Partial<LogTarget> | false | undefined;
  /** Overrides `spec.logging.defaultLevel`. */
  readonly logLevel?: LoggingConfig['level'] | undefined;
  /** Overrides `spec.logging.format`. */
  readonly logFormat?: LoggingConfig['format'] | undefined;
  /** Called with every event, in order. */
  readonly onEvent?: ((event: RuntimeEvent) => void) | undefined;
  /** When aborted, queued events for observers and shadows are dropped. */
  readonly signal?: AbortSignal | undefined;
  /** The environment that processes are given parts of. Default: this process's own. */
  readonly env?: HostEnv | undefined;
  /** Files that are laid over the config, in this order: what they say wins. */
  readonly overlays?: readonly string[] | undefined;
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

/**
 * A run that was started: a promise of its document, and the events of the run for one reader, in their order. A reader who is slow or stops does
 * not hold the run; of what it has not read, the last 1,000 events wait.
 */
export interface StartedRun extends Promise<RunDocument>, AsyncIterable<RunEvent> {
  /** Comes once the run is kept, before its first step. Rejects as the run does, where none was kept. */
  readonly id: Promise<string>;
  [Symbol.asyncIterator](): AsyncIterator<RunEvent>;
}

export interface CallOptions {
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Decides a pending call on the spot; undefined leaves it pending. */
  readonly approve?: ((pause: PendingCallNotice) => Promise<Approval | undefined>) | undefined;
  /** As of `FireOptions`. */
  readonly wholeFaults?: boolean | undefined;
}

export interface FireOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the name of each hook that is asked or notified. */
  readonly onHear?: ((hook: string) => void) | undefined;
  /**
   * true: the document of a hook that failed has all that is known, output of its process included, for the person who
   * runs it. Default: the code and our own words; the log has the rest.
   */
  readonly wholeFaults?: boolean | undefined;
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
  /** Providers that answer in the place of those of the suite’s chat; each of several is a variant. */
  readonly providers?: readonly string[] | undefined;
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
  /**
   * Whether answers of the subject and of models are kept and used again; a folder for those of models. Default: what the suite says.
   */
  readonly cache?: boolean | string | undefined;
  /** US dollars that the model calls of the run may cost. Default: what the suite says. */
  readonly maxCostUsd?: number | undefined;
  /** Called with each amount, in US dollars, that counts against the cost of the run; must not throw. */
  readonly onSpent?: ((usd: number) => void) | undefined;
  /**
   * Resumes the run of that id, or with `true` the last unfinished run of the suite with the same options.
   */
  readonly resume?: true | string | undefined;
  /**
   * Judges cases of a kept run again, into that run. What they were judged before is kept with it: `replaced()` and `reopenings()` of
   * the run have that. After an interruption the same call goes on.
   */
  readonly again?: JudgeAgain | undefined;
  /** true: the cases are judged by workers of the state store, which must be in Postgres. */
  readonly workers?: boolean | undefined;
  /** false: the run is kept nowhere, and cannot be resumed, shown or compared later. */
  readonly keep?: boolean | undefined;
  /** Reports the run. */
  readonly reporter?: Reporter | undefined;
  /** Called once the run has its id. */
  readonly onStart?: ((header: RunHeader) => void) | undefined;
  /** Called after each case, in the order of the dataset; must not throw. */
  readonly onProgress?: ((progress: SuiteProgress, record: CaseRecord | undefined) => void) | undefined;
}

export interface GuardOptions {
  /** The provider's name that hooks see; default: the model's own. */
  readonly providerId?: string | undefined;
  /** hold: text is released when the whole answer has passed. windowed: behind a hold-back window. */
  readonly stream?: 'hold' | 'windowed' | undefined;
  /** Characters that a windowed stream holds back. */
  readonly window?: number | undefined;
}

/** Which runs a list is of; all that is said must hold. */
export interface RunListFilter {
  /** The name of the pipeline, or of the tool of a single call. */
  readonly pipeline?: string | undefined;
  readonly status?: ShownStatus | undefined;
  /** Labels that a run has, with others or without. */
  readonly labels?: RunLabels | undefined;
  /** Started then or later, and before then. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Those that steps of this run began, in place of those that are steps of no other. */
  readonly parent?: string | undefined;
  /** Those that are steps of others too. */
  readonly children?: boolean | undefined;
  /** At most so many. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface PendingFilter {
  readonly runId?: string | undefined;
  /** Decided ones too. */
  readonly all?: boolean | undefined;
}

/** An event of an agent that runs elsewhere; with its `caller`, people are asked about a call that needs an approval. */
export type AgentEvent = EventInput & { readonly caller?: AgentCaller | undefined };

/** How an event of an agent is judged. */
export interface JudgeOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds within which the agent has to have its answer. Default: no limit. */
  readonly withinMs?: number | undefined;
  /** The folder in which the agent works, where its event does not tell. */
  readonly cwd?: string | undefined;
}
