import type { RunSource } from '../record.ts';
import type { Reporter } from '../report/reporter.ts';
import { summarize } from './summarize.ts';

/** Tells a reporter of a run that is over, or was cut off, as if it happened now. */
export async function retell(source: RunSource, reporter: Reporter): Promise<void> {
  const report = await summarize(source);
  await reporter.begin(source.header);
  for await (const record of source.cases()) await reporter.onCase(record);
  for (const problem of report.problems) await reporter.onProblem(problem);
  await reporter.end(report);
}
