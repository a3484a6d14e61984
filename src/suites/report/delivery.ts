import { resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import { openCsv } from './csv.ts';
import { type InputFile, openFileSink, refuseOverwriting } from './file-sink.ts';
import { openGithub } from './github.ts';
import { openJson, openJsonl } from './json.ts';
import { openJunit } from './junit.ts';
import { openMarkdown } from './markdown.ts';
import {
  type FileSink,
  type OpenWriter,
  ofOne,
  type Reporter,
  type ReporterName,
  type ReportWriter,
  reporterNames,
  type SeveralReport,
  type Sink,
  type SuiteName,
} from './reporter.ts';
import { openSarif } from './sarif.ts';
import { openTable } from './terminal/table.ts';

interface ReporterEntry {
  /** One phrase for `--help` and docs/reporters.md. */
  readonly summary: string;
  readonly open: (...args: Parameters<OpenWriter>) => ReportWriter | Promise<ReportWriter>;
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
    open: async (...args) => (await import('./html/html.ts')).openHtml(...args),
    summary: 'one page to look into every case',
  },
};

/** A reporter, and the file that it writes; without one it writes to stdout. */
export interface ReporterSpec {
  readonly name: ReporterName;
  readonly file?: string;
}

/** Reads `name` or `name=file`; the file `-` is stdout. Throws USAGE. */
export function readReporter(text: string): ReporterSpec {
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

/** Several reporters as one. It must be closed or aborted at the end. */
export interface Delivery {
  readonly reporter: Reporter;
  /** Publishes the files; discards them when `end` was not called. Throws FILE_UNREADABLE. */
  close(): Promise<void>;
  /** Discards the files, except JSON Lines, which keeps what was written. */
  abort(): Promise<void>;
}

/** Likewise, of several suites. */
interface SeveralDelivery extends Omit<Delivery, 'reporter'> {
  /** The reporter of the next suite, all formats as one. What it cannot write is in `fault`, too. */
  next(suite: SuiteName): Reporter;
  /** Why a report cannot be written: then no further suite is worth running. */
  readonly fault: () => unknown;
  end(report: SeveralReport): Promise<void>;
}

interface DeliveryOptions {
  readonly stdout: Sink;
  /** Files that no report may overwrite: the suite, its config and its dataset. */
  readonly inputs?: readonly InputFile[];
}

/**
 * Opens reporters, each with its file; they are called in this order, one after another. Throws USAGE when
 * two would write to the same output, or one would overwrite an input, and FILE_UNREADABLE.
 */
export async function openDelivery(
  specs: readonly ReporterSpec[],
  options: DeliveryOptions,
): Promise<Delivery> {
  const { nextOfEach, finish, close, abort } = await openWriters(specs, { ...options, isSeveral: false });
  const own = nextOfEach({ suite: '', file: '' });
  return {
    reporter: { ...asOne(own), end: (report) => finish(ofOne(report), own) },
    close,
    abort,
  };
}

/** Likewise for several suites; each format is written as its suites end. Throws USAGE also where a page has no file. */
export async function openSeveralDelivery(
  specs: readonly ReporterSpec[],
  options: DeliveryOptions,
): Promise<SeveralDelivery> {
  const { nextOfEach, finish, ...rest } = await openWriters(specs, { ...options, isSeveral: true });
  let fault: unknown;
  return {
    fault: () => fault,
    next: (suite) => {
      return asOne(nextOfEach(suite), (thrown) => {
        fault = thrown;
      });
    },
    end: (report) => finish(report, []),
    ...rest,
  };
}

function asOne(reporters: readonly Reporter[], onFault: (thrown: unknown) => void = () => {}): Reporter {
  const forEach = async (call: (reporter: Reporter) => Promise<void> | undefined): Promise<void> => {
    try {
      for (const each of reporters) await call(each);
    } catch (thrown) {
      onFault(thrown);
      throw thrown;
    }
  };
  return {
    readsCases: reporters.some((each) => each.readsCases !== false),
    begin: (header) => forEach((each) => each.begin(header)),
    onCase: (record) => forEach((each) => each.onCase(record)),
    onProblem: (problem) => forEach((each) => each.onProblem(problem)),
    onRating: (rating) => forEach((each) => each.onRating?.(rating)),
    end: (report) => forEach((each) => each.end(report)),
  };
}

interface OpenedWriter {
  readonly writer: ReportWriter;
  /** Undefined for stdout. */
  readonly file: FileSink | undefined;
}

async function openWriters(
  specs: readonly ReporterSpec[],
  { stdout, inputs = [], isSeveral }: DeliveryOptions & { readonly isSeveral: boolean },
) {
  refuseSharedOutputs(specs);
  refuseOverwriting(
    specs.flatMap(({ file }) => file ?? []),
    inputs,
  );
  const open: OpenedWriter[] = [];
  let hasEnded = false;
  const abort = async (): Promise<void> => {
    for (const { writer, file } of open.splice(0)) {
      writer.close?.();
      await Promise.allSettled(
        [...(writer.pages?.() ?? []), ...(file ? [file] : [])].map((each) => each.discard()),
      );
    }
  };
  try {
    for (const { name, file: path } of specs) {
      if (isSeveral && name === 'html' && path === undefined) throw pagesNeedAFile();
      const file = path === undefined ? undefined : await openFileSink(path, { grows: name === 'jsonl' });
      const writer = await reporters[name].open(file ?? stdout, { isSeveral, file: path });
      open.push({ writer, file });
    }
  } catch (thrown) {
    await abort();
    throw thrown;
  }
  return {
    nextOfEach: (suite: SuiteName): Reporter[] => open.map(({ writer }) => writer.next(suite)),
    /** Files first, so that a file that cannot be written fails before stdout reports the end. `own` are the reporters of the only run. */
    async finish(report: SeveralReport, own: readonly Reporter[]): Promise<void> {
      const parts = open.map((part, index) => ({ ...part, reporter: own[index] }));
      for (const { writer, file, reporter } of parts.toSorted((a, b) => Number(!a.file) - Number(!b.file))) {
        for (const outcome of report.outcomes) {
          if ('report' in outcome) await reporter?.end(outcome.report);
        }
        await writer.end(report);
        await file?.flush();
      }
      hasEnded = true;
    },
    async close(): Promise<void> {
      if (!hasEnded) return await abort();
      const failed: unknown[] = [];
      for (const { writer, file } of open.splice(0)) {
        writer.close?.();
        for (const each of [...(writer.pages?.() ?? []), ...(file ? [file] : [])]) {
          await each.publish().catch((thrown) => failed.push(thrown));
        }
      }
      if (failed.length > 0) throw failed[0];
    },
    abort,
  };
}

function refuseSharedOutputs(specs: readonly ReporterSpec[]): void {
  const outputs = specs.map(({ file }) => (file === undefined ? 'stdout' : `the file ${resolve(file)}`));
  const twice = outputs.find((place, index) => outputs.indexOf(place) !== index);
  if (twice === undefined) return;
  throw new RuntimeError('USAGE', `two reporters would write to ${twice}`, {
    hint: 'Give each a file of its own: --reporter NAME=FILE.',
  });
}

function pagesNeedAFile(): RuntimeError {
  return new RuntimeError('USAGE', 'the pages of several suites need a file: html writes one for each', {
    hint: 'Write --reporter html=FILE: FILE lists the suites, their pages stand beside it.',
  });
}
