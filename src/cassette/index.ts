import { RuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';
import { readBlob } from './blob.ts';
import { type Found, openToRead, scanCassette, unreadable } from './contents.ts';
import { type Place, readerOf, readPlace } from './lines.ts';
import { createPlaces, type Places, shorten } from './offsets.ts';
import type { Entry } from './request.ts';

/** The members of a line. */
export type Line = Readonly<Record<string, unknown>>;

/** A cassette that is looked things up in. What it holds stays on the disk. */
export interface Library {
  /** The next exchange of that key in the order in which they began, each of which is taken once. */
  take(key: string): Promise<Line | undefined>;
  /** How many exchanges of that key there are, taken or not. */
  count(key: string): number;
  /** How many exchanges of an entry there are, and the first of them. */
  of(entry: Pick<Entry, 'capability' | 'name'>): { readonly count: number; readonly first: readonly Place[] };
  read(place: Place): Promise<Line>;
  /** The bytes of a blob. */
  fetch(id: string): Promise<Buffer>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Reads where everything stands in a cassette. Its methods throw FILE_UNREADABLE, as this does. */
export async function openLibrary(file: string): Promise<Library> {
  const handle = await openToRead(file);
  const places = createPlaces();
  const blobs = new Map<string, number>();
  const index = createIndex(places);
  try {
    await scanCassette(handle, file, {
      onBlob: (id, place) => blobs.set(shorten(id), places.add(place)),
      onExchange: index.add,
    });
  } catch (thrown) {
    await handle.close();
    throw thrown instanceof RuntimeError ? thrown : unreadable(file, thrown);
  }
  const tapes = index.sorted();
  const read = async (place: Place): Promise<Line> => {
    try {
      const value: unknown = JSON.parse((await readPlace(readerOf(handle), place)).toString('utf8'));
      if (isObject(value)) return value;
    } catch (thrown) {
      throw unreadable(file, thrown);
    }
    throw unreadable(file, new Error('it has changed'));
  };
  return {
    take: async (key) => {
      const tape = tapes.get(shorten(key));
      const next = tape?.takes[tape.taken];
      if (tape === undefined || next === undefined) return undefined;
      tape.taken += 1;
      return await read(places.at(next));
    },
    count: (key) => tapes.get(shorten(key))?.takes.length ?? 0,
    of: (entry) => index.entries.get(entryKey(entry)) ?? { count: 0, first: [] },
    read,
    fetch: async (id) => {
      const place = blobs.get(shorten(id));
      const bytes = place === undefined ? undefined : readBlob(await read(places.at(place)));
      if (bytes === undefined) throw unreadable(file, new Error(`it has no blob ${id}`));
      return bytes;
    },
    close: async () => {
      await handle.close().catch(() => {});
    },
  };
}

/** The exchanges of one key, as the numbers of their places. */
interface Tape {
  readonly takes: number[];
  taken: number;
}

function createIndex(places: Places) {
  const tapes = new Map<string, Tape>();
  const entries = new Map<string, { count: number; readonly first: Place[] }>();
  const recorders = new Map<string, number>();
  /** When the exchange of each place began: which recorder wrote it, and its number there. */
  const began = new Map<number, readonly [recorder: number, number: number]>();
  const inOrder = (one: number, other: number) => {
    const [[left, first], [right, second]] = [began.get(one) ?? [0, 0], began.get(other) ?? [0, 0]];
    return left - right || first - second;
  };
  return {
    entries,
    add: (found: Found) => {
      const recorder = recorders.get(found.recorder) ?? recorders.size;
      recorders.set(found.recorder, recorder);
      const take = places.add(found.place);
      began.set(take, [recorder, found.number]);
      const tape = tapes.get(shorten(found.key));
      if (tape === undefined) tapes.set(shorten(found.key), { takes: [take], taken: 0 });
      else tape.takes.push(take);
      const entry = entries.get(entryKey(found)) ?? { count: 0, first: [] };
      entries.set(entryKey(found), entry);
      entry.count += 1;
      if (entry.first.length < MOST_COMPARED) entry.first.push(found.place);
    },
    sorted: () => {
      for (const tape of tapes.values()) tape.takes.sort(inOrder);
      began.clear();
      return tapes;
    },
  };
}

/** Exchanges of an entry that a request is compared with when it is not found. */
const MOST_COMPARED = 100;

function entryKey({ capability, name }: { readonly capability: string; readonly name: string }): string {
  return `${capability} ${name}`;
}
