import { stringifyJson } from '../../../json/json.ts';
import { openCsvTable } from '../csv.ts';
import { toReportDocument } from '../json.ts';
import { openJsonl } from '../jsonl/jsonl.ts';
import type { Reporter } from '../reporter.ts';
import { escapeMessage, openSarifRun, sarifEnd, sarifStart } from '../sarif.ts';
import { countStatuses, type OpenSeveralReporter, type SeveralReport, type SuiteOutcome } from './outcome.ts';

/** The document that `eval run --json` prints of several suites. */
function toSeveralDocument(report: SeveralReport): Readonly<Record<string, unknown>> {
  const suites = report.outcomes.map((outcome) => {
    const { suite, file } = outcome;
    return 'report' in outcome
      ? { file, ...toReportDocument(outcome.report) }
      : { file, suite, status: 'error', error: outcome.error };
  });
  return { status: report.status, ...countStatuses(report), suites, duration_ms: report.durationMs };
}

const silent: Reporter = {
  readsCases: false,
  async begin() {},
  async onCase() {},
  async onProblem() {},
  async end() {},
};

export const openSeveralJson: OpenSeveralReporter = (sink) => ({
  next: async () => silent,
  end: async (report) => await sink.write(`${stringifyJson(toSeveralDocument(report))}\n`),
});

/** The lines of each run, one run after another; the last line is of type `suites`. */
export const openSeveralJsonl: OpenSeveralReporter = (sink) => ({
  next: async () => openJsonl(sink),
  async end({ status, outcomes, durationMs }) {
    const suites = outcomes.map((outcome) => {
      const { suite, file } = outcome;
      if ('error' in outcome) return { suite, file, status: 'error', error: outcome.error };
      const { run_id, status } = outcome.report;
      return { suite, file, run_id, status };
    });
    await sink.write(`${stringifyJson({ type: 'suites', status, suites, duration_ms: durationMs })}\n`);
  },
});

/** The lines of all suites under one line of titles, whose first column is the suite. */
export const openSeveralCsv: OpenSeveralReporter = (sink) => {
  const table = openCsvTable(sink, ['suite']);
  return { next: async ({ suite }) => table.lines([suite]), end: table.end };
};

/** A document with a run for each suite, which code scanning tells apart by its name. */
export const openSeveralSarif: OpenSeveralReporter = (sink) => {
  let begun = 0;
  let unended = '';
  return {
    async next() {
      const run = openSarifRun(sink);
      return {
        ...run,
        async begin(header) {
          await sink.write(`${unended}${begun === 0 ? sarifStart : ','}`);
          begun += 1;
          unended = `\n],"invocations":[{"executionSuccessful":false}],"columnKind":"utf16CodeUnits"}`;
          await run.begin(header);
        },
        async end(report) {
          await run.end(report);
          unended = '';
        },
      };
    },
    async end({ outcomes }) {
      const faults = outcomes.flatMap((outcome) => ('report' in outcome ? [] : [toFaultRun(outcome)]));
      const rest = begun === 0 || faults.length === 0 ? '' : ',';
      await sink.write(
        `${begun === 0 ? sarifStart : unended}${rest}${faults.map((run) => JSON.stringify(run)).join(',')}${sarifEnd}`,
      );
    },
  };
};

/** A run without results, which says why there are none. */
function toFaultRun({ suite, error }: Extract<SuiteOutcome, { error: unknown }>): object {
  const text = escapeMessage(`[${error.code}] ${error.message}`);
  const notification = { level: 'error', message: { text } };
  return {
    tool: { driver: { name: 'signalbox' } },
    automationDetails: { id: `${suite}/` },
    results: [],
    invocations: [{ executionSuccessful: false, toolExecutionNotifications: [notification] }],
  };
}
