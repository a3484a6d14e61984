import { type CutLimits, cutValue } from '../../../json/cut-value.ts';
import type { CaseRecord, RunHeader } from '../../run/record.ts';
import type { OpenReporter, Reporter, Sink } from '../reporter.ts';
import { embedLine } from './embed.ts';
import { blockEnd, blockStart, pageEnd, pageStart } from './page-frame.ts';
import { toRow } from './row.ts';

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

/** The reporter with another limit on the bytes of the page, for tests. */
export function openHtmlUpTo(sink: Sink, largestPage: number): Reporter {
  const page = openPage(sink);
  let header: RunHeader | undefined;
  let problems = 0;
  let ratings = 0;
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

/** The line with the details of a case; empty when they are nested too deeply to be written. */
function embedDetail(record: CaseRecord): string {
  try {
    return embedBounded(record);
  } catch (thrown) {
    if (thrown instanceof RangeError) return '';
    throw thrown;
  }
}

/** The details with long texts and lists cut, the more of them the larger the case is; empty when that does not make them small enough. */
function embedBounded(record: CaseRecord): string {
  for (const limits of CUTS) {
    const { value, cuts } = cutValue(record, limits);
    const line = embedLine('detail', cuts.length === 0 ? value : { ...value, page_cuts: cuts.slice(0, 100) });
    if (line.length <= LARGEST_DETAIL) return line;
  }
  return '';
}

/** Characters of the details of one case. */
const LARGEST_DETAIL = 8 * 1024 * 1024;

/** How a case is cut: each limit is tried where the one before leaves too much. */
const CUTS: readonly CutLimits[] = [
  { characters: 6_000_000, items: 50_000 },
  { characters: 1_000_000, items: 10_000 },
  { characters: 100_000, items: 1_000 },
  { characters: 10_000, items: 100 },
  { characters: 1_000, items: 20 },
];

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
