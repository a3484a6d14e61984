import type { RunSource, RunSummary, SuiteReport } from '../record.ts';
import type { Reporter } from '../report/reporter.ts';
import { summarize } from './summarize.ts';

/** Tells a reporter of a run that is over, or was cut off, as if it happened now. */
export async function retell(source: RunSource, reporter: Reporter): Promise<void> {
  const report = await summarize(source);
  await reporter.begin(source.header);
  for await (const record of source.cases()) await reporter.onCase(record);
  for (const problem of report.problems) await reporter.onProblem(problem);
  await reporter.end(toReport(report));
}

/** Reporters know of runs with an end only: one that was cut off is an error, and a shadow has nothing to fail by. */
function toReport({ kind, status, duration_ms: ms, ...rest }: RunSummary): SuiteReport {
  const isOver = status !== 'running' && status !== 'interrupted';
  const told = isOver ? status : kind === 'shadow' ? 'passed' : 'error';
  return { ...rest, status: told, duration_ms: ms ?? 0 };
}
