import { basename, dirname, extname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type CutLimits, cutValue } from '../../../base/json/cut-value.ts';
import { stringifyJson } from '../../../base/json/json.ts';
import { loadBuilt } from '../../../base/yaml/built.ts';
import type { CaseRecord, RunHeader, RunSource } from '../../record.ts';
import { summarize } from '../../run-accumulator.ts';
import { outcomeColumns, outcomeRows } from '../document.ts';
import { openFileSink } from '../file-sink.ts';
import { formatDuration } from '../numbers.ts';
import { toReport } from '../replay-report.ts';
import {
  describeSeveral,
  type FileSink,
  type OpenWriter,
  type Reporter,
  type SeveralReport,
  type Sink,
} from '../reporter.ts';
import { closed, escapeHtml, pageHead } from './plain.ts';
import { type Served, toRow } from './row.ts';

/** Above this page size, details of passed cases are omitted, but not those of failures. */
const LARGEST_PAGE = 64 * 1024 * 1024;

/** In bytes. A browser reads a data block as one string, whose length is limited. */
const LARGEST_BLOCK = 4 * 1024 * 1024;

/** The report has the total count. */
const MOST_PROBLEMS = 1000;

/** More than people enter by hand. */
const MOST_RATINGS = 100_000;

/**
 * Writes a self-contained HTML page with the report and all cases with details. With several suites, writes an index
 * and one page per suite: `run.SUITE.html` for `run.html`. All pages are published together at the end.
 */
export const openHtml: OpenWriter = (sink, { isSeveral, file = '' }) => {
  if (!isSeveral) return { next: () => openHtmlUpTo(sink, LARGEST_PAGE), async end() {} };
  const pages = new Map<string, { readonly name: string; readonly sink: FileSink }>();
  return {
    next({ suite }) {
      let page: Reporter | undefined;
      return {
        async begin(header) {
          const taken = [...pages.values()].map((each) => each.name);
          const slug = suite.replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-').slice(0, 60) || 'suite';
          const nameOf = (end: string) => `${basename(file, extname(file))}.${slug}${end}${extname(file)}`;
          let name = nameOf('');
          for (let number = 2; taken.includes(name); number += 1) name = nameOf(`-${number}`);
          const own = await openFileSink(join(dirname(file), name), { grows: false });
          pages.set(suite, { name, sink: own });
          page = openHtmlUpTo(own, LARGEST_PAGE);
          await page.begin(header);
        },
        onCase: async (record) => await page?.onCase(record),
        onProblem: async (problem) => await page?.onProblem(problem),
        onRating: async (rating) => await page?.onRating?.(rating),
        end: async (report) => await page?.end(report),
      };
    },
    async end(report) {
      await sink.write(renderIndex(report, (suite) => pages.get(suite)?.name));
      for (const each of pages.values()) await each.sink.flush();
    },
    pages: () => [...pages.values()].map((each) => each.sink),
  };
};

/** For tests: sets the size limit of the page in bytes. */
export function openHtmlUpTo(sink: Sink, largestPage: number): Reporter {
  let header: RunHeader | undefined;
  let [bytes, block] = [0, 0];
  let [problems, ratings, dropped] = [0, 0, 0];
  const put = async (text: string): Promise<void> => {
    bytes += Buffer.byteLength(text);
    await sink.write(text);
  };
  const write = async (lines: string): Promise<void> => {
    const isFull = block > 0 && block + lines.length > LARGEST_BLOCK;
    block = isFull ? lines.length : block + lines.length;
    await put(isFull ? blockEnd + blockStart + lines : lines);
  };
  const detailLine = (record: CaseRecord): string => {
    const detail = detailOf(record);
    if (detail === '') return '';
    const line = `detail ${detail}\n`;
    if (!record.passed || bytes + Buffer.byteLength(line) <= largestPage) return line;
    dropped += 1;
    return '';
  };
  return {
    async begin(run) {
      header = run;
      await put(pageStart(run.suite) + blockStart);
      await write(embedLine('header', run));
    },
    async onCase(record) {
      if (header === undefined) return;
      await write(embedLine('row', toRow(record, header)) + detailLine(record));
    },
    async onProblem(problem) {
      problems += 1;
      if (problems <= MOST_PROBLEMS) await write(embedLine('problem', problem));
    },
    async onRating(rating) {
      ratings += 1;
      if (ratings <= MOST_RATINGS) await write(embedLine('rating', rating));
    },
    async end(report) {
      await write(embedLine('notice', { dropped }) + embedLine('report', report));
      await put(blockEnd + pageEnd);
    },
  };
}

/**
 * The lines of a page that is served, in parts of about 64 KB: those of the data blocks, with the report of an ended run
 * before the cases, and the notice last. With details, those of passed cases are left out above 64 MB.
 */
