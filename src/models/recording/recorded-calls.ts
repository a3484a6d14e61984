import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { type ByteRange, type ReadAt, readerOf, readRange, scanLines } from '../../process/cassette/lines.ts';
import { createReplayQueues } from '../../process/cassette/replay-queues.ts';
import type { RecordedCall } from './model-call.ts';
import { decodeRecordedCall } from './recorded-call.ts';

/**
 * The model calls of a recording, by offset; contents stay on the disk. Methods reject with FILE_UNREADABLE.
 */
export interface RecordedCalls {
  /** The next call of that digest in the order in which they began, each of which is taken once. */
  take(digest: string): Promise<RecordedCall | undefined>;
  /** Whether there is a call of that digest, taken or not. */
  has(digest: string): boolean;
  /** The first calls of a provider. */
  firstOf(provider: string): Promise<RecordedCall[]>;
}

/**
 * Finds the calls in a recording. Lines that were cut off, and those of processes, are left out. Throws
 * FILE_UNREADABLE, also for a call that is damaged or of another version.
 */
export async function openRecordedCalls(file: string): Promise<RecordedCalls> {
  const source = await openSource(file);
  const queues = createReplayQueues(MAX_COMPARED);
  let foundLines = 0;
  let unknownLines = 0;
  await source.use((read) =>
    scanLines(read, (line, range, lineNumber) => {
      if (isProcessLine(line)) return;
      const call = decodeRecordedCall(line.toString('utf8'), `${file}:${lineNumber}`);
      if (call === undefined) {
        unknownLines += 1;
        return;
      }
      foundLines += 1;
      const { digest: key, recorder, number, provider: group } = call;
      queues.add({ range, key, recorder, number, group });
    }),
  );
  if (foundLines === 0 && unknownLines > 0) throw noCallsError(file);
  const readCall = async (range: ByteRange): Promise<RecordedCall> => {
    const line = await source.use((read) => readRange(read, range));
    const call = decodeRecordedCall(line.toString('utf8'), file);
    if (call === undefined) throw unreadableError(file, new Error('it has changed'));
    return call;
  };
  return {
    take: async (digest) => {
      const next = queues.take(digest);
      return next && (await readCall(next));
    },
    has: (digest) => queues.count(digest) > 0,
    firstOf: async (provider) => await Promise.all(queues.group(provider).first.map(readCall)),
  };
}

/** How many calls of a provider a call is compared with when it is not found. */
const MAX_COMPARED = 200;

/** Whether a cassette line is not a model call. */
function isProcessLine(line: Buffer): boolean {
  const head = line.toString('latin1', 0, 12);
  return ['{"blob":', '{"exchange":', '{"cut":'].some((start) => head.startsWith(start));
}

interface RecordingSource {
  use<T>(work: (read: ReadAt) => Promise<T>): Promise<T>;
}

/**
 * Opens a file anew for each read, since a model is never closed; the content of a pipe is kept in memory.
 */
async function openSource(file: string): Promise<RecordingSource> {
  const use: RecordingSource['use'] = (work) => withFile(file, (handle) => work(readerOf(handle)));
  const piped = await withFile(file, async (handle) =>
    (await handle.stat()).isFile() ? undefined : await handle.readFile(),
  );
  return piped === undefined ? { use } : { use: (work) => work(readerOf(piped)) };
}

async function withFile<T>(file: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    return await work(handle);
  } catch (thrown) {
    throw unreadableError(file, thrown);
  } finally {
    await handle?.close();
  }
}

function unreadableError(file: string, thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const message = `the recording ${file} cannot be read: ${toRuntimeError(thrown).message}`;
  return new RuntimeError('FILE_UNREADABLE', message, { cause: thrown });
}

function noCallsError(file: string): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file} holds no recorded model call`, {
    hint: 'Make a recording with `--record FILE`.',
  });
}
