import { resolve } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { type FileSink, openFileSink } from './file-sink.ts';
import { type InputFile, refuseOverwriting } from './input-files.ts';
import { reporters } from './registry.ts';
import type { Reporter, ReporterName, Sink } from './reporter.ts';

/** A reporter, and the file that it writes; without one it writes to stdout. */
export interface ReporterSpec {
  readonly name: ReporterName;
  readonly file?: string;
}

/** Several reporters as one. It must be closed or aborted at the end. */
export interface Delivery {
  readonly reporter: Reporter;
  /** Publishes the files; discards them when `end` was not called. Throws FILE_UNREADABLE. */
  close(): Promise<void>;
  /** Discards the files, except JSON Lines, which keeps what was written. */
  abort(): Promise<void>;
}

export interface DeliveryOptions {
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
  { stdout, inputs = [] }: DeliveryOptions,
): Promise<Delivery> {
  refuseSharedOutputs(specs);
  refuseOverwriting(
    specs.flatMap(({ file }) => file ?? []),
    inputs,
  );
  const open = await openAll(specs, stdout);
  const forEachReporter = async (call: (reporter: Reporter) => Promise<void>): Promise<void> => {
    for (const { reporter } of open) await call(reporter);
  };
  let hasEnded = false;
  const closeFiles = async (isComplete: boolean): Promise<void> => {
    const parts = open.splice(0);
    if (!isComplete) for (const { reporter } of parts) reporter.abort?.();
    const files = parts.flatMap(({ file }) => file ?? []);
    const results = await Promise.allSettled(
      files.map((file) => (isComplete ? file.publish() : file.discard())),
    );
    const failed = results.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  };
  const reporter: Reporter = {
    readsCases: open.some((each) => each.reporter.readsCases !== false),
    begin: (header) => forEachReporter((each) => each.begin(header)),
    onCase: (record) => forEachReporter((each) => each.onCase(record)),
    onProblem: (problem) => forEachReporter((each) => each.onProblem(problem)),
    onRating: (rating) => forEachReporter(async (each) => await each.onRating?.(rating)),
    async end(report) {
      for (const { reporter, file } of filesFirst(open)) {
        await reporter.end(report);
        await file?.flush();
      }
      hasEnded = true;
    },
  };
  return {
    reporter,
    close: () => closeFiles(hasEnded),
    abort: () => closeFiles(false),
  };
}

interface Opened {
  readonly reporter: Reporter;
  readonly file: FileSink | undefined;
}

/**
 * Reporters with files first, so that a file that cannot be written fails before stdout reports the end.
 */
function filesFirst(open: readonly Opened[]): readonly Opened[] {
  return [...open.filter(({ file }) => file !== undefined), ...open.filter(({ file }) => file === undefined)];
}

export function refuseSharedOutputs(specs: readonly ReporterSpec[]): void {
  const outputs = specs.map(({ file }) => (file === undefined ? 'stdout' : `the file ${resolve(file)}`));
  const twice = outputs.find((place, index) => outputs.indexOf(place) !== index);
  if (twice === undefined) return;
  throw new RuntimeError('USAGE', `two reporters would write to ${twice}`, {
    hint: 'Give each a file of its own: --reporter NAME=FILE.',
  });
}

async function openAll(specs: readonly ReporterSpec[], stdout: Sink): Promise<Opened[]> {
  const opened: Opened[] = [];
  try {
    for (const { name, file: path } of specs) {
      const file = path === undefined ? undefined : await openFileSink(path, { grows: name === 'jsonl' });
      opened.push({ reporter: reporters[name].open(file ?? stdout), file });
    }
    return opened;
  } catch (thrown) {
    await Promise.allSettled(opened.map(({ file }) => file?.discard()));
    throw thrown;
  }
}
