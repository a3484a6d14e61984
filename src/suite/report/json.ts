import type { SuiteReport } from '../model.ts';

/** The document that `eval run --json` prints, its members in the documented order. */
export function toReportDocument(report: SuiteReport): Readonly<Record<string, unknown>> {
  const { run_id, suite, status, cases, evals, gates, duration_ms, problems, problem_count } = report;
  const document = { run_id, suite, status, cases, evals, gates, duration_ms };
  return problem_count === 0 ? document : { ...document, problems, problem_count };
}
