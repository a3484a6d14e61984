import { stringifyJson } from '../../json/json.ts';
import { omitUndefined } from '../../yaml/present.ts';
import type { SuiteReport } from '../run/record.ts';
import type { OpenReporter } from './reporter.ts';

/** The document of `eval run --json`, on one line. */
export const openJson: OpenReporter = (sink) => ({
  async begin() {},
  readsCases: false,
  async onCase() {},
  async onProblem() {},
  async end(report) {
    await sink.write(`${stringifyJson(toReportDocument(report))}\n`);
  },
});

/** The document that `eval run --json` prints, its members in the documented order. */
export function toReportDocument(report: SuiteReport): Readonly<Record<string, unknown>> {
  const { run_id, suite, status, cases, evals, gates, duration_ms } = report;
  const { overall, epochs, bailed, variants, comparisons, problems, problem_count } = report;
  const more = omitUndefined({
    totals: report.totals,
    spending: report.spending,
    not_judged: report.not_judged,
  });
  const first = { run_id, suite, status, cases, evals, gates, duration_ms, overall, epochs, bailed };
  const matrix = variants && { variants, comparisons };
  const document = { ...first, ...more, ...matrix };
  return problem_count === 0 ? document : { ...document, problems, problem_count };
}
