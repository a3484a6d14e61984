import PQueue from 'p-queue';
import { RuntimeError } from '../base/errors.ts';
import type { Emit, OperationEnd } from '../contract/event.ts';
import { trackOperation } from '../contract/operation.ts';
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
  readonly emit: Emit;
  readonly variants?: ReadonlyMap<string, SubjectRunner> | undefined;
  readonly window: number;
  /** Limits concurrent epochs with `timeout_ms`, so that none waits while its time runs. Default: no limit. */
  readonly epochConcurrency?: number | undefined;
  readonly signal: AbortSignal;
  readonly select?: ((candidates: AsyncIterable<Candidate>) => AsyncIterable<Candidate>) | undefined;
  readonly bail?: number | undefined;
  /** Unusable rows do not fail the run. */
  readonly keepGoing?: boolean | undefined;
  /** Called at the end; returns why the whole run is void, or undefined. */
  readonly findFault?: (() => Promise<RowFault | undefined>) | undefined;
  readonly scrub?: ((record: EpochRecord) => EpochRecord) | undefined;
  readonly scrubRow?: ((row: RowValue) => RowValue) | undefined;
  /** Finds epochs judged by an earlier process, and stores new ones. */
  readonly journal?: EpochJournal | undefined;
  /**
   * Wraps the judging of an epoch with the limits of its model calls. Throws BUDGET_EXCEEDED if the case must not be
   * judged.
   */
  readonly aroundEpoch?:
    | ((epoch: number, work: () => Promise<EpochRecord>) => Promise<EpochRecord>)
    | undefined;
  readonly onFound?: ((record: EpochRecord) => void) | undefined;
  readonly reporter?: Reporter | undefined;
  /** Called after each case and each invalid row; must not throw. */
  readonly onProgress?: ((progress: SuiteProgress, record: CaseRecord | undefined) => void) | undefined;
}

/** Stores the epochs of a run. All methods reject with STORE_FAILED. */
export interface EpochJournal {
  /** Returns the record of an earlier epoch with the same row, or undefined. Omitted if there are no earlier epochs. */
  readonly find?: ((at: EpochKey) => Promise<EpochRecord | undefined>) | undefined;
  /** Resolves when the record is stored. Reporters get it only after that. */
  keep(at: EpochKey, record: EpochRecord): Promise<void>;
  /** Resolves when the report is stored. Reporters get it only after that. */
  end(report: SuiteReport): Promise<void>;
  /** Leaves the run resumable. */
  interrupt?(): Promise<void>;
}

export interface EpochKey {
  readonly row: Row;
  readonly value: RowValue;
  readonly kept: KeptRow;
  readonly identity: CaseIdentity;
  readonly variant?: VariantPlace | undefined;
  readonly epoch: number;
}

/**
 * Runs the cases of a suite in constant memory and reports them in dataset order. Throws FILE_UNREADABLE, and ABORTED
 * after all work in flight has ended. Rethrows errors of its tools.
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

export interface JudgedRows {
  readonly accumulator: RunAccumulator;
  readonly rows: number;
  readonly notJudged: number;
}

/** Judges and reports rows without the final report. Throws as `runSuite` does. */
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
    reading.abort();
  }
  if (signal.aborted) throw new RuntimeError('ABORTED', `the run of suite "${suite.name}" was stopped`);
  return { accumulator, rows, notJudged };
}

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
  | { readonly row: Row; readonly unpaid: true };

interface CaseRun {
  readonly options: SuiteOptions;
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
  const { identity, variant, epoch } = key;
  const about = () =>
    ({ operation: 'case', name: suite.name, case: identity.id, epoch, variant: variant?.name }) as const;
  const judge = async () =>
    await trackOperation(
      options.emit,
      about,
      async () => {
        const judged = await runEpoch(suite, task, toolsOf(options, variant));
        signal.throwIfAborted();
        return judged;
      },
      (judged) => endOfCase(suite, key, judged),
    );
  const work = async () => (aroundEpoch === undefined ? await judge() : await aroundEpoch(key.epoch, judge));
  const judged = epochQueue === undefined ? await work() : await epochQueue.add(work, { signal });
  const record = options.scrub?.(judged) ?? judged;
  // A record cut off by an abort is not stored, so that a resumed run judges the epoch again.
  signal.throwIfAborted();
  await journal?.keep(key, record);
  return record;
}

/** A case that does not meet its threshold has not failed. */
function endOfCase({ evals }: Suite, { row, identity }: EpochKey, epoch: EpochRecord): OperationEnd {
  const { score, passed } = toCaseRecord(evals, { row, ...identity, epochs: [epoch] });
  const error = epoch.subject?.error;
  return { status: error === undefined ? 'ok' : 'failed', error, score: score ?? undefined, passed };
}

/** Throws INTERNAL if the variant has no subject. Without one, its cases would be judged as recorded. */
function toolsOf(options: SuiteOptions, variant: VariantPlace | undefined): EpochTools {
  if (variant === undefined) return options;
  const subject = options.variants?.get(variant.name);
  if (subject !== undefined) return { ...options, subject };
  throw new RuntimeError('INTERNAL', `the variant ${variant.name} has no subject`);
}

interface OutcomeContext {
  readonly accumulator: RunAccumulator;
  readonly options: SuiteOptions;
  readonly fraction: () => number | null;
}

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
