import { RuntimeError } from '../../../errors.ts';
import { type ReporterSpec, refuseSharedOutputs } from '../delivery.ts';
import { type FileSink, openFileSink } from '../file-sink.ts';
import { type InputFile, refuseOverwriting } from '../input-files.ts';
import type { Reporter, ReporterName, Sink } from '../reporter.ts';
import { openSeveralCsv, openSeveralJson, openSeveralJsonl, openSeveralSarif } from './documents.ts';
import { openSeveralHtml } from './html.ts';
import { openSeveralJunit } from './junit.ts';
import type { OpenSeveralReporter, SeveralReport, SeveralReporter, SuiteName } from './outcome.ts';
import { openSeveralGithub, openSeveralMarkdown, openSeveralTable } from './texts.ts';

/** Reports of several suites in several formats. It must be closed or aborted at the end. */
export interface SeveralDelivery {
  /** The reporter of the next suite, all formats as one. What it cannot write is in `fault`, too. */
  next(suite: SuiteName): Promise<Reporter>;
  /** Why a report cannot be written: then no further suite is worth running. */
  readonly fault: () => unknown;
  end(report: SeveralReport): Promise<void>;
  /** Publishes the files; discards them when `end` was not called. Throws FILE_UNREADABLE. */
  close(): Promise<void>;
  /** Discards the files, except JSON Lines, which keeps what was written. */
  abort(): Promise<void>;
}

const forms: Readonly<Record<Exclude<ReporterName, 'html'>, OpenSeveralReporter>> = {
  table: openSeveralTable,
  json: openSeveralJson,
  jsonl: openSeveralJsonl,
  csv: openSeveralCsv,
  junit: openSeveralJunit,
  markdown: openSeveralMarkdown,
  github: openSeveralGithub,
  sarif: openSeveralSarif,
};

interface Opened {
  readonly reporter: SeveralReporter;
  /** Undefined for stdout. */
  readonly file: FileSink | undefined;
  /** Further files, which are published before it. */
  readonly pages: () => readonly FileSink[];
}

/**
 * Opens one report in each form; each is written as its suites end. Throws USAGE when two would write to the same output, one
 * would overwrite an input, or a page has no file, and FILE_UNREADABLE.
 */
export async function openSeveralDelivery(
  specs: readonly ReporterSpec[],
  { stdout, inputs }: { readonly stdout: Sink; readonly inputs: readonly InputFile[] },
): Promise<SeveralDelivery> {
  refuseSharedOutputs(specs);
  refuseOverwriting(
    specs.flatMap(({ file }) => file ?? []),
    inputs,
  );
  const open: Opened[] = [];
  const state: { fault?: unknown; hasEnded: boolean } = { hasEnded: false };
  const discard = async (): Promise<void> => {
    for (const { reporter, file, pages } of open.splice(0)) {
      reporter.close?.();
      await Promise.allSettled([...pages(), ...(file ? [file] : [])].map((each) => each.discard()));
    }
  };
  const writing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (thrown) {
      state.fault = thrown;
      throw thrown;
    }
  };
  try {
    for (const spec of specs) open.push(await openOne(spec, stdout));
  } catch (thrown) {
    await discard();
    throw thrown;
  }
  return {
    fault: () => state.fault,
    next: (suite) =>
      writing(async () => {
        const own: Reporter[] = [];
        for (const { reporter } of open) own.push(await reporter.next(suite));
        const forEach = (call: (reporter: Reporter) => Promise<void>) =>
          writing(async () => {
            for (const each of own) await call(each);
          });
        return {
          readsCases: own.some((each) => each.readsCases !== false),
          begin: (header) => forEach((each) => each.begin(header)),
          onCase: (record) => forEach((each) => each.onCase(record)),
          onProblem: (problem) => forEach((each) => each.onProblem(problem)),
          end: (report) => forEach((each) => each.end(report)),
        };
      }),
    end: async (report) => {
      const [toFiles, toStdout] = [open.filter(({ file }) => file), open.filter(({ file }) => !file)];
      for (const { reporter, file } of [...toFiles, ...toStdout]) {
        await reporter.end(report);
        await file?.flush();
      }
      state.hasEnded = true;
    },
    close: async () => {
      if (!state.hasEnded) return await discard();
      for (const { reporter, file, pages } of open.splice(0)) {
        reporter.close?.();
        for (const page of pages()) await page.publish();
        await file?.publish();
      }
    },
    abort: discard,
  };
}

async function openOne({ name, file: path }: ReporterSpec, stdout: Sink): Promise<Opened> {
  if (name !== 'html') {
    const file = path === undefined ? undefined : await openFileSink(path, { grows: name === 'jsonl' });
    return { reporter: forms[name](file ?? stdout), file, pages: () => [] };
  }
  if (path === undefined) {
    throw new RuntimeError('USAGE', 'the pages of several suites need a file: html writes one for each', {
      hint: 'Write --reporter html=FILE: FILE lists the suites, their pages stand beside it.',
    });
  }
  const file = await openFileSink(path, { grows: false });
  const { sinks, ...reporter } = openSeveralHtml(path, file);
  return { reporter, file, pages: sinks };
}
