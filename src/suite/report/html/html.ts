import type { CaseRecord, RunHeader } from '../../run/record.ts';
import type { OpenReporter, Reporter, Sink } from '../reporter.ts';
import { detailOf } from './detail.ts';
import { embedLine } from './embed.ts';
import { blockEnd, blockStart, pageEnd, pageStart } from './page-frame.ts';
import { toRow } from './row.ts';
import type { Served } from './served.ts';

/** From this size of the page on, details of passed cases are left out; those of failures stay. */
const LARGEST_PAGE = 64 * 1024 * 1024;

/** Bytes of one data block: a browser reads it as one text, whose length it bounds. */
const LARGEST_BLOCK = 4 * 1024 * 1024;

/** How many problems the page lists; the report has the count of all. */
const MOST_PROBLEMS = 1000;

/** How many ratings of people the page has; nobody gave more by hand. */
const MOST_RATINGS = 100_000;

/** A self-contained HTML page: a list of the cases with their details, and the report of the run. */
export const openHtml: OpenReporter = (sink) => openHtmlUpTo(sink, LARGEST_PAGE);

/** The page as it is served, which asks for details that were left out. */
export function openServedHtml(sink: Sink, served: Served): Reporter {
  return openHtmlUpTo(sink, LARGEST_PAGE, served);
}

/** The reporter with another limit on the bytes of the page, for tests. */
export function openHtmlUpTo(sink: Sink, largestPage: number, served?: Served): Reporter {
  const page = openPage(sink, served);
  let header: RunHeader | undefined;
  let problems = 0;
  let ratings = 0;
  let dropped = 0;
  const detailLine = (record: CaseRecord): string => {
    const detail = detailOf(record);
    if (detail === '') return '';
    const line = `detail ${detail}\n`;
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
      await page.write(embedLine('row', toRow(record, header)) + detailLine(record));
    },
    async onProblem(problem) {
      problems += 1;
      if (problems <= MOST_PROBLEMS) await page.write(embedLine('problem', problem));
    },
    async onRating(rating) {
      ratings += 1;
      if (ratings <= MOST_RATINGS) await page.write(embedLine('rating', rating));
    },
    async end(report) {
      await page.write(embedLine('notice', { dropped }) + embedLine('report', report));
      await page.end();
    },
  };
}

interface Page {
  bytes(): number;
  begin(run: RunHeader): Promise<void>;
  /** Adds whole lines of data. */
  write(lines: string): Promise<void>;
  end(): Promise<void>;
}

function openPage(sink: Sink, served: Served | undefined): Page {
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
      await put(pageStart(run.suite, served !== undefined) + blockStart);
      if (served !== undefined) await write(embedLine('served', served));
      await write(embedLine('header', run));
    },
    write,
    end: () => put(blockEnd + pageEnd),
  };
}
