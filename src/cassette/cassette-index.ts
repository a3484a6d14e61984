import { RuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';
import { readBlob } from './blob.ts';
import { type ByteRange, readerOf, readRange } from './lines.ts';
import { createOffsetTable, type OffsetTable, shortDigest } from './offsets.ts';
import type { Entry } from './recorded-request.ts';
import { type FoundExchange, openToRead, scanCassette, unreadableError } from './scan.ts';

/** The members of a line. */
export type LineMembers = Readonly<Record<string, unknown>>;

/** Finds exchanges and blobs in a cassette. Keeps their offsets only; the contents stay on the disk. */
export interface CassetteIndex {
  /** The next exchange of that key in the order in which they began, each of which is taken once. */
  take(key: string): Promise<LineMembers | undefined>;
  /** How many exchanges of that key there are, taken or not. */
  count(key: string): number;
  /** How many exchanges of an entry there are, and the first of them. */
  entry(entry: Pick<Entry, 'capability' | 'name'>): {
    readonly count: number;
    readonly first: readonly ByteRange[];
  };
  read(place: ByteRange): Promise<LineMembers>;
  /** The bytes of a blob. */
  readBlob(id: string): Promise<Buffer>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Indexes the lines of a cassette. Rejects with FILE_UNREADABLE, as the methods do. */
export async function openCassetteIndex(file: string): Promise<CassetteIndex> {
  const handle = await openToRead(file);
  const offsets = createOffsetTable();
  const blobs = new Map<string, number>();
  const builder = createIndexBuilder(offsets);
  try {
    await scanCassette(handle, file, {
      onBlob: (id, place) => blobs.set(shortDigest(id), offsets.add(place)),
      onExchange: builder.add,
    });
  } catch (thrown) {
    await handle.close();
    throw thrown instanceof RuntimeError ? thrown : unreadableError(file, thrown);
  }
  const queues = builder.sorted();
  const read = async (place: ByteRange): Promise<LineMembers> => {
    try {
      const value: unknown = JSON.parse((await readRange(readerOf(handle), place)).toString('utf8'));
      if (isObject(value)) return value;
    } catch (thrown) {
      throw unreadableError(file, thrown);
    }
    throw unreadableError(file, new Error('it has changed'));
  };
  return {
    take: async (key) => {
      const queue = queues.get(shortDigest(key));
      const next = queue?.exchanges[queue.takenCount];
      if (queue === undefined || next === undefined) return undefined;
      queue.takenCount += 1;
      return await read(offsets.get(next));
    },
    count: (key) => queues.get(shortDigest(key))?.exchanges.length ?? 0,
    entry: (entry) => builder.entries.get(entryKey(entry)) ?? { count: 0, first: [] },
    read,
    readBlob: async (id) => {
      const place = blobs.get(shortDigest(id));
      const bytes = place === undefined ? undefined : readBlob(await read(offsets.get(place)));
      if (bytes === undefined) throw unreadableError(file, new Error(`it has no blob ${id}`));
      return bytes;
    },
    close: async () => {
      await handle.close().catch(() => {});
    },
  };
}

/** The exchanges of one key, as their numbers in the offset table, and how many are taken. */
interface ExchangeQueue {
  readonly exchanges: number[];
  takenCount: number;
}

function createIndexBuilder(offsets: OffsetTable) {
  const queues = new Map<string, ExchangeQueue>();
  const entries = new Map<string, { count: number; readonly first: ByteRange[] }>();
  const recorders = new Map<string, number>();
  /** When each exchange began, by its number in the offset table: its recorder, and its number there. */
  const order = new Map<number, readonly [recorder: number, number: number]>();
  const inOrder = (one: number, other: number) => {
    const [[firstRecorder, first], [secondRecorder, second]] = [
      order.get(one) ?? [0, 0],
      order.get(other) ?? [0, 0],
    ];
    return firstRecorder - secondRecorder || first - second;
  };
  return {
    entries,
    add: (found: FoundExchange) => {
      const recorder = recorders.get(found.recorder) ?? recorders.size;
      recorders.set(found.recorder, recorder);
      const position = offsets.add(found.range);
      order.set(position, [recorder, found.number]);
      const tape = queues.get(shortDigest(found.key));
      if (tape === undefined) queues.set(shortDigest(found.key), { exchanges: [position], takenCount: 0 });
      else tape.exchanges.push(position);
      const entry = entries.get(entryKey(found)) ?? { count: 0, first: [] };
      entries.set(entryKey(found), entry);
      entry.count += 1;
      if (entry.first.length < MAX_COMPARED) entry.first.push(found.range);
    },
    sorted: () => {
      for (const tape of queues.values()) tape.exchanges.sort(inOrder);
      order.clear();
      return queues;
    },
  };
}

/** How many exchanges of an entry a request is compared with when it is not found. */
const MAX_COMPARED = 100;

function entryKey({ capability, name }: { readonly capability: string; readonly name: string }): string {
  return `${capability} ${name}`;
}
