import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type { PendingCall, PendingDecision, PendingRecord, RunParent } from '../contract/approval.ts';
import type { RunLabels, RunStatus } from '../contract/run.ts';
import type { TextPlace } from './kept-text.ts';
import type { Outbox } from './outbox.ts';
import type { SharedWork } from './shared-work.ts';
import type { DueFilter, DueRuns, Suspension } from './suspension.ts';

/**
 * What must outlive the process: runs, the outcomes of their steps, and the calls that wait for a person. A
 * promise that resolves means that the disk has it. Every method throws STORE_FAILED when the store cannot
 * do its work (disk full, read-only, damaged, closed), and nothing is then half written. Calls of one store take
 * effect in the order in which they were made.
 */
export interface Store {
  /** The file or place of the store, for error messages. */
  readonly location: string;
  /** Absent: it is a store of one machine, which knows no workers. */
  readonly work?: SharedWork;
  /** What is to be told of runs. */
  readonly outbox: Outbox;

  /**
   * Keeps a run, which is `running` from now on, or `queued` where it is dispatched, which a store without `work` does not keep. Throws USAGE when its id is not up to 128 letters, digits, points,
   * dashes and underscores, with a letter or digit first; STORE_FAILED when there is a run of this id.
   */
  createRun(run: NewRun): Promise<void>;
  findRun(id: string): Promise<RunRecord | undefined>;
  /** Without reading the rest of it. */
  findRunStatus(id: string): Promise<RunStatus | undefined>;
  /** Newest first; at most `limit` of them. */
  listRuns(filter?: Pick<RunFilter, 'status' | 'limit'>): Promise<RunRecord[]>;
  /** The same without what may be long in them, and with the number of calls that wait at `at` (ms since 1970). */
  summarizeRuns(filter: RunFilter, at: number): Promise<RunSummary[]>;
  /**
   * A run that has ended (completed, failed, denied, cancelled) stays as it ended: false then, and nothing is
   * changed; false too when there is no such run. What still waits for a person when a run ends is decided as
   * `cancelled` with it. With a run that is no part of another the runs below it end that have not: `cancelled` as it was, else `failed`.
   */
  setRunStatus(id: string, change: RunChange): Promise<boolean>;
  /**
   * The right to execute a run, which one holder at a time has, across processes; it is released when its
   * holder dies. Undefined while it is held, in this process or another. The run need not exist yet. Throws
   * USAGE for an invalid id.
   */
  claimRun(id: string): Promise<Claim | undefined>;
  /** Has a run below `root` written by the right to that one, which is held here; until it is released. */
  coverRun(id: string, root: string): Claim;
  /** The ids of the runs that somebody executes at this moment, in this process or another. */
  listClaimed(): Promise<ReadonlySet<string>>;
  /**
   * Decides due calls as `expired` at `at` (ms since 1970); returns the ids of runs that have not ended and
   * whose calls are all decided, at least one of them as `expired`. Runs that are parts of others are left out.
   */
  listExpired(at: number): Promise<string[]>;
  /** Runs that can be gone on with, the oldest first; calls that are due are first decided as `expired`. Those of a gateway are none. */
  listDue(filter: DueFilter): Promise<DueRuns>;
  /**
   * Removes ended runs that were last changed before `before` (ms since 1970), with all their records and the runs below them,
   * except claimed ones. Returns how many, those below not counted.
   */
  prune(before: number): Promise<number>;

  /**
   * Records that a step begins; returns the number of this attempt. Throws RUN_UNKNOWN; RUN_ENDED, and nothing is
   * recorded, for a cancelled run if that is asked for.
   */
  beginStep(
    runId: string,
    step: string,
    at: number,
    options?: { readonly unlessCancelled?: boolean },
  ): Promise<{ readonly attempt: number }>;
  /**
   * Keeps a step's outcome, of its long parts only those that the run does not have yet. The first one stays: a second call changes nothing. A step that was never begun
   * begins and ends at once, without an attempt. Throws RUN_UNKNOWN.
   */
  endStep(runId: string, step: string, outcome: Json, at: number): Promise<void>;
  /** All steps of a run, in the order in which they began; none when there is no such run. */
  listSteps(runId: string): Promise<StepRecord[]>;
  /**
   * Some of them in the same order: up to `limit` behind a place, and the place of the last one, which is undefined when
   * there are none. Without a place: from the first one on.
   */
  pageSteps(
    runId: string,
    page: { readonly behind?: number | undefined; readonly limit: number },
  ): Promise<StepPage>;
  /** A long text of a run, which a record refers to. Throws STORE_FAILED. Blocks while it is read. */
  readText(place: TextPlace): string;
  /**
   * The history of a run's steps and calls in the order in which it was written, whatever the clocks said; the first
   * `limit` entries of it.
   */
  listHistory(runId: string, limit?: number): Promise<RunHistoryEntry[]>;

  /**
   * Adds a pending call, unless there is one of this id already. Returns the stored record, decided or not: a
   * repetition after a crash gets the first one, and a call of a run that has ended is `cancelled` already.
   * Throws RUN_UNKNOWN.
   */
  addPending(call: PendingCall): Promise<PendingRecord>;
  /**
   * Decides an open pending call. Exactly one caller wins, across processes. An approval of a call that has a quorum counts once for each
   * name, and the call stays open until so many are there. An expired call cannot be
   * decided any more: it is decided as `expired` first, as of `expiresAt` (inclusive). Undefined when there
   * is no such call.
   */
  decide(id: string, ruling: PendingDecision, at: number): Promise<DecideResult | undefined>;
  /** The record; first decided as `expired` if it is due at `at` (ms since 1970). */
  findPending(id: string, at: number): Promise<PendingRecord | undefined>;
  /** In the order in which they were added; those that are due at `at` are first decided as `expired`. */
  listPendings(filter: PendingFilter, at: number): Promise<PendingRecord[]>;

