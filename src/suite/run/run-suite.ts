import PQueue from 'p-queue';
import { RuntimeError } from '../../errors.ts';
import { problemOf, toCandidates } from '../case/candidates.ts';
import { toCaseRecord } from '../case/case-record.ts';
import type { CaseIdentity } from '../case/identity.ts';
import { openRows, type Row } from '../dataset/rows.ts';
import type { Suite, SuiteProgress } from '../file/model.ts';
import type { Reporter } from '../report/reporter.ts';
import { type EpochTools, runEpoch } from '../score/epoch.ts';
import type { Candidate } from '../select/select.ts';
import { type Ledger, newLedger, type RowFault } from './accumulator.ts';
import { workInOrder } from './in-order.ts';
import type { CaseRecord, EpochRecord, RunHeader, SuiteReport } from './record.ts';

export interface SuiteOptions extends EpochTools {
  readonly header: RunHeader;
  /** Cases in flight at most. */
  readonly window: number;
  /** Epochs at once at most where their time is limited, lest it run out in a queue. Default: as many as come. */
  readonly turns?: number | undefined;
  readonly signal: AbortSignal;
  /** Picks the cases that run; their order stays. */
  readonly select?: ((candidates: AsyncIterable<Candidate>) => AsyncIterable<Candidate>) | undefined;
  /** Ends the run at that many failed cases. */
  readonly bail?: number | undefined;
  /** Rows that cannot be used do not fail the run. */
  readonly keepGoing?: boolean | undefined;
  /** Looks at the end for what makes the whole run void. */
  readonly findFault?: (() => RowFault | undefined) | undefined;
  /** Takes out what no report may show, before a record is kept or told. */
  readonly scrub?: ((record: EpochRecord) => EpochRecord) | undefined;
  /** Holds what was judged already, and keeps what is judged now. */
  readonly journal?: EpochJournal | undefined;
  readonly reporter?: Reporter | undefined;
  /** Told after each case; must not throw. */
  readonly onProgress?: ((progress: SuiteProgress, record: CaseRecord | undefined) => void) | undefined;
}

/** Keeps a run. All throw STORE_FAILED. */
export interface EpochJournal {
  /** What the epoch came to when it was judged before, with the same row. */
  find(at: EpochPlace): EpochRecord | undefined;
  /** Settles once it is kept; nobody is told before. */
  keep(at: EpochPlace, record: EpochRecord): Promise<void>;
  /** Keeps what the run came to; nobody is told before. */
  end(report: SuiteReport): void;
}

export interface EpochPlace {
  readonly row: Row;
  readonly value: Readonly<Record<string, unknown>>;
  readonly identity: CaseIdentity;
  readonly epoch: number;
}

/**
 * Runs the cases of a suite, in memory that does not grow with their number, and reports them in the order of the
 * dataset. Throws ABORTED once what was in flight has ended; FILE_UNREADABLE; and what its tools throw.
 */
export async function runSuite(suite: Suite, options: SuiteOptions): Promise<SuiteReport> {
  const { window, signal, reporter, header } = options;
  if (!Number.isSafeInteger(window) || window < 1) {
    throw new RuntimeError('USAGE', `the window of a suite run must be a whole number from 1, not ${window}`);
  }
  const started = performance.now();
  const ledger = newLedger(suite, options);
  const own = new AbortController();
  const either = AbortSignal.any([signal, own.signal]);
  const rows = openRows(suite.dataset, either);
  const turns = newTurns(suite, options);
  let read = 0;
  const count = () => {
    read += 1;
  };
  await reporter?.begin(header);
  try {
    await workInOrder<Candidate, Outcome>({
      source: () => (options.select ?? all)(toCandidates(suite, eachOf(rows.rows, count))),
      work: async (candidate, stopped) =>
        await runCase(suite, candidate, { options, turns, signal: stopped }),
      take: async (outcome) => await takeOutcome(outcome, { ledger, options, fraction: rows.fraction }),
      window,
      signal: either,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    // Whatever ended the run early, nothing more is read.
    own.abort();
  }
  if (signal.aborted) throw new RuntimeError('ABORTED', `the run of suite "${suite.name}" was given up`);
  const report = ledger.report({
    durationMs: performance.now() - started,
    rows: read,
    fault: options.findFault?.(),
  });
  options.journal?.end(report);
  await reporter?.end(report);
  return report;
}

/** Undefined where nobody has to wait. */
function newTurns({ timeoutMs }: Suite, { turns }: SuiteOptions): PQueue | undefined {
  return timeoutMs === undefined || turns === undefined ? undefined : new PQueue({ concurrency: turns });
}

async function* eachOf(rows: AsyncIterable<Row>, tell: () => void): AsyncGenerator<Row> {
  for await (const row of rows) {
    tell();
    yield row;
  }
}

const all = (candidates: AsyncIterable<Candidate>): AsyncIterable<Candidate> => candidates;

type Outcome =
  | { readonly row: Row; readonly record: CaseRecord }
  | { readonly row: Row; readonly problem: RowFault };

interface CaseRun {
  readonly options: SuiteOptions;
  /** Where epochs wait for their turn. */
  readonly turns: PQueue | undefined;
  readonly signal: AbortSignal;
}

async function runCase(suite: Suite, candidate: Candidate, run: CaseRun): Promise<Outcome> {
  const { row } = candidate;
  if ('problem' in candidate) return { row, problem: candidate.problem };
  const { value, id, tags } = candidate;
  const numbers = Array.from({ length: suite.epochs }, (_, index) => index + 1);
  const settled = await Promise.allSettled(
    numbers.map(async (epoch) => {
      const place = { row, value, identity: { id, tags }, epoch };
      return await epochOf(suite, place, run);
    }),
  );
  try {
    const epochs = settled.map((each) => {
      if (each.status === 'rejected') throw each.reason;
      return each.value;
    });
    return { row, record: toCaseRecord(suite.evals, { row, id, tags, epochs }) };
  } catch (error) {
    return { row, problem: problemOf(error, value) };
  }
}

async function epochOf(
  suite: Suite,
  place: EpochPlace,
  { options, turns, signal }: CaseRun,
): Promise<EpochRecord> {
  const { journal } = options;
  const known = journal?.find(place);
  if (known !== undefined) return known;
  const task = { row: place.value, epoch: place.epoch, signal };
  const work = async () => await runEpoch(suite, task, options);
  const judged = turns === undefined ? await work() : await turns.add(work, { signal });
  const record = options.scrub?.(judged) ?? judged;
  // What was cut off says nothing, and is judged again when the run goes on.
  signal.throwIfAborted();
  await journal?.keep(place, record);
  return record;
}

interface Taking {
  readonly ledger: Ledger;
  readonly options: SuiteOptions;
  readonly fraction: () => number | null;
}

/** False when there have been failures enough. */
async function takeOutcome(outcome: Outcome, taking: Taking): Promise<boolean> {
  const { ledger, options, fraction } = taking;
  if ('problem' in outcome) return await refuse(outcome.row, outcome.problem, taking);
  const { row, record } = outcome;
  const problem = ledger.findTagProblem(record.tags);
  if (problem !== undefined) return await refuse(row, problem, taking);
  const goesOn = ledger.record(record);
  await options.reporter?.onCase(record);
  options.onProgress?.(ledger.progress(fraction()), record);
  return goesOn;
}

async function refuse(row: Row, fault: RowFault, { ledger, options, fraction }: Taking): Promise<true> {
  const problem = ledger.refuse(row, fault);
  if (problem !== undefined) await options.reporter?.onProblem(problem);
  options.onProgress?.(ledger.progress(fraction()), undefined);
  return true;
}
