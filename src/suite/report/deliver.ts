import { resolve } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { type FileSink, openFileSink } from './file-sink.ts';
import { type InputFile, refuseInputs } from './inputs.ts';
import { reporters } from './registry.ts';
import type { Reporter, ReporterName, Sink } from './reporter.ts';

/** A reporter, and the file that it writes; without one it writes to stdout. */
export interface ReporterSpec {
  readonly name: ReporterName;
  readonly file?: string;
}

/** Several reporters as one. In the end it must be closed or aborted. */
export interface Delivery {
  readonly reporter: Reporter;
  /** Puts the files in their places; a run without an end is given up instead. Throws FILE_UNREADABLE. */
  close(): Promise<void>;
  /** Gives the run up: of files that are not done nothing stays, but for JSON Lines. */
  abort(): Promise<void>;
}

export interface DeliveryOptions {
  readonly stdout: Sink;
  /** Files that no report may be written over: what is judged, and what judges it. */
  readonly inputs?: readonly InputFile[];
}

/**
 * Opens reporters, each with its file, which are then told in this order, one after another. Throws USAGE when two
 * of them would write to the same place, or one over an input, and FILE_UNREADABLE.
 */
export async function openDelivery(
  specs: readonly ReporterSpec[],
  { stdout, inputs = [] }: DeliveryOptions,
): Promise<Delivery> {
  refuseSharing(specs);
  refuseInputs(
    specs.flatMap(({ file }) => file ?? []),
    inputs,
  );
  const open = await openAll(specs, stdout);
  const tell = async (say: (reporter: Reporter) => Promise<void>): Promise<void> => {
    for (const { reporter } of open) await say(reporter);
  };
  let hasEnded = false;
  const settle = async (isGood: boolean): Promise<void> => {
    const parts = open.splice(0);
    if (!isGood) for (const { reporter } of parts) reporter.abort?.();
    const files = parts.flatMap(({ file }) => file ?? []);
    const settled = await Promise.allSettled(files.map((file) => (isGood ? file.publish() : file.discard())));
    const failed = settled.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  };
  const reporter: Reporter = {
    begin: (header) => tell((each) => each.begin(header)),
    onCase: (record) => tell((each) => each.onCase(record)),
    onProblem: (problem) => tell((each) => each.onProblem(problem)),
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
    close: () => settle(hasEnded),
    abort: () => settle(false),
  };
}

interface Opened {
  readonly reporter: Reporter;
  readonly file: FileSink | undefined;
}

/** A file that cannot be written is known before stdout says that the run has ended. */
function filesFirst(open: readonly Opened[]): readonly Opened[] {
  return [...open.filter(({ file }) => file !== undefined), ...open.filter(({ file }) => file === undefined)];
}

function refuseSharing(specs: readonly ReporterSpec[]): void {
  const places = specs.map(({ file }) => (file === undefined ? 'stdout' : `the file ${resolve(file)}`));
  const twice = places.find((place, index) => places.indexOf(place) !== index);
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
