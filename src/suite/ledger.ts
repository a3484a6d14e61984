import { randomUUID } from 'node:crypto';
import { RuntimeError } from '../errors.ts';
import type { Row } from './dataset.ts';
import { newFirsts } from './firsts.ts';
import { judgeGates } from './gates.ts';
import type { Failure, RowProblem, Suite, SuiteProgress, SuiteReport, SuiteResult } from './model.ts';
import { newReducer } from './reduce.ts';

/** What is kept of a run while it goes on: sums, and the first few of what went wrong. */
export interface Ledger {
  /** Throws DATASET_INVALID when these would be too many different tags. */
  admit(tags: readonly string[]): void;
  /** The row cannot be used. */
  refuse(row: Row, problem: { readonly message: string; readonly hint?: string }): void;
  /** The result of the eval that stands at `evalIndex` in the suite. */
  record(row: Row, evalIndex: number, result: SuiteResult): void;
  endCase(): void;
  progress(): SuiteProgress;
  report(durationMs: number): SuiteReport;
}

export function newLedger(suite: Suite): Ledger {
  const reducer = newReducer(suite.evals.map(({ id }) => id));
  const problems = newFirsts<RowProblem>(shown);
  const failures = newFirsts<Failure>(shown);
  const tagsSeen = new Set<string>();
  let [cases, evals, unscored] = [0, 0, 0];
  return {
    admit(tags) {
      const fresh = tags.filter((tag) => !tagsSeen.has(tag));
      if (tagsSeen.size + fresh.length > maxTags) throw tooManyTags();
      for (const tag of fresh) tagsSeen.add(tag);
    },
    refuse({ number, file, line }, problem) {
      problems.add(number, { file, line, column: 1, ...problem });
    },
    record(row, evalIndex, result) {
      evals += 1;
      if (result.outcome.status === 'unscored') unscored += 1;
      reducer.add(result.eval, result.tags, result);
      if (!isFailure(result)) return;
      failures.add(row.number * suite.evals.length + evalIndex, toFailure(result));
    },
    endCase() {
      cases += 1;
    },
    progress: () => ({ cases, evals, failed: failures.count(), unscored }),
    report(durationMs) {
      if (cases + problems.count() === 0) problems.add(0, emptyDataset(suite));
      const stats = reducer.stats();
      const gates = judgeGates(suite.gates, stats);
      const good = gates.length > 0 ? gates.every(({ passed }) => passed) : failures.count() === 0;
      return {
        run_id: randomUUID(),
        suite: suite.name,
        status: problems.count() > 0 ? 'error' : good ? 'passed' : 'failed',
        cases,
        evals: stats,
        gates,
        duration_ms: Math.round(durationMs),
        problems: problems.items(),
        problem_count: problems.count(),
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

function tooManyTags(): RuntimeError {
  const hint = 'A tag names a group of cases; what is different in every case belongs into `id`.';
  return new RuntimeError('DATASET_INVALID', `tags: there are more than ${maxTags} different tags`, { hint });
}

function isFailure({ role, passed }: SuiteResult): boolean {
  return role !== 'metric' && !passed;
}

function toFailure({ case: id, file, line, eval: evalId, outcome }: SuiteResult): Failure {
  const place = { case: id, file, line, eval: evalId };
  return outcome.status === 'scored'
    ? { ...place, score: outcome.score, detail: outcome.detail }
    : { ...place, score: null, detail: outcome.reason };
}

/** A suite without cases must not pass: somebody believes that something was judged. */
function emptyDataset({ dataset, file }: Suite): RowProblem {
  const path = dataset.kind === 'inline' ? file : dataset.path;
  return { file: path === '-' ? '<stdin>' : path, line: 1, column: 1, message: 'the dataset has no rows' };
}
