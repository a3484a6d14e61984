import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { RuntimeError } from '../errors.ts';
import type { Transport } from '../transport/transport.ts';
import { openLibrary } from './index.ts';
import { openRecorder, type Recorder, type RecorderContext } from './record.ts';
import { replayTransport } from './replay.ts';
import type { Entry, Redact } from './request.ts';

/** The files that the exchanges of a runtime go to and come from. */
export interface CassetteOptions {
  /** Every exchange is added to this file. */
  readonly record?: string | undefined;
  /** Every exchange is answered from this file, and no process is started. */
  readonly replay?: string | undefined;
  /** Entries and providers that are asked for real in spite of `replay`. */
  readonly live?: readonly string[] | undefined;
}

export interface CassetteContext extends RecorderContext {
  /** All that `live` may name. */
  readonly names: readonly string[];
}

/** Stands between the entries of a runtime and their processes. */
export interface Cassette {
  /**
   * An entry's transport, recorded or replayed; `open` is not called for what is replayed. Of an entry that is only
   * told things, a miss does not count.
   */
  wrap(binding: Entry, open: () => Transport, isToldOnly?: boolean): Transport;
  /** Whether what has that name is asked for real in spite of the replay. */
  isLive(name: string): boolean;
  /** What the recorder of model calls takes out of them. */
  readonly redact: Redact;
  /** Counts a model call that was not found. */
  readonly onMiss: () => void;
  /** How many requests were not found: a run with any has proved nothing. */
  misses(): number;
  /** Writes what is left. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the files, before anything is started. Throws FILE_UNREADABLE, NAME_UNKNOWN for a `live` that is no entry, and
 * USAGE for one file in both places and a `live` without `replay`.
 */
export async function openCassette(options: CassetteOptions, context: CassetteContext): Promise<Cassette> {
  const { record, replay, live = [] } = options;
  await requireSense(options, context.names);
  const library = replay === undefined ? undefined : await openLibrary(replay);
  const recorder = await openRecorderOr(record, context, async () => library?.close());
  let misses = 0;
  const onMiss = () => {
    misses += 1;
  };
  const isLive = (name: string) => live.includes(name);
  const { redact } = context;
  return {
    wrap: (binding, open, isToldOnly = false) => {
      const source =
        library === undefined || isLive(binding.name)
          ? open()
          : replayTransport(binding, {
              library,
              redact,
              onMiss: isToldOnly ? () => {} : onMiss,
            });
      return recorder?.wrap(binding, source) ?? source;
    },
    isLive,
    redact,
    onMiss,
    misses: () => misses,
    close: async () => {
      await Promise.all([recorder?.close(), library?.close()]);
    },
  };
}

async function requireSense(
  { record, replay, live = [] }: CassetteOptions,
  names: readonly string[],
): Promise<void> {
  if (replay === undefined && live.length > 0) {
    throw new RuntimeError('USAGE', 'without a replay everything is live already', {
      hint: 'Name a cassette with --replay FILE, or leave --live away.',
    });
  }
  const stranger = live.find((name) => !names.includes(name));
  if (stranger !== undefined) {
    throw new RuntimeError('NAME_UNKNOWN', `there is no entry "${stranger}" that could be live`, {
      hint: `known entries: ${names.join(', ')}`,
    });
  }
  if (record !== undefined && replay !== undefined && (await areSame(record, replay))) {
    throw new RuntimeError('USAGE', `the cassette ${record} cannot be recorded while it is replayed`, {
      hint: 'Record into another file.',
    });
  }
}

async function areSame(one: string, other: string): Promise<boolean> {
  const [left, right] = [await statOf(one), await statOf(other)];
  return left !== undefined && left.dev === right?.dev && left.ino === right.ino;
}

/** Undefined where there is none, or nobody may look. */
async function statOf(file: string): Promise<Stats | undefined> {
  return await stat(file).catch(() => undefined);
}

async function openRecorderOr(
  file: string | undefined,
  context: RecorderContext,
  onFailure: () => Promise<void> | undefined,
): Promise<Recorder | undefined> {
  if (file === undefined) return undefined;
  try {
    return await openRecorder(file, context);
  } catch (thrown) {
    await onFailure();
    throw thrown;
  }
}