  /** The time by which calls expire and waits end, ms since 1970: that of the database server where there is one. */
  now(): Promise<number>;

  /** Calls `onChange` when a call may have been decided, by any process; also spuriously. Never throws. */
  watch(tell: () => void): StoreWatch;

  /** Releases the claims that were made here. Never rejects; may be called again. */
  close(): Promise<void>;
}

interface PendingFilter {
  readonly runId?: string | undefined;
  /** Of the runs below it too; it must be no part of another. */
  readonly below?: boolean | undefined;
  readonly open?: boolean | undefined;
}

export interface StoreWatch {
  /** Whether changes are reported; otherwise the caller has to poll. */
  isLive(): boolean;
  close(): void;
}

/** The record, and whether it holds this caller's decision, or approval of several. */
interface DecideResult {
  readonly isAccepted: boolean;
  readonly record: PendingRecord;
}

/** Held until it is released, or its store closed, or its process ended. */
export interface Claim {
  /**
   * Looks whether the run is still claimed here and goes on. Rejects with RUN_ENDED for one that has ended, and with STORE_FAILED
   * for a claim that is lost and a store that cannot be reached.
   */
  confirm(): Promise<void>;
  /**
   * Whether nobody else can have claimed the run since the store was last heard, by this process's monotonic clock; for a few
   * seconds after `confirm`, or after anything else that the store has answered.
   */
  isLive(): boolean;
  /** Never rejects; may be called again. */
  release(): Promise<void>;
}

/** A run as it begins. Texts are kept as they are. */
export interface NewRun {
  readonly id: string;
  readonly kind: 'pipeline' | 'tool';
  readonly name: string;
  /** The pipeline file, absolute; null for a single tool call. */
  readonly file: string | null;
  /** The pipeline file's text, by which the run is finished even if the file changes; empty for a tool call. */
  readonly source: string;
  /** The RuntimeConfig file, absolute. */
  readonly config: string;
  readonly input: Json;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** What its caller calls it by; absent: nothing. */
  readonly labels?: RunLabels | undefined;
  /** Which workers may go on with it: those with the same pipeline, config and scripts. Kept where there are workers. */
  readonly build?: string | undefined;
  /** It waits for a worker, instead of being executed by whoever makes it. */
  readonly isDispatched?: true | undefined;
  /** Absent: it is no part of another run. */
  readonly parent?: RunParent | undefined;
  /** The texts of the pipelines that it may begin as its steps, by their absolute files, by which they are run even if these change. */
  readonly pipelines?: Readonly<Record<string, string>> | undefined;
}

/** Of which runs a list is; all that is said must hold. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly name?: string | undefined;
  /** Labels that a run has, with others or without. */
  readonly labels?: RunLabels | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Those whose step it is of this run, or all below this one, in place of those that are parts of no other. */
  readonly parent?: string | undefined;
  readonly root?: string | undefined;
  /** Those that are parts of others too. */
  readonly all?: boolean | undefined;
  /** Only those behind that place: the next page after a run. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export interface RunSummary
  extends Pick<
    RunRecord,
    'id' | 'kind' | 'name' | 'file' | 'status' | 'createdAt' | 'updatedAt' | 'labels' | 'parent'
  > {
  /** Its place among all runs: what was kept later has a greater one. It never changes. */
  readonly place: number;
  readonly suspension?: Suspension;
  /** How many of its calls, and of those of the runs below it, wait for a person. */
  readonly open: number;
  /** It waits for a worker, and none that is there has its build. */
  readonly lacksWorker?: true;
}

export interface RunRecord extends Omit<NewRun, 'isDispatched'> {
  readonly status: RunStatus;
  readonly output: Json | null;
  readonly error: Fault | null;
  /** When the status was last set; ms since 1970. */
  readonly updatedAt: number;
  /** Why it was set down; of a run that is executed again, why it was before. */
  readonly suspension?: Suspension;
}

/** What a run is now; `output` and `error` stay as they were where they are left out. */
export interface RunChange {
  readonly status: RunStatus;
  readonly output?: Json | null;
  readonly error?: Fault | null;
  /** With a run that is set down by more than its calls. What was kept of it stays while the run is executed, and goes with any other change. */
  readonly suspension?: Suspension | undefined;
  /** A run that has failed or was denied goes on with it; any other one stays as it is. */
  readonly reopens?: true;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** That a step began for the first time, or a step ended (`subject` is its path), that a call waits or is decided (its id). */
export interface RunHistoryEntry {
  readonly what: 'began' | 'ended' | 'pending' | 'decided';
  readonly subject: string;
}

interface StepPage {
  readonly steps: readonly StepRecord[];
  readonly place: number | undefined;
}

/** A step that was begun, times in ms since 1970; `outcome` and `endedAt` are null while it has not ended. */
export interface StepRecord {
  readonly step: string;
  readonly attempts: number;
  readonly outcome: Json | null;
  readonly beganAt: number;
  readonly endedAt: number | null;
}
