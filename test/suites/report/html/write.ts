import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { CaseRecord, RunHeader, SuiteReport } from '../../../../src/suites/record.ts';
import { openHtmlUpTo } from '../../../../src/suites/report/html/html.ts';
import type { Run } from './samples.ts';

/** Replaces parts of a sample: generated cases, or no end for a broken run. */
export interface Reported {
  readonly header: RunHeader;
  readonly cases: Iterable<CaseRecord>;
  readonly report?: SuiteReport;
}

export async function writePage(
  file: string,
  run: Run | Reported,
  largestPage = 64 * 2 ** 20,
): Promise<void> {
  const stream = createWriteStream(file);
  const reporter = openHtmlUpTo(
    {
      hasColour: false,
      columns: undefined,
      async write(text) {
        if (!stream.write(text)) await once(stream, 'drain');
      },
    },
    largestPage,
  );
  await reporter.begin(run.header);
  for (const record of run.cases) await reporter.onCase(record);
  for (const problem of run.report?.problems ?? []) await reporter.onProblem(problem);
  if (run.report !== undefined) await reporter.end(run.report);
  stream.end();
  await finished(stream);
}
