import { basename, dirname, extname, join } from 'node:path';
import { type CutLimits, cutValue } from '../../../base/json/cut-value.ts';
import { stringifyJson } from '../../../base/json/json.ts';
import { loadBuilt } from '../../../base/yaml/built.ts';
import type { CaseRecord, RunHeader } from '../../record.ts';
import { outcomeColumns, outcomeRows } from '../document.ts';
import { openFileSink } from '../file-sink.ts';
import { formatDuration } from '../numbers.ts';
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

/** From this size of the page on, details of passed cases are left out; those of failures stay. */
const LARGEST_PAGE = 64 * 1024 * 1024;

/** Bytes of one data block: a browser reads it as one text, whose length it bounds. */
const LARGEST_BLOCK = 4 * 1024 * 1024;

/** How many problems the page lists; the report has the count of all. */
const MOST_PROBLEMS = 1000;

/** How many ratings of people the page has; nobody gave more by hand. */
const MOST_RATINGS = 100_000;

/**
 * A self-contained HTML page: a list of the cases with their details, and the report of the run. Of several suites a page that
 * lists them, and beside it one for each: of `run.html` they are `run.SUITE.html`. Pages get their names when all are done.
 */
export const openHtml: OpenWriter = (sink, { isSeveral, file = '' }) => {
  if (!isSeveral) return { next: () => openHtmlUpTo(sink, LARGEST_PAGE), async end() {} };
  const pages = new Map<string, { readonly name: string; readonly sink: FileSink }>();
  return {
    next({ suite }) {
      let page: Reporter | undefined;
      return {
        // A suite that does not begin has no page.
        async begin(header) {
          // Another name than those that are taken, and one that every system allows.
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

/** The page as it is served, which asks for details that were left out. */
export function openServedHtml(sink: Sink, served: Served): Reporter {
  return openHtmlUpTo(sink, LARGEST_PAGE, served);
}

/** The reporter with another limit on the bytes of the page, for tests. */
export function openHtmlUpTo(sink: Sink, largestPage: number, served?: Served): Reporter {
  let header: RunHeader | undefined;
  let [bytes, block] = [0, 0];
  let [problems, ratings, dropped] = [0, 0, 0];
  const put = async (text: string): Promise<void> => {
    bytes += Buffer.byteLength(text);
    await sink.write(text);
  };
  /** Adds whole lines of data. */
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
      await put(pageStart(run.suite, served !== undefined) + blockStart);
      if (served !== undefined) await write(embedLine('served', served));
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

// The data stands after the script, which is a module and so runs when all of it is read. A page that ends
// early, since its run was aborted, can be viewed, too.

const blockStart = '<script type="text/plain" data-block>\n';
const blockEnd = '</script>\n';
const pageEnd = '</body>\n</html>\n';

/** Everything before the data; a page that is served may ask its server. Throws INTERNAL when the page was not built. */
function pageStart(suite: string, isServed: boolean): string {
  // What rolldown.config.ts makes of page/ and style/.
  const { script, style } = loadBuilt<{ readonly script: string; readonly style: string }>('#report-page');
  const head = pageHead({
    ...{ title: `${escapeHtml(suite)}: eval report`, style, script },
    policy: [
      ...['img-src data:', ...(isServed ? ["connect-src 'self'"] : []), ...closed],
      // Text cannot become markup.
      ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
    ],
  });
  return `${head}<div id="page"><noscript>This report shows itself with JavaScript, which is switched off here.</noscript></div>
<script type="module">${script}</script>
`;
}

/**
 * The details of a case as the page has them, as JSON; empty when they are nested too deeply to be written, or cannot be cut
 * enough. Long texts and lists are cut, the more of them the larger the case is.
 */
export function detailOf(record: CaseRecord): string {
  try {
    for (const limits of CUTS) {
      const { value, cuts } = cutValue(record, limits);
      const json = embedJson(cuts.length === 0 ? value : { ...value, page_cuts: cuts.slice(0, 100) });
      if (json.length <= LARGEST_DETAIL) return json;
    }
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
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

/** The kinds of lines in a data block; each line is its kind, a space and JSON. */
type LineKind = 'header' | 'served' | 'row' | 'detail' | 'problem' | 'rating' | 'notice' | 'report';

/** Writes a value as one line, as `embedJson` does. Throws RangeError when the value is nested too deeply. */
function embedLine(kind: LineKind, value: unknown): string {
  return `${kind} ${embedJson(value)}\n`;
}

/**
 * Writes a value as JSON without line ends that is safe inside a script element: `<` and lone surrogates are
 * escaped. Numbers keep all their digits. Throws RangeError when the value is nested too deeply.
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
