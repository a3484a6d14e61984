import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type {
  PendingCall,
  PendingDecision,
  PendingRecord,
  PendingUse,
  RunParent,
} from '../contract/approval.ts';
import type { RunLabels, RunStatus } from '../contract/run.ts';
import type { ChangeSource, StoreWatch } from './changes.ts';
import type { Identities } from './identities.ts';
import type { TextPlace } from './kept-text.ts';
import type { Outbox } from './outbox.ts';
import type { Pins } from './pins.ts';
import type { SharedWork } from './shared-work.ts';
import type { DueFilter, DueRuns, Suspension } from './suspension.ts';

/**
 * Runs, the outcomes of their steps, and pending calls. A resolved change is on the disk. Every method throws
 * STORE_FAILED if the store fails (disk full, read-only, damaged, closed), and then nothing is half written. Calls of
 * one store take effect in order.
 */
export interface Store extends Identities, Pins {
  readonly location: string;
  /** Absent for a store of one machine, which has no workers. */
  readonly work?: SharedWork;
  readonly outbox: Outbox;

  /**
   * Creates a run with the status `running`, or `queued` if it is dispatched, which needs `work`. Throws USAGE unless
   * its ID has up to 128 letters, digits, points, dashes and underscores, starting with a letter or digit. Throws
   * STORE_FAILED if the ID exists.
   */
  createRun(run: NewRun): Promise<void>;
  findRun(id: string): Promise<RunRecord | undefined>;
  findRunStatus(id: string): Promise<RunStatus | undefined>;
  listRuns(filter?: Pick<RunFilter, 'status' | 'limit'>): Promise<RunRecord[]>;
  /** Runs without long columns, with the number of calls that wait at `at` (ms since 1970). */
  summarizeRuns(filter: RunFilter, at: number): Promise<RunSummary[]>;
  /**
   * Returns false and changes nothing if the run has ended (completed, failed, denied, cancelled) or does not exist.
   * Open calls of an ending run are decided as `cancelled`. When an outermost run ends, unfinished runs below it end
   * too: as `cancelled` with it, else as `failed`.
   */
  setRunStatus(id: string, change: RunChange): Promise<boolean>;
  /**
   * The exclusive right to execute a run, across processes; it ends with its holder. Undefined if the run is claimed,
   * in this process or another. The run need not exist yet. Throws USAGE for an invalid ID.
   */
  claimRun(id: string): Promise<Claim | undefined>;
  /** Writes a run below `root` by the claim on `root`, which is held here, until it is released. */
  coverRun(id: string, root: string): Claim;
  /** The IDs of runs that are executed now, by any process. */
  listClaimed(): Promise<ReadonlySet<string>>;
  /**
   * Decides due calls as `expired` at `at` (ms since 1970). Returns the IDs of unfinished outermost runs whose calls
   * are all decided, at least one as `expired`.
   */
  listExpired(at: number): Promise<string[]>;
  /** Runs that can be resumed, oldest first, without runs of a gateway. Due calls are first decided as `expired`. */
  listDue(filter: DueFilter): Promise<DueRuns>;
  /**
   * Removes ended runs last changed before `before` (ms since 1970), with all records and the runs below them, except
   * claimed ones. Returns their number without those below.
   */
  prune(before: number): Promise<number>;

  /**
   * Records that a step begins; returns the number of this attempt. Throws RUN_UNKNOWN. Throws RUN_ENDED and records
   * nothing for a cancelled run if the caller asks for that.
   */
  beginStep(
    runId: string,
    step: string,
    at: number,
    options?: { readonly unlessCancelled?: boolean },
  ): Promise<{ readonly attempt: number }>;
  /**
   * Stores the outcome of a step, with only those long parts that the run lacks. The first outcome stays. A step that
   * never began begins and ends at once, without an attempt. Throws RUN_UNKNOWN.
   */
  endStep(runId: string, step: string, outcome: Json, at: number): Promise<void>;
  /** All steps in the order in which they began; none if there is no such run. */
  listSteps(runId: string): Promise<StepRecord[]>;
  /** Up to `limit` steps in that order after a place, or from the first. It costs the same however many there are. */
  pageSteps(runId: string, page: StepPageQuery): Promise<PlacedStep[]>;
  /** All steps whose path begins with one of these paths and a slash, in that order. */
  listStepsBelow(runId: string, paths: readonly string[]): Promise<PlacedStep[]>;
  /** The names of all steps, in that order. */
  listStepNames(runId: string): Promise<Pick<PlacedStep, 'step' | 'place'>[]>;
  /** The steps of these runs that have begun, in the order in which they began; read lazily. */
  readSteps(runIds: readonly string[]): AsyncIterable<StepRecord>;
  readText(place: TextPlace): string;
  /** The first `limit` history entries of steps and calls in the order of writing, independent of clocks. */
  listHistory(runId: string, limit?: number): Promise<RunHistoryEntry[]>;

