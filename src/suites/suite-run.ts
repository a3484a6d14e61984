import PQueue from 'p-queue';
import { RuntimeError } from '../base/errors.ts';
import { toCandidates, toRowFault } from './case/candidates.ts';
import type { CaseIdentity } from './case/case-identity.ts';
import { type KeptRow, keepRow, toCaseRecord } from './case/case-record.ts';
import type { Row, RowFault } from './dataset/row.ts';
import { openRows, type Rows } from './dataset/rows.ts';
import type { Suite, SuiteProgress } from './file/model.ts';
import { type Cell, toCells } from './matrix/cells.ts';
import type { CaseRecord, EpochRecord, RunHeader, SuiteReport } from './record.ts';
import type { Reporter } from './report/reporter.ts';
import { workInOrder } from './run/in-order.ts';
import { newRunAccumulator, type RunAccumulator } from './run-accumulator.ts';
import { type EpochTools, runEpoch } from './score/epoch.ts';
import type { Candidate } from './select/select.ts';
import type { SubjectRunner } from './subject/adapter.ts';
import { placesOf, type VariantPlace } from './variants.ts';

type RowValue = Readonly<Record<string, unknown>>;

export interface SuiteOptions extends EpochTools {
  readonly header: RunHeader;
  /** What makes the answers of each variant, by its name; of a matrix in the place of `subject`. */
  readonly variants?: ReadonlyMap<string, SubjectRunner> | undefined;
  /** Cases in flight at most. */
  readonly window: number;
  /**
   * Epochs at once where `timeout_ms` is set, so that none waits while its time runs. Default: no limit.
   */
  readonly epochConcurrency?: number | undefined;
  readonly signal: AbortSignal;
  /** Picks the cases that run; their order stays. */
  readonly select?: ((candidates: AsyncIterable<Candidate>) => AsyncIterable<Candidate>) | undefined;
  /** Ends the run at that many failed cases. */
  readonly bail?: number | undefined;
  /** Rows that cannot be used do not fail the run. */
  readonly keepGoing?: boolean | undefined;
  /** Called at the end: why the whole run is void; undefined when it is not. */
  readonly findFault?: (() => Promise<RowFault | undefined>) | undefined;
  /** Removes secrets from a record before it is stored or reported. */
  readonly scrub?: ((record: EpochRecord) => EpochRecord) | undefined;
  /** Removes secrets from a row before it is stored or reported. */
  readonly scrubRow?: ((row: RowValue) => RowValue) | undefined;
  /** Finds epochs that an earlier process judged, and stores those that are judged now. */
  readonly journal?: EpochJournal | undefined;
  /** Runs what judges an epoch, with what its model calls keep to. Throws BUDGET_EXCEEDED when the case is not to be judged. */
  readonly aroundEpoch?:
    | ((epoch: number, work: () => Promise<EpochRecord>) => Promise<EpochRecord>)
    | undefined;
  /** Called with an epoch that an earlier process judged. */
  readonly onFound?: ((record: EpochRecord) => void) | undefined;
  readonly reporter?: Reporter | undefined;
  /** Called after each case and each row that cannot be used; must not throw. */
  readonly onProgress?: ((progress: SuiteProgress, record: CaseRecord | undefined) => void) | undefined;
}

/** Stores the epochs of a run. All methods reject with STORE_FAILED. */
export interface EpochJournal {
  /** The record of an epoch that was judged before with the same row; undefined when there is none. Left out where there are none at all. */
  readonly find?: ((at: EpochKey) => Promise<EpochRecord | undefined>) | undefined;
  /** Resolves once the record is stored; reporters get it after that. */
  keep(at: EpochKey, record: EpochRecord): Promise<void>;
  /** Stores the report of the run; reporters get it after that. */
  end(report: SuiteReport): Promise<void>;
  /** Leaves the run to be resumed. */
  interrupt?(): Promise<void>;
}

