import { stringifyJson } from '../../base/json/json.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import type { SuiteReport } from '../record.ts';
import { countStatuses, type OpenWriter, writesAtEnd } from './reporter.ts';

export const openJson = writesAtEnd((report, { isSeveral }) => {
  const suites = report.outcomes.map((outcome) => {
    const { suite, file } = outcome;
    if ('error' in outcome) return { file, suite, status: 'error', error: outcome.error };
    const document = toReportDocument(outcome.report);
    return isSeveral ? { file, ...document } : document;
  });
  const { status, durationMs } = report;
  const document = isSeveral
    ? { status, ...countStatuses(report), suites, duration_ms: durationMs }
    : suites[0];
  return `${stringifyJson(document)}\n`;
});

/** The document of `eval run --json`, with members in the documented order. */
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

/**
 * Writes the whole run as JSON Lines while it runs. `openRunFile` reads the file. Several runs follow one another, and
 * the last line is of type `suites`.
 */
export const openJsonl: OpenWriter = (sink, { isSeveral }) => {
  const write = (type: string, members: object): Promise<void> =>
    sink.write(`${stringifyJson({ type, ...members })}\n`);
  return {
    next: () => ({
      begin: (header) => write('run', header),
      onCase: (record) => write('case', record),
      onProblem: (problem) => write('problem', problem),
      onRating: (rating) => write('rating', rating),
      end: (report) => write('report', report),
    }),
    async end({ status, outcomes, durationMs }) {
      if (!isSeveral) return;
      const suites = outcomes.map((outcome) => {
        const { suite, file } = outcome;
        if ('error' in outcome) return { suite, file, status: 'error', error: outcome.error };
        const { run_id, status } = outcome.report;
        return { suite, file, run_id, status };
      });
      await write('suites', { status, suites, duration_ms: durationMs });
    },
  };
};
