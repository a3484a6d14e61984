import { type FileHandle, open } from 'node:fs/promises';
import { type ByteRange, type ReadAt, readerOf, readRange, scanLines } from '../../cassette/lines.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import { decodeRecordedCall, type RecordedCall } from './recorded-call.ts';

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

/** Finds the calls in a recording. Lines that were cut off, and those of processes, are left out. Throws FILE_UNREADABLE. */
export async function openRecordedCalls(file: string): Promise<RecordedCalls> {
  const source = await openSource(file);
  const found: CallLocation[] = [];
  let unknownLines = 0;
  await source.use((read) =>
    scanLines(read, (line, place) => {
      if (isProcessLine(line)) return;
      const exchange = decodeRecordedCall(line.toString('utf8'));
      if (exchange === undefined) unknownLines += 1;
      else found.push(toCallLocation(exchange, place));
    }),
  );
  if (found.length === 0 && unknownLines > 0) throw noCallsError(file);
  const callsByDigest = groupByDigest(found);
  const readCall = async ({ range }: CallLocation): Promise<RecordedCall> => {
    const line = await source.use((read) => readRange(read, range));
    const exchange = decodeRecordedCall(line.toString('utf8'));
    if (exchange === undefined) throw unreadableError(file, new Error('it has changed'));
    return exchange;
  };
  return {
    take: async (digest) => {
      const next = callsByDigest.get(digest)?.shift();
      return next && (await readCall(next));
    },
    has: (digest) => callsByDigest.has(digest),
    firstOf: async (provider) => {
      const own = found.filter((each) => each.provider === provider).slice(0, MAX_COMPARED);
      return await Promise.all(own.map(readCall));
    },
  };
}

/** How many calls of a provider a call is compared with when it is not found. */
const MAX_COMPARED = 200;

interface CallLocation extends Pick<RecordedCall, 'provider' | 'digest' | 'recorder' | 'number'> {
  readonly range: ByteRange;
}

function toCallLocation(
  { provider, digest, recorder, number }: RecordedCall,
  place: ByteRange,
): CallLocation {
  return { provider, digest, recorder, number, range: place };
}

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

/** The calls of each digest, in the order in which they began. */
function groupByDigest(calls: readonly CallLocation[]): Map<string, CallLocation[]> {
  const groups = new Map<string, CallLocation[]>();
  for (const call of calls.toSorted(inOrder(calls))) {
    const same = groups.get(call.digest);
    if (same === undefined) groups.set(call.digest, [call]);
    else same.push(call);
  }
  return groups;
}

function inOrder(calls: readonly CallLocation[]): (one: CallLocation, other: CallLocation) => number {
  const recorders = new Map<string, number>();
  for (const { recorder } of calls) recorders.set(recorder, recorders.get(recorder) ?? recorders.size);
  const rank = ({ recorder }: CallLocation) => recorders.get(recorder) ?? 0;
  return (one, other) => rank(one) - rank(other) || one.number - other.number;
}
