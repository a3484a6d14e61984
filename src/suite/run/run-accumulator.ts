import type { SourceLocation } from '../../yaml/problem.ts';
import type { Row } from '../dataset/row.ts';
import type { Suite, SuiteProgress } from '../file/model.ts';
import { failuresOf, roleLookup } from '../report/case-failures.ts';
import { newStatsAccumulator } from '../stats/stats-accumulator.ts';
import { newBoundedList } from './bounded-list.ts';
import { judgeGates } from './gates.ts';
import type { CaseRecord, Failure, RowProblem, RunHeader, SuiteReport } from './record.ts';

/** Adds up the cases of a run while it goes on, in bounded memory, and makes its report. */
export interface RunAccumulator {
  /** The problem of a case whose tags would make too many different ones; undefined when they fit. */
  findTagProblem(tags: readonly string[]): RowFault | undefined;
  /** Counts a row that cannot be used. Undefined when the same line of the suite was reported before. */
  addProblem(row: Row, problem: RowFault): RowProblem | undefined;
  /** Counts a case; false when the run has as many failures as `bail` allows. */
  addCase(record: CaseRecord): boolean;
  /** `fraction`: how much of the dataset has been read. */
  progress(fraction: number | null): SuiteProgress;
  report(end: RunTotals): SuiteReport;
}

interface RunTotals {
  readonly durationMs: number;
  /** Rows that the dataset had, whether or not they were selected. */
  readonly rows: number;
  /** Set when the whole run is void, whatever its cases came to. */
  readonly fault?: RowFault | undefined;
}

/** What is wrong with a row. */
export interface RowFault {
  /** The line of the suite that is wrong, rather than the row; reported once. */
  readonly location?: Pick<SourceLocation, 'file' | 'line'>;
  readonly message: string;
  readonly hint?: string;
}

export interface RunAccumulatorOptions {
  readonly header: RunHeader;
  readonly bail?: number | undefined;
  readonly keepGoing?: boolean | undefined;
}

export function newRunAccumulator(
  suite: Suite,
  { header, bail, keepGoing }: RunAccumulatorOptions,
): RunAccumulator {
  const statsAccumulator = newStatsAccumulator(header.evals, suite.epochs);
  const problems = newBoundedList<RowProblem>(maxListed);
  const failures = newBoundedList<Failure>(maxListed);
  const roleOf = roleLookup(header);
  const tagsSeen = new Set<string>();
  /** The lines of the suite that were reported, and how many more rows failed because of them. */
  const reported = new Set<string>();
  let repeats = 0;
  let [cases, evals, unscored, passed] = [0, 0, 0, 0];
  const isBailed = () => bail !== undefined && cases - passed >= bail;
  return {
    findTagProblem(tags) {
      const unseen = tags.filter((tag) => !tagsSeen.has(tag));
      return unseen.length > 0 && tagsSeen.size + unseen.length > maxTags ? tooManyTags : undefined;
    },
    addProblem({ number, file, line }, { location, ...problem }) {
      const located = { ...(location ?? { file, line }), column: 1, ...problem };
      const isReported = location !== undefined && reported.has(`${location.file}:${location.line}`);
      if (location !== undefined) reported.add(`${location.file}:${location.line}`);
      if (isReported) repeats += 1;
      else problems.add(number, located);
      return isReported ? undefined : located;
    },
    addCase(record) {
      for (const tag of record.tags) tagsSeen.add(tag);
      cases += 1;
      if (record.passed) passed += 1;
      evals += record.results.length;
      unscored += record.results.filter(({ score }) => score === null).length;
      statsAccumulator.add(record);
      for (const [index, failure] of failuresOf(record, roleOf).entries()) {
        failures.add(record.number * (suite.evals.length + 1) + index, failure);
      }
      return !isBailed();
    },
    progress: (fraction) => {
      const { total } = header;
      const failed = failures.count();
      return {
        cases,
        problems: problems.count() + repeats,
        evals,
        failed,
        unscored,
        passed,
        total,
        fraction,
      };
    },
    report({ durationMs, rows, fault }) {
      if (fault !== undefined)
        problems.add(0, { scope: 'run', file: suite.file, line: 1, column: 1, ...fault });
      if (cases + problems.count() === 0) problems.add(-1, nothingToJudge(suite, rows));
      const stats = statsAccumulator.stats();
      const overall = statsAccumulator.overall();
      const gates = judgeGates(suite.gates, overall, stats);
      const hasPassed = gates.length > 0 ? gates.every((gate) => gate.passed) : passed === cases;
      const isVoid = cases === 0 || fault !== undefined;
      const isUnusable = isVoid || (problems.count() > 0 && keepGoing !== true);
      return {
        run_id: header.run_id,
        suite: suite.name,
        status: isUnusable ? 'error' : hasPassed && !isBailed() ? 'passed' : 'failed',
        cases,
        epochs: suite.epochs,
        bailed: isBailed(),
        overall,
        evals: stats,
        gates,
        duration_ms: Math.round(durationMs),
        problems: problems.items(),
        problem_count: problems.count() + repeats,
        failures: failures.items(),
        failure_count: failures.count(),
      };
    },
  };
}

/** How many problems and failures the report lists. */
const maxListed = 20;
/** A tag names a group of cases; one per case would make memory grow with the dataset. */
const maxTags = 10_000;

const tooManyTags: RowFault = {
  message: `tags: there are more than ${maxTags} different tags`,
  hint: 'A tag names a group of cases; what is different in every case belongs into `id`.',
};

/** The problem of a run that judged no case, which must not pass. */
function nothingToJudge({ dataset, file }: Suite, rows: number): RowProblem {
  const path = dataset.kind === 'inline' ? file : dataset.path;
  const location = { scope: 'run', file: path === '-' ? '<stdin>' : path, line: 1, column: 1 } as const;
  if (rows === 0) return { ...location, message: 'the dataset is empty' };
  const message = rows === 1 ? 'its one row was not selected' : `none of its ${rows} rows was selected`;
  return { ...location, message, hint: 'Rows are selected by tags, a filter, a shard and their numbers.' };
}
