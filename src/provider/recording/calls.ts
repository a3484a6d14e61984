import { type FileHandle, open } from 'node:fs/promises';
import { type Place, type ReadAt, readerOf, readPlace, scanLines } from '../../cassette/lines.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import { decodeExchange, type Exchange } from './exchange.ts';

/** The model calls of a recording; what they say stays on the disk. Its methods reject with FILE_UNREADABLE. */
export interface Calls {
  /** The next call of that digest in the order in which they began, each of which is taken once. */
  take(digest: string): Promise<Exchange | undefined>;
  /** Whether there is a call of that digest, taken or not. */
  has(digest: string): boolean;
  /** The first calls of a provider. */
  of(provider: string): Promise<Exchange[]>;
}

/** Finds the calls in a recording. Lines that were cut off, and those of processes, are left out. Throws FILE_UNREADABLE. */
export async function openCalls(file: string): Promise<Calls> {
  const source = await openSource(file);
  const found: Found[] = [];
  let strangers = 0;
  await source.use((read) =>
    scanLines(read, (line, place) => {
      if (isOfProcess(line)) return;
      const exchange = decodeExchange(line.toString('utf8'));
      if (exchange === undefined) strangers += 1;
      else found.push(toFound(exchange, place));
    }),
  );
  if (found.length === 0 && strangers > 0) throw noCalls(file);
  const tapes = groupByDigest(found);
  const readCall = async ({ place }: Found): Promise<Exchange> => {
    const line = await source.use((read) => readPlace(read, place));
    const exchange = decodeExchange(line.toString('utf8'));
    if (exchange === undefined) throw unreadable(file, new Error('it has changed'));
    return exchange;
  };
  return {
    take: async (digest) => {
      const next = tapes.get(digest)?.shift();
      return next && (await readCall(next));
    },
    has: (digest) => tapes.has(digest),
    of: async (provider) => {
      const own = found.filter((each) => each.provider === provider).slice(0, MOST_COMPARED);
      return await Promise.all(own.map(readCall));
    },
  };
}

/** Calls that one which is not found is compared with. */
const MOST_COMPARED = 200;

interface Found extends Pick<Exchange, 'provider' | 'digest' | 'recorder' | 'number'> {
  readonly place: Place;
}

function toFound({ provider, digest, recorder, number }: Exchange, place: Place): Found {
  return { provider, digest, recorder, number, place };
}

/** Of the lines of a cassette, those that are no model calls. */
function isOfProcess(line: Buffer): boolean {
  const head = line.toString('latin1', 0, 12);
  return ['{"blob":', '{"exchange":', '{"cut":'].some((start) => head.startsWith(start));
}

interface Source {
  use<T>(work: (read: ReadAt) => Promise<T>): Promise<T>;
}

/** A file is opened each time that it is read, since nobody tells when it is done with; what comes through a pipe is kept. */
async function openSource(file: string): Promise<Source> {
  const use: Source['use'] = (work) => withFile(file, (handle) => work(readerOf(handle)));
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
    throw unreadable(file, thrown);
  } finally {
    await handle?.close();
  }
}

function unreadable(file: string, thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const message = `the recording ${file} cannot be read: ${toRuntimeError(thrown).message}`;
  return new RuntimeError('FILE_UNREADABLE', message, { cause: thrown });
}

function noCalls(file: string): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file} holds no recorded model call`, {
    hint: 'Make a recording with `--record FILE`.',
  });
}

/** Of each digest in the order in which the calls began. */
function groupByDigest(calls: readonly Found[]): Map<string, Found[]> {
  const groups = new Map<string, Found[]>();
  for (const call of calls.toSorted(inOrder(calls))) {
    const same = groups.get(call.digest);
    if (same === undefined) groups.set(call.digest, [call]);
    else same.push(call);
  }
  return groups;
}

function inOrder(calls: readonly Found[]): (one: Found, other: Found) => number {
  const recorders = new Map<string, number>();
  for (const { recorder } of calls) recorders.set(recorder, recorders.get(recorder) ?? recorders.size);
  const rank = ({ recorder }: Found) => recorders.get(recorder) ?? 0;
  return (one, other) => rank(one) - rank(other) || one.number - other.number;
}
