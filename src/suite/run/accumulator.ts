import type { Row } from '../dataset/rows.ts';
import type { Suite, SuiteProgress } from '../file/model.ts';
import { failuresOf, openRoles } from '../report/outcome.ts';
import { newReducer } from '../stats/reducer.ts';
import { newFirsts } from './bounded-list.ts';
import { judgeGates } from './gates.ts';
import type { CaseRecord, Failure, RowProblem, RunHeader, SuiteReport } from './record.ts';

/** What is kept of a run while it goes on: sums, and the first few of what went wrong. */
export interface Ledger {
  /** Why a case with these tags cannot be used: there would be too many different ones. */
  findTagProblem(tags: readonly string[]): RowFault | undefined;
  /** The row cannot be used. Undefined when why has been told already, as what is wrong with the suite. */
  refuse(row: Row, problem: RowFault): RowProblem | undefined;
  /** False when that was one failure too many. */
  record(record: CaseRecord): boolean;
  /** `fraction`: how much of the dataset has been read. */
  progress(fraction: number | null): SuiteProgress;
  report(end: RunEnd): SuiteReport;
}

export interface RunEnd {
  readonly durationMs: number;
  /** Rows that the dataset had, whether or not they were selected. */
  readonly rows: number;
  /** Something that makes the whole run void. */
  readonly fault?: RowFault | undefined;
}

/** What is wrong with a row. */
export interface RowFault {
  /** Where the suite is to blame, which is told once. */
  readonly place?: { readonly file: string; readonly line: number };
  readonly message: string;
  readonly hint?: string;
}

export interface LedgerOptions {
  readonly header: RunHeader;
  readonly bail?: number | undefined;
  readonly keepGoing?: boolean | undefined;
}

export function newLedger(suite: Suite, { header, bail, keepGoing }: LedgerOptions): Ledger {
  const reducer = newReducer(header.evals, suite.epochs);
  const problems = newFirsts<RowProblem>(shown);
  const failures = newFirsts<Failure>(shown);
  const roleOf = openRoles(header);
  const tagsSeen = new Set<string>();
  /** Where the suite is to blame, and how many more rows that has cost. */
  const told = new Set<string>();
  let untold = 0;
  let [cases, evals, unscored, passed] = [0, 0, 0, 0];
  const isBailed = () => bail !== undefined && cases - passed >= bail;
  return {
    findTagProblem(tags) {
      const fresh = tags.filter((tag) => !tagsSeen.has(tag));
      return fresh.length > 0 && tagsSeen.size + fresh.length > maxTags ? tooManyTags : undefined;
    },
    refuse({ number, file, line }, { place, ...problem }) {
      const located = { ...(place ?? { file, line }), column: 1, ...problem };
      const isTold = place !== undefined && told.has(`${place.file}:${place.line}`);
      if (place !== undefined) told.add(`${place.file}:${place.line}`);
      if (isTold) untold += 1;
      else problems.add(number, located);
      return isTold ? undefined : located;
    },
    record(record) {
      for (const tag of record.tags) tagsSeen.add(tag);
      cases += 1;
      if (record.passed) passed += 1;
      evals += record.results.length;
      unscored += record.results.filter(({ score }) => score === null).length;
      reducer.add(record);
      for (const [index, failure] of failuresOf(record, roleOf).entries()) {
        failures.add(record.number * (suite.evals.length + 1) + index, failure);
      }
      return !isBailed();
    },
    progress: (fraction) => {
      const { total } = header;
      const failed = failures.count();
      return { cases, problems: problems.count() + untold, evals, failed, unscored, passed, total, fraction };
    },
    report({ durationMs, rows, fault }) {
      if (fault !== undefined)
        problems.add(0, { scope: 'run', file: suite.file, line: 1, column: 1, ...fault });
      if (cases + problems.count() === 0) problems.add(-1, nothingToJudge(suite, rows));
      const stats = reducer.stats();
      const overall = reducer.overall();
      const gates = judgeGates(suite.gates, overall, stats);
      const isGood = gates.length > 0 ? gates.every((gate) => gate.passed) : passed === cases;
      const isVoid = cases === 0 || fault !== undefined;
      const isUnusable = isVoid || (problems.count() > 0 && keepGoing !== true);
      return {
        run_id: header.run_id,
        suite: suite.name,
        status: isUnusable ? 'error' : isGood && !isBailed() ? 'passed' : 'failed',
        cases,
        epochs: suite.epochs,
        bailed: isBailed(),
        overall,
        evals: stats,
        gates,
        duration_ms: Math.round(durationMs),
        problems: problems.items(),
        problem_count: problems.count() + untold,
        failures: failures.items(),
        failure_count: failures.count(),
      };
    },
  };
}

/** Of problems and failures, as many as a person reads. */
const shown = 20;
/** A tag names a group of cases; one per case would make memory grow with the dataset. */
const maxTags = 10_000;

const tooManyTags: RowFault = {
  message: `tags: there are more than ${maxTags} different tags`,
  hint: 'A tag names a group of cases; what is different in every case belongs into `id`.',
};

/** A suite without cases must not pass: somebody believes that something was judged. */
function nothingToJudge({ dataset, file }: Suite, rows: number): RowProblem {
  const path = dataset.kind === 'inline' ? file : dataset.path;
  const place = { scope: 'run', file: path === '-' ? '<stdin>' : path, line: 1, column: 1 } as const;
  if (rows === 0) return { ...place, message: 'the dataset is empty' };
  const message = rows === 1 ? 'its one row was not selected' : `none of its ${rows} rows was selected`;
  return { ...place, message, hint: 'Rows are selected by tags, a filter, a shard and their numbers.' };
}
