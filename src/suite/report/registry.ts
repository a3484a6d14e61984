import { RuntimeError } from '../../errors.ts';
import { suggest } from '../../text/suggest.ts';
import { openCsv } from './csv.ts';
import { openGithub } from './github.ts';
import { openJson } from './json.ts';
import { openJsonl } from './jsonl/jsonl.ts';
import { openJunit } from './junit/junit.ts';
import { openMarkdown } from './markdown.ts';
import { type OpenReporter, type Reporter, type ReporterName, reporterNames } from './reporter.ts';
import { openSarif } from './sarif.ts';
import { openTable } from './terminal/table.ts';

export interface ReporterEntry {
  readonly open: OpenReporter;
  /** One phrase for `--help` and docs/reporters.md. */
  readonly summary: string;
}

export const reporters: Readonly<Record<ReporterName, ReporterEntry>> = {
  table: { open: openTable, summary: 'scores, gates and first failures, to read on a terminal' },
  json: { open: openJson, summary: 'what the run came to, as one JSON document' },
  jsonl: { open: openJsonl, summary: 'everything, as it comes: a JSON document on each line' },
  csv: { open: openCsv, summary: 'a line for each case and eval, for spreadsheets' },
  junit: { open: openJunit, summary: 'XML for the test view of a CI server' },
  markdown: { open: openMarkdown, summary: 'a comment for a pull request, or a job summary' },
  github: { open: openGithub, summary: 'annotations of a pull request on GitHub' },
  sarif: { open: openSarif, summary: 'failures as findings, for code scanning' },
  html: {
    open: lazyReporter(async () => (await import('./html/html.ts')).openHtml),
    summary: 'one page to look into every case',
  },
};

/** Reads `name` or `name=file`; the file `-` is stdout. Throws USAGE. */
export function readReporter(text: string): { readonly name: ReporterName; readonly file?: string } {
  const at = text.indexOf('=');
  const word = at === -1 ? text : text.slice(0, at);
  const name = reporterNames.find((known) => known === word);
  if (name === undefined) {
    const { hint } = suggest(word, reporterNames, 'reporters');
    throw new RuntimeError('USAGE', `there is no reporter "${word}"`, { hint });
  }
  const file = at === -1 ? '-' : text.slice(at + 1);
  if (file === '') {
    throw new RuntimeError('USAGE', `--reporter ${text} names no file`, {
      hint: `Write ${name}=FILE, or ${name}.`,
    });
  }
  return file === '-' ? { name } : { name, file };
}

/** A reporter whose code is loaded on its first call. */
function lazyReporter(load: () => Promise<OpenReporter>): OpenReporter {
  return (sink) => {
    let loading: Promise<Reporter> | undefined;
    const get = (): Promise<Reporter> => {
      loading ??= load().then((open) => open(sink));
      return loading;
    };
    return {
      begin: async (header) => (await get()).begin(header),
      onCase: async (record) => (await get()).onCase(record),
      onProblem: async (problem) => (await get()).onProblem(problem),
      onRating: async (rating) => (await get()).onRating?.(rating),
      end: async (report) => (await get()).end(report),
    };
  };
}
