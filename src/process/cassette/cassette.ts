import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { RuntimeError } from '../../base/errors.ts';
import type { Redact } from '../../contract/scrub.ts';
import type { Transport } from '../transport.ts';
import { openCassetteIndex } from './cassette-index.ts';
import {
  type ExchangeRecorder,
  type ExchangeRecorderContext,
  openExchangeRecorder,
} from './exchange-recorder.ts';
import type { Entry } from './recorded-request.ts';
import { createReplayTransport } from './replay-transport.ts';

/** The files that the exchanges of a runtime go to and come from. */
export interface CassetteOptions {
  /** Every exchange is added to this file. */
  readonly record?: string | undefined;
  /** Every exchange is answered from this file, and no process is started. */
  readonly replay?: string | undefined;
  /** Entries and providers that are really called in spite of `replay`. */
  readonly live?: readonly string[] | undefined;
}

export interface CassetteContext extends ExchangeRecorderContext {
  /** Every name that `live` may contain. */
  readonly names: readonly string[];
}

/** Records or replays the exchanges between the entries of a runtime and their processes. */
export interface Cassette {
  /**
   * An entry's transport, recorded or replayed; `open` is not called when it is replayed. For an entry that
   * is only notified (`isNotifyOnly`), a miss does not count.
   */
  wrap(binding: Entry, open: () => Transport, isToldOnly?: boolean): Transport;
  /** Whether the entry or provider of that name is really called in spite of the replay. */
  isLive(name: string): boolean;
  /** Takes secrets out of recorded model calls. */
  readonly redact: Redact;
  /** Counts a model call that was not found. */
  readonly onMiss: () => void;
  /** How many requests were not found in the replayed cassette. */
  misses(): number;
  /** Resolves when what was recorded so far is in the file, to why it is not: FILE_UNREADABLE. Never rejects. */
  findRecordingFault(): Promise<Error | undefined>;
  /** Writes pending lines and closes the files. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the files, before anything is started. Throws FILE_UNREADABLE, NAME_UNKNOWN for a `live` that is no entry, and
 * USAGE for one file in both places and a `live` without `replay`.
 */
export async function openCassette(options: CassetteOptions, context: CassetteContext): Promise<Cassette> {
  const { record, replay, live = [] } = options;
  await validateOptions(options, context.names);
  const index = replay === undefined ? undefined : await openCassetteIndex(replay);
  const recorder = await openOptionalRecorder(record, context, async () => index?.close());
  let misses = 0;
  const onMiss = () => {
    misses += 1;
  };
  const isLive = (name: string) => live.includes(name);
  const { redact } = context;
  return {
    wrap: (binding, open, isNotifyOnly = false) => {
      const source =
        index === undefined || isLive(binding.name)
          ? open()
          : createReplayTransport(binding, {
              index,
              redact,
              onMiss: isNotifyOnly ? () => {} : onMiss,
            });
      return recorder?.wrap(binding, source) ?? source;
    },
    isLive,
    redact,
    onMiss,
    misses: () => misses,
    findRecordingFault: async () => await recorder?.findFault(),
    close: async () => {
      await Promise.all([recorder?.close(), index?.close()]);
    },
  };
}

async function validateOptions(
  { record, replay, live = [] }: CassetteOptions,
  names: readonly string[],
): Promise<void> {
  if (replay === undefined && live.length > 0) {
    throw new RuntimeError('USAGE', 'without a replay everything is live already', {
      hint: 'Name a cassette with --replay FILE, or leave --live away.',
    });
  }
  const unknownName = live.find((name) => !names.includes(name));
  if (unknownName !== undefined) {
    throw new RuntimeError('NAME_UNKNOWN', `there is no entry "${unknownName}" that could be live`, {
      hint: `known entries: ${names.join(', ')}`,
    });
  }
  if (record !== undefined && replay !== undefined && (await isSameFile(record, replay))) {
    throw new RuntimeError('USAGE', `the cassette ${record} cannot be recorded while it is replayed`, {
      hint: 'Record into another file.',
    });
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [left, right] = [await statOf(one), await statOf(other)];
  return left !== undefined && left.dev === right?.dev && left.ino === right.ino;
}

/** Undefined where the file does not exist or cannot be read. */
async function statOf(file: string): Promise<Stats | undefined> {
  return await stat(file).catch(() => undefined);
}

async function openOptionalRecorder(
  file: string | undefined,
  context: ExchangeRecorderContext,
  onFailure: () => Promise<void> | undefined,
): Promise<ExchangeRecorder | undefined> {
  if (file === undefined) return undefined;
  try {
    return await openExchangeRecorder(file, context);
  } catch (thrown) {
    await onFailure();
    throw thrown;
  }
}