  /**
   * Adds a pending call unless its ID exists. Returns the stored record, so that a repetition after a crash gets the
   * first one. A call of an ended run is already `cancelled`. Throws RUN_UNKNOWN.
   */
  addPending(call: PendingCall): Promise<PendingRecord>;
  /**
   * Decides an open call. Exactly one caller wins, across processes. With a quorum, each name counts once, and the call
   * stays open until enough people approve. A call expires at `expiresAt` (inclusive) and cannot be decided then.
   * With `others`, nothing is written unless so many other people have approved. Undefined if there is no such call.
   */
  decide(id: string, ruling: PendingDecision, at: number, others?: number): Promise<DecideResult | undefined>;
  /** The record; decided as `expired` first if it is due at `at` (ms since 1970). Without `at`, nothing is written. */
  findPending(id: string, at?: number): Promise<PendingRecord | undefined>;
  /** In the order of adding; calls due at `at` are first decided as `expired`. */
  listPendings(filter: PendingFilter, at: number): Promise<PendingRecord[]>;
  /** Up to `limit` calls after a place, in the order of adding, with their outermost runs. Expires due calls first. */
  pagePendings(filter: PendingPageFilter, at: number): Promise<PlacedPending[]>;
  /** The number of calls for each tool and status. Expires due calls first. */
  countPendings(filter: PendingCountFilter, at: number): Promise<PendingCount[]>;

  /** What waits for a person at `at`, in a time that depends only on how many calls wait. Writes nothing. */
  measurePendings(at: number): Promise<PendingMeasure>;

  /** The time for expiry and waits, ms since 1970: of the database server, if there is one. */
  now(): Promise<number>;

  /** Calls `tell` when a call may have been decided, by any process; also spuriously. Never throws. */
  watch(tell: () => void): StoreWatch;
  readonly changes: ChangeSource;

  /** Releases the claims of this store. Never rejects; may be called again. */
  close(): Promise<void>;
}

interface PendingFilter {
  readonly runId?: string | undefined;
  /** Includes the runs below an outermost run. */
  readonly below?: boolean | undefined;
  readonly open?: boolean | undefined;
}

type PendingStatus = 'open' | PendingDecision['kind'];

/** Filters calls; all given conditions must hold. */
export interface PendingCountFilter {
  readonly tool?: string | undefined;
  /** The run of the call, or its outermost run. */
  readonly run?: string | undefined;
  readonly since?: number | undefined;
}

export interface PendingPageFilter extends PendingCountFilter {
  readonly id?: string | undefined;
  /** Absent: any. */
  readonly status?: PendingStatus | undefined;
  /** Only calls that may have this use: approved or answered. */
  readonly use?: PendingUse | undefined;
  /** Names of tools, of which the call must have one. */
  readonly tools?: readonly string[] | undefined;
  readonly after?: number | undefined;
  readonly limit: number;
}

/** A call, its place in the order of adding, which never changes, and its outermost run. */
export interface PlacedPending {
  readonly record: PendingRecord;
  readonly place: number;
  readonly run: Pick<NewRun, 'kind' | 'name' | 'labels'>;
  /** What an agent or a gateway said about itself when it made the call; null for any other call. */
  readonly caller: Json | null;
  /** Who made the call, if it has an identity. */
  readonly principal: string | null;
  /** The status of the run of the call itself, which may be below the outermost one. */
  readonly runStatus: RunStatus;
  /** Whether the run has continued with the decision. Always false for calls of an agent or a gateway. */
  readonly hasContinued: boolean;
}

export interface PendingCount {
  readonly tool: string;
  readonly status: PendingStatus;
  readonly count: number;
}

