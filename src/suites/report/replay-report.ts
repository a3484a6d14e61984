import type { RunSource, RunSummary, SuiteReport } from '../record.ts';
import { summarize } from '../run-accumulator.ts';
import type { Reporter } from './reporter.ts';

/** Reports a stored run as if it ran now. Rethrows errors of the source and the reporter. */
export async function replayReport(source: RunSource, reporter: Reporter): Promise<void> {
  const report = await summarize(source);
  await reporter.begin(source.header);
  for await (const record of source.cases()) await reporter.onCase(record);
  for await (const rating of source.ratings?.() ?? []) await reporter.onRating?.(rating);
  const ofRows = report.problems.filter(({ scope }) => scope !== 'run');
  for (const problem of ofRows) await reporter.onProblem(problem);
  await reporter.end(toReport(report, source.header.file));
}

/** Reporters need a final status: an interrupted run becomes `error`, a shadow `passed`. */
export function toReport({ kind, status, duration_ms: ms, ...rest }: RunSummary, file: string): SuiteReport {
  const report = { ...rest, duration_ms: ms ?? 0 };
  if (status !== 'running' && status !== 'interrupted') return { ...report, status };
  if (kind === 'shadow') return { ...report, status: 'passed' };
  const problems = [{ ...unended, file }, ...rest.problems];
  return { ...report, status: 'error', problems, problem_count: rest.problem_count + 1 };
}

const unended = {
  scope: 'run',
  line: 1,
  column: 1,
  message: 'the run did not finish: these are the cases that were done',
  hint: 'Continue it: signalbox eval run SUITE --resume.',
} as const;