export interface EpochKey {
  readonly row: Row;
  readonly value: RowValue;
  /** The row as it is reported and kept. */
  readonly kept: KeptRow;
  readonly identity: CaseIdentity;
  /** The variant of a matrix that the case is of. */
  readonly variant?: VariantPlace | undefined;
  readonly epoch: number;
}

/**
 * Runs the cases of a suite, in memory that does not grow with their number, and reports them in the order of the
 * dataset. Throws ABORTED once what was in flight has ended; FILE_UNREADABLE; and what its tools throw.
 */
export async function runSuite(suite: Suite, options: SuiteOptions): Promise<SuiteReport> {
  const { reporter, header } = options;
  const started = performance.now();
  const { accumulator, rows, notJudged } = await judgeRows(
    suite,
    options,
    (signal) => openRows(suite.dataset, signal),
    {
      begin: async () => await reporter?.begin(header),
    },
  );
  const report = accumulator.report({
    durationMs: performance.now() - started,
    rows,
    notJudged,
    fault: await options.findFault?.(),
  });
  if (notJudged > 0) await options.journal?.interrupt?.();
  else await options.journal?.end(report);
  await reporter?.end(report);
  return report;
}

/** What the rows of a suite, or some of them, came to. */
export interface JudgedRows {
  readonly accumulator: RunAccumulator;
  /** How many there were, selected or not. */
  readonly rows: number;
  /** Cases that the budget left no money for. */
  readonly notJudged: number;
}