export async function* streamLines(
  source: RunSource,
  { hasDetails, ...served }: Served & { readonly hasDetails: boolean },
): AsyncGenerator<string> {
  const { header } = source;
  const summaryLines = async () => {
    const summary = await summarize(source);
    const ended = toReport(summary, header.file);
    // That the run did not finish is not known yet.
    const { problems: own, problem_count } = summary;
    const report = isRunning ? { ...ended, problems: own, problem_count } : ended;
    const problems = report.problems.filter(({ scope }) => scope !== 'run').slice(0, MOST_PROBLEMS);
    return [...problems.map((problem) => embedLine('problem', problem)), embedLine('report', report)].join(
      '',
    );
  };
  const isRunning = source.report === undefined && source.status === 'running' && header.kind !== 'shadow';
  let part =
    embedLine('served', { ...served, ...(isRunning && { isRunning }) }) + embedLine('header', header);
  if (source.report !== undefined) part += await summaryLines();
  let [bytes, dropped] = [0, 0];
  for await (const record of source.cases()) {
    // At first without cases: what is above them is shown while the first are read.
    if (bytes === 0 || part.length >= PART) {
      yield part;
      part = '';
      // Stores read without waiting, so that other requests of the server would wait for the whole run.
      await setImmediate();
    }
    const row = embedLine('row', toRow(record, header));
    const detail = hasDetails ? detailOf(record) : '';
    const isKept = detail !== '' && (!record.passed || bytes + detail.length <= LARGEST_PAGE);
    if (detail !== '' && !isKept) dropped += 1;
    const lines = isKept ? `${row}detail ${detail}\n` : row;
    bytes += lines.length;
    part += lines;
  }
  let ratings = 0;
  for await (const rating of source.ratings?.() ?? []) {
    ratings += 1;
    if (ratings <= MOST_RATINGS) part += embedLine('rating', rating);
  }
  if (source.report === undefined) part += await summaryLines();
  yield part + embedLine('notice', { dropped });
}

const PART = 64 * 1024;

// The script is a module and runs after all data is parsed. An incomplete page of an aborted run also works.

const blockStart = '<script type="text/plain" data-block>\n';
const blockEnd = '</script>\n';
const pageEnd = '</body>\n</html>\n';

function pageStart(suite: string): string {
  // rolldown.config.ts builds it from page/ and style/.
  const { script, style } = loadBuilt<{ readonly script: string; readonly style: string }>('#report-page');
  const head = pageHead({
    ...{ title: `${escapeHtml(suite)}: eval report`, style, script },
    policy: [
      ...['img-src data:', ...closed],
      // Strings cannot become markup.
      ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
    ],
  });
  return `${head}<div id="page"><noscript>This report needs JavaScript, which is disabled.</noscript></div>
<script type="module">${script}</script>
`;
}

/**
 * The record of a case with its JSON for a data block, cut more strongly for larger cases. Undefined if it is nested too
 * deeply or cannot be cut enough.
 */
export function cutRecord(
  record: CaseRecord,
): { readonly record: CaseRecord; readonly json: string } | undefined {
  try {
    for (const limits of CUTS) {
      const { value, cuts } = cutValue(record, limits);
      const cut = cuts.length === 0 ? value : { ...value, page_cuts: cuts.slice(0, 100) };
      const json = embedJson(cut);
      if (json.length <= LARGEST_DETAIL) return { record: cut, json };
    }
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  return undefined;
}

function detailOf(record: CaseRecord): string {
  return cutRecord(record)?.json ?? '';
}

const LARGEST_DETAIL = 8 * 1024 * 1024;

/** Each limit is tried if the previous one leaves too much. */
const CUTS: readonly CutLimits[] = [
  { characters: 6_000_000, items: 50_000 },
  { characters: 1_000_000, items: 10_000 },
  { characters: 100_000, items: 1_000 },
  { characters: 10_000, items: 100 },
  { characters: 1_000, items: 20 },
];

/** The line format in data blocks: kind, space, JSON. */
type LineKind = 'header' | 'served' | 'row' | 'detail' | 'problem' | 'rating' | 'notice' | 'report';

function embedLine(kind: LineKind, value: unknown): string {
  return `${kind} ${embedJson(value)}\n`;
}

/**
 * Escapes line ends, `<` and lone surrogates, so that the JSON is safe inside a script element. Numbers keep all
 * digits. Throws RangeError if the value is nested too deeply.
 */
function embedJson(value: unknown): string {
  return stringifyJson(value)
    .replaceAll('<', '\\u003c')
    .replaceAll(/[\r\n]/g, ' ')
    .replaceAll(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

const indexStyle = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{margin:2rem auto;max-width:60rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .75rem;border-bottom:1px solid #8885}td.n,th.n{text-align:right}
.passed{color:#187f3c}.failed{color:#c5221f}.error{color:#b06000}@media(prefers-color-scheme:dark){.passed{color:#5fd38a}.failed{color:#ff8a80}.error{color:#ffb74d}}`;

function renderIndex(report: SeveralReport, pageOf: (suite: string) => string | undefined): string {
  const page = { title: 'Eval report', style: indexStyle, policy: closed, hasColourScheme: false };
  const rows = outcomeRows(report).map(({ suite, status, cells: [, ...cells], fault }) => {
    const [page, name] = [pageOf(suite), escapeHtml(suite)];
    const link = page === undefined ? name : `<a href="${escapeHtml(encodeURIComponent(page))}">${name}</a>`;
    const figures = cells.map((cell) => `<td class="n">${escapeHtml(cell)}</td>`).join('');
    const rest = fault === undefined ? figures : `<td colspan="5">${escapeHtml(fault)}</td>`;
    return `<tr><td>${link}</td><td class="${status}">${status}</td>${rest}</tr>`;
  });
  const head = outcomeColumns.map(
    ({ title }, at) => `<th scope="col"${at < 2 ? '' : ' class="n"'}>${title}</th>`,
  );
  return `${pageHead(page)}<h1 class="${report.status}">${escapeHtml(describeSeveral(report))}</h1>
<p>in ${escapeHtml(formatDuration(report.durationMs))}</p>
<table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</body>
</html>
`;
}
