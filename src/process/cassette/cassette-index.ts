import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { readBlob } from './blob.ts';
import { type ByteRange, readerOf, readRange } from './lines.ts';
import { createOffsetTable, shortDigest } from './offsets.ts';
import type { Entry } from './recorded-request.ts';
import { createReplayQueues, type ReplayQueues } from './replay-queues.ts';
import { entryKey, openToRead, scanCassette, unreadableError } from './scan.ts';

/** The members of a line. */
type LineMembers = Readonly<Record<string, unknown>>;

/** Finds exchanges and blobs in a cassette. Keeps their offsets only; the contents stay on the disk. */
export interface CassetteIndex extends Pick<ReplayQueues, 'count'> {
  /** The next exchange of that key in the order in which they began, each of which is taken once. */
  take(key: string): Promise<LineMembers | undefined>;
  /** How many exchanges of an entry there are, and the first of them. */
  entry(entry: Pick<Entry, 'capability' | 'name'>): ReturnType<ReplayQueues['group']>;
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
  const queues = createReplayQueues(MAX_COMPARED);
  try {
    await scanCassette(handle, file, {
      onBlob: (id, place) => blobs.set(shortDigest(id), offsets.add(place)),
      onExchange: queues.add,
    });
  } catch (thrown) {
    await handle.close();
    throw thrown instanceof RuntimeError ? thrown : unreadableError(file, thrown);
  }
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
      const place = queues.take(key);
      return place && (await read(place));
    },
    count: queues.count,
    entry: (entry) => queues.group(entryKey(entry)),
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

/** How many exchanges of an entry a request is compared with when it is not found. */
const MAX_COMPARED = 100;
