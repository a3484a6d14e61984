import { createHash } from 'node:crypto';
import { basename, dirname, extname, join } from 'node:path';
import { type FileSink, openFileSink } from '../file-sink.ts';
import { escapeHtml } from '../html/embed.ts';
import { formatDuration, formatPercent } from '../numbers.ts';
import { reporters } from '../registry.ts';
import type { Reporter } from '../reporter.ts';
import { describeSeveral, type SeveralReport, type SuiteOutcome, statusOf } from './outcome.ts';

/** The page of one suite, beside the page that lists them all. */
interface SuitePage {
  readonly name: string;
  readonly sink: FileSink;
}

/**
 * A page that lists the suites, and beside it one for each: of `run.html` they are `run.SUITE.html`. Pages get their names when
 * all are done.
 */
export function openSeveralHtml(file: string, index: FileSink) {
  const pages = new Map<string, SuitePage>();
  return {
    async next({ suite }: { readonly suite: string }) {
      let page: Reporter | undefined;
      const reporter: Reporter = {
        // A suite that does not begin has no page.
        async begin(header) {
          const name = pageName(file, suite, new Set([...pages.values()].map((each) => each.name)));
          const sink = await openFileSink(join(dirname(file), name), { grows: false });
          pages.set(suite, { name, sink });
          page = reporters.html.open(sink);
          await page.begin(header);
        },
        onCase: async (record) => await page?.onCase(record),
        onProblem: async (problem) => await page?.onProblem(problem),
        end: async (report) => await page?.end(report),
      };
      return reporter;
    },
    async end(report: SeveralReport): Promise<void> {
      await index.write(renderIndex(report, (suite) => pages.get(suite)?.name));
      for (const { sink } of pages.values()) await sink.flush();
    },
    sinks: () => [...pages.values()].map(({ sink }) => sink),
  };
}

/** Another name than those that are taken, and one that every system allows. */
function pageName(file: string, suite: string, taken: ReadonlySet<string>): string {
  const extension = extname(file);
  const stem = basename(file, extension);
  const slug = suite.replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-').slice(0, 60) || 'suite';
  const names = [slug, ...Array.from({ length: taken.size + 1 }, (_, index) => `${slug}-${index + 2}`)];
  const free = names.map((name) => `${stem}.${name}${extension}`).find((name) => !taken.has(name));
  return free ?? `${stem}.${slug}${extension}`;
}

const style = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{margin:2rem auto;max-width:60rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .75rem;border-bottom:1px solid #8885}td.n,th.n{text-align:right}
.passed{color:#187f3c}.failed{color:#c5221f}.error{color:#b06000}@media(prefers-color-scheme:dark){.passed{color:#5fd38a}.failed{color:#ff8a80}.error{color:#ffb74d}}`;

function renderIndex(report: SeveralReport, pageOf: (suite: string) => string | undefined): string {
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const rows = report.outcomes.map((outcome) => rowOf(outcome, pageOf(outcome.suite)));
  const titles = ['suite', 'status', 'cases', 'passed', 'pass rate', 'gates', 'time'];
  const head = titles.map((title, at) => `<th scope="col"${at < 2 ? '' : ' class="n"'}>${title}</th>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>Eval report</title>
<style>${style}</style>
</head>
<body>
<h1 class="${report.status}">${escapeHtml(describeSeveral(report))}</h1>
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

function rowOf(outcome: SuiteOutcome, page: string | undefined): string {
  const status = statusOf(outcome);
  const name = escapeHtml(outcome.suite);
  const link = page === undefined ? name : `<a href="${escapeHtml(encodeURIComponent(page))}">${name}</a>`;
  const first = `<td>${link}</td><td class="${status}">${status}</td>`;
  if ('error' in outcome) {
    const { code, message } = outcome.error;
    return `<tr>${first}<td colspan="5">${escapeHtml(`[${code}] ${message}`)}</td></tr>`;
  }
  const { cases, overall, gates, duration_ms: ms } = outcome.report;
  const met = gates.filter(({ passed }) => passed).length;
  const cells = [
    String(cases),
    String(overall.passed),
    formatPercent(overall.pass_rate),
    gates.length === 0 ? '' : `${met}/${gates.length}`,
    formatDuration(ms),
  ];
  return `<tr>${first}${cells.map((cell) => `<td class="n">${escapeHtml(cell)}</td>`).join('')}</tr>`;
}
