import type { CaseRecord, RunHeader } from '../../run/record.ts';
import type { OpenReporter, Reporter, Sink } from '../reporter.ts';
import { embedLine } from './embed.ts';
import { toRow } from './row.ts';
import { blockEnd, blockStart, pageEnd, pageStart } from './shell.ts';

/** Bytes from which on the details of passed cases are left out; failures always keep theirs. */
const LARGEST_PAGE = 64 * 1024 * 1024;

/** Bytes of one data block: a browser reads it as one text, whose length it bounds. */
const LARGEST_BLOCK = 4 * 1024 * 1024;

/** Problems are alike; the count of all stands in the report. */
const MOST_PROBLEMS = 1000;

/** One page that needs nothing else: a list of the cases with their details, and what the run came to. */
export const openHtml: OpenReporter = (sink) => openHtmlUpTo(sink, LARGEST_PAGE);

/** The same with another bound on the bytes of the page. */
export function openHtmlUpTo(sink: Sink, largestPage: number): Reporter {
  const page = openPage(sink);
  let header: RunHeader | undefined;
  let problems = 0;
  let dropped = 0;
  const detailOf = (record: CaseRecord): string => {
    const line = embedDetail(record);
    if (!record.passed || page.bytes() + Buffer.byteLength(line) <= largestPage) return line;
    dropped += 1;
    return '';
  };
  return {
    async begin(run) {
      header = run;
      await page.begin(run);
    },
    async onCase(record) {
      if (header === undefined) return;
      await page.write(embedLine('row', toRow(record, header)) + detailOf(record));
    },
    async onProblem(problem) {
      problems += 1;
      if (problems <= MOST_PROBLEMS) await page.write(embedLine('problem', problem));
    },
    async end(report) {
      await page.write(embedLine('notice', { dropped }) + embedLine('report', report));
      await page.end();
    },
  };
}

/** Empty for what is nested so deeply that it cannot be written. */
function embedDetail(record: CaseRecord): string {
  try {
    return embedLine('detail', record);
  } catch (thrown) {
    if (thrown instanceof RangeError) return '';
    throw thrown;
  }
}

interface Page {
  bytes(): number;
  begin(run: RunHeader): Promise<void>;
  /** Adds whole lines of data. */
  write(lines: string): Promise<void>;
  end(): Promise<void>;
}

function openPage(sink: Sink): Page {
  let total = 0;
  let block = 0;
  const put = async (text: string): Promise<void> => {
    total += Buffer.byteLength(text);
    await sink.write(text);
  };
  const write = async (lines: string): Promise<void> => {
    const isFull = block > 0 && block + lines.length > LARGEST_BLOCK;
    block = isFull ? lines.length : block + lines.length;
    await put(isFull ? blockEnd + blockStart + lines : lines);
  };
  return {
    bytes: () => total,
    async begin(run) {
      await put(pageStart(run.suite) + blockStart);
      await write(embedLine('header', run));
    },
    write,
    end: () => put(blockEnd + pageEnd),
  };
}