/** Judges rows and reports each, but not their end. Throws as `runSuite` does. */
export async function judgeRows(
  suite: Suite,
  options: SuiteOptions,
  open: (signal: AbortSignal) => Rows,
  { begin }: { readonly begin?: () => Promise<void> } = {},
): Promise<JudgedRows> {
  const { window, signal } = options;
  if (!Number.isSafeInteger(window) || window < 1) {
    throw new RuntimeError('USAGE', `the window of a suite run must be a whole number from 1, not ${window}`);
  }
  const accumulator = newRunAccumulator(suite, options);
  const reading = new AbortController();
  const either = AbortSignal.any([signal, reading.signal]);
  const source = open(either);
  const epochQueue = newEpochQueue(suite, options);
  let rows = 0;
  let notJudged = 0;
  const count = () => {
    rows += 1;
  };
  await begin?.();
  try {
    await workInOrder<Cell, CaseOutcome>({
      source: () =>
        toCells(
          (options.select ?? selectAll)(toCandidates(suite, countEach(source.rows, count))),
          placesOf(suite),
        ),
      work: async (cell, stopped) => await runCase(suite, cell, { options, epochQueue, signal: stopped }),
      deliver: async (outcome) => {
        if (!('unpaid' in outcome))
          return await reportOutcome(outcome, { accumulator, options, fraction: source.fraction });
        notJudged += 1;
        return true;
      },
      window,
      signal: either,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    // Stops reading the dataset, whatever ended the run early.
    reading.abort();
  }
  if (signal.aborted) throw new RuntimeError('ABORTED', `the run of suite "${suite.name}" was given up`);
  return { accumulator, rows, notJudged };
}

/** Undefined where the number of epochs at once is not limited. */
function newEpochQueue({ timeoutMs }: Suite, { epochConcurrency }: SuiteOptions): PQueue | undefined {
  return timeoutMs === undefined || epochConcurrency === undefined
    ? undefined
    : new PQueue({ concurrency: epochConcurrency });
}

async function* countEach(rows: AsyncIterable<Row>, onRow: () => void): AsyncGenerator<Row> {
  for await (const row of rows) {
    onRow();
    yield row;
  }
}

const selectAll = (candidates: AsyncIterable<Candidate>): AsyncIterable<Candidate> => candidates;

type CaseOutcome =
  | { readonly row: Row; readonly record: CaseRecord }
  | { readonly row: Row; readonly problem: RowFault; readonly variant?: VariantPlace | undefined }
  /** The budget of the run left no money for it. */
  | { readonly row: Row; readonly unpaid: true };

interface CaseRun {
  readonly options: SuiteOptions;
  /** Limits how many epochs run at once. */
  readonly epochQueue: PQueue | undefined;
  readonly signal: AbortSignal;
}

async function runCase(suite: Suite, cell: Cell, run: CaseRun): Promise<CaseOutcome> {
  const { row, variant } = cell;
  if ('problem' in cell) return { row, problem: cell.problem };
  const { value, id, tags } = cell;
  const kept = keepRow(run.options.scrubRow?.(value) ?? value);
  const numbers = Array.from({ length: suite.epochs }, (_, index) => index + 1);
  const settled = await Promise.allSettled(
    numbers.map(async (epoch) => {
      const key = { row, value, kept, identity: { id, tags }, variant, epoch };
      return await findOrRunEpoch(suite, key, run);
    }),
  );
  try {
    const epochs = settled.map((each) => {
      if (each.status === 'rejected') throw each.reason;
      return each.value;
    });
    return {
      row,
      record: toCaseRecord(suite.evals, { row, id, variant: variant?.name, tags, epochs, kept }),
    };
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'BUDGET_EXCEEDED') return { row, unpaid: true };
    return { row, problem: toRowFault(error, value), variant };
  }
}

async function findOrRunEpoch(
  suite: Suite,
  key: EpochKey,
  { options, epochQueue, signal }: CaseRun,
): Promise<EpochRecord> {
  const { journal, aroundEpoch, onFound } = options;
  const known = journal?.find === undefined ? undefined : await journal.find(key);
  if (known !== undefined) {
    onFound?.(known);
    return known;
  }
  const task = { row: key.value, epoch: key.epoch, signal };
  const judge = async () => await runEpoch(suite, task, toolsOf(options, key.variant));
  const work = async () => (aroundEpoch === undefined ? await judge() : await aroundEpoch(key.epoch, judge));
  const judged = epochQueue === undefined ? await work() : await epochQueue.add(work, { signal });
  const record = options.scrub?.(judged) ?? judged;
  // A record that an abort cut off is not stored, so that the epoch is judged again when the run is
  // resumed.
  signal.throwIfAborted();
  await journal?.keep(key, record);
  return record;
}

/** With the subject of the variant: without one its cases would be judged as recorded. */
function toolsOf(options: SuiteOptions, variant: VariantPlace | undefined): EpochTools {
  if (variant === undefined) return options;
  const subject = options.variants?.get(variant.name);
  if (subject !== undefined) return { ...options, subject };
  throw new RuntimeError('INTERNAL', `nothing answers for the variant ${variant.name}`);
}

interface OutcomeContext {
  readonly accumulator: RunAccumulator;
  readonly options: SuiteOptions;
  readonly fraction: () => number | null;
}

/** Reports a case or a problem; false when the run has as many failures as `bail` allows. */
async function reportOutcome(
  outcome: Exclude<CaseOutcome, { unpaid: true }>,
  outcomeContext: OutcomeContext,
): Promise<boolean> {
  const { accumulator, options, fraction } = outcomeContext;
  if ('problem' in outcome) return await reportProblem(outcome, outcomeContext);
  const { record } = outcome;
  const goesOn = accumulator.addCase(record);
  await options.reporter?.onCase(record);
  options.onProgress?.(accumulator.progress(fraction()), record);
  return goesOn;
}

async function reportProblem(
  { row, problem: fault, variant }: Extract<CaseOutcome, { problem: RowFault }>,
  { accumulator, options, fraction }: OutcomeContext,
): Promise<true> {
  const problem = accumulator.addProblem(row, fault, variant);
  if (problem !== undefined) await options.reporter?.onProblem(problem);
  options.onProgress?.(accumulator.progress(fraction()), undefined);
  return true;
}