export interface PendingMeasure {
  /** Calls that can be decided. */
  readonly open: number;
  /** Calls whose time is over, but that nothing has decided as expired yet. */
  readonly overdue: number;
  /** For how long the oldest open call has waited; 0 without any. */
  readonly oldestMs: number;
}

/** The record, and whether this caller's decision or approval was accepted. */
interface DecideResult {
  readonly isAccepted: boolean;
  readonly record: PendingRecord;
}

/** Held until it is released, or its store or process ends. */
export interface Claim {
  /**
   * Checks that the run is still claimed here and continues. Rejects with RUN_ENDED for an ended run, and STORE_FAILED
   * for a lost claim or an unreachable store.
   */
  confirm(): Promise<void>;
  /**
   * Whether no other process can have claimed the run since the store last answered, by this process's monotonic clock.
   * True for a few seconds after `confirm` or any other answer.
   */
  isLive(): boolean;
  release(): Promise<void>;
}

/** A new run. Texts are stored unchanged. */
export interface NewRun {
  readonly id: string;
  readonly kind: 'pipeline' | 'tool';
  readonly name: string;
  /** The pipeline file, absolute; null for a tool call. */
  readonly file: string | null;
  /** The text of the pipeline file, which the run uses even if the file changes; empty for a tool call. */
  readonly source: string;
  readonly config: string;
  readonly input: Json;
  readonly createdAt: number;
  readonly labels?: RunLabels | undefined;
  /** Identifies the pipeline, config and scripts that a worker must have. Stored if there are workers. */
  readonly build?: string | undefined;
  /** A worker executes the run, instead of its creator. */
  readonly isDispatched?: true | undefined;
  readonly parent?: RunParent | undefined;
  /** The texts of pipelines that its steps may start, by absolute file; they are used even if the files change. */
  readonly pipelines?: Readonly<Record<string, string>> | undefined;
}

/** Filters a list of runs; all given conditions must hold. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly name?: string | undefined;
  readonly labels?: RunLabels | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Runs started by steps of this run, or all below this one, instead of outermost runs. */
  readonly parent?: string | undefined;
  readonly root?: string | undefined;
  readonly all?: boolean | undefined;
  /** Only runs after this place: the next page. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export interface RunSummary
  extends Pick<
    RunRecord,
    'id' | 'kind' | 'name' | 'file' | 'status' | 'createdAt' | 'updatedAt' | 'labels' | 'parent'
  > {
  /** The position among all runs, in the order of creation. It never changes. */
  readonly place: number;
  readonly suspension?: Suspension;
  /** How many calls of the run and of those below it wait for a person. */
  readonly open: number;
  /** The run waits, and no known worker has its build. */
  readonly lacksWorker?: true;
}

export interface RunRecord extends Omit<NewRun, 'isDispatched'> {
  readonly status: RunStatus;
  readonly output: Json | null;
  readonly error: Fault | null;
  /** When the status was last set; ms since 1970. */
  readonly updatedAt: number;
  /** Why it was suspended; for a resumed run, why it had been. */
  readonly suspension?: Suspension;
}

/** Omitted `output` and `error` stay unchanged. */
export interface RunChange {
  readonly status: RunStatus;
  readonly output?: Json | null;
  readonly error?: Fault | null;
  /**
   * Set for a run that waits for more than its calls. It stays while the run is executed, and ends with any other
   * change.
   */
  readonly suspension?: Suspension | undefined;
  /** A failed or denied run continues; any other stays unchanged. */
  readonly reopens?: true;
  readonly at: number;
}

/** The first begin or the end of a step (`subject` is its path), or a call that waits or is decided (its ID). */
export interface RunHistoryEntry {
  readonly what: 'began' | 'ended' | 'pending' | 'decided';
  readonly subject: string;
}

interface StepPageQuery {
  readonly behind?: number | undefined;
  readonly limit: number;
  /** Only steps whose path contains this text. */
  readonly part?: string | undefined;
}

/** A step, and its place in the order in which steps began, which never changes. */
export interface PlacedStep extends StepRecord {
  readonly place: number;
}

/** A step that began, times in ms since 1970; `outcome` and `endedAt` are null until it ends. */
export interface StepRecord {
  readonly step: string;
  readonly attempts: number;
  readonly outcome: Json | null;
  readonly beganAt: number;
  readonly endedAt: number | null;
}
