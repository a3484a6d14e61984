import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';
import { readBlob } from './blob.ts';
import { type Place, readerOf, scanLines } from './lines.ts';

/** What is told of an exchange while its cassette is looked through. */
export interface Found {
  readonly place: Place;
  readonly key: string;
  readonly recorder: string;
  readonly number: number;
  readonly capability: string;
  readonly name: string;
}

export interface CassetteListener {
  readonly onBlob?: (id: string, place: Place) => void;
  readonly onExchange?: (found: Found) => void;
}

/** Opens a cassette to read it. Throws FILE_UNREADABLE for what is no file on a disk. */
export async function openToRead(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file, 'r');
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (thrown) {
    throw unreadable(file, thrown);
  }
  throw new RuntimeError('FILE_UNREADABLE', `the cassette ${file} cannot be read: it is no file on a disk`, {
    hint: 'Copy it to a file first.',
  });
}

/** The error of a cassette that cannot be read. */
export function unreadable(file: string, thrown: unknown): RuntimeError {
  const message = `the cassette ${file} cannot be read: ${toRuntimeError(thrown).message}`;
  return new RuntimeError('FILE_UNREADABLE', message, { cause: thrown });
}

/**
 * Looks through a whole cassette. Lines of model calls are left to the provider's replay. Half a line is passed over
 * where a writer was killed: at the end, or before the mark that the next writer set. Throws FILE_UNREADABLE for any other broken line.
 */
export async function scanCassette(
  handle: FileHandle,
  file: string,
  { onBlob, onExchange }: CassetteListener,
): Promise<void> {
  let broken: RuntimeError | undefined;
  await scanLines(readerOf(handle), (bytes, place, number) => {
    const line = readLine(bytes);
    if (line.kind === 'cut') broken = undefined;
    if (broken !== undefined) throw broken;
    if (line.kind === 'broken') broken = brokenLine(file, number);
    else if (line.kind === 'blob') onBlob?.(line.id, place);
    else if (line.kind === 'exchange') onExchange?.({ ...line.exchange, place });
  });
}

type Line =
  | { readonly kind: 'blob'; readonly id: string }
  | { readonly kind: 'exchange'; readonly exchange: Omit<Found, 'place'> }
  | { readonly kind: 'model call' | 'cut' | 'broken' };

function readLine(bytes: Buffer): Line {
  const value = parse(bytes);
  if (!isObject(value)) return { kind: 'broken' };
  const { blob, exchange, v, cut } = value;
  if (isDigest(blob) && readBlob(value) !== undefined) return { kind: 'blob', id: blob };
  if (exchange === VERSION) return readExchange(value);
  if (v !== undefined) return { kind: 'model call' };
  return { kind: cut === true ? 'cut' : 'broken' };
}

const VERSION = 1;

function readExchange({ key, recorder, number, capability, name }: Readonly<Record<string, unknown>>): Line {
  if (!isDigest(key) || typeof recorder !== 'string' || typeof number !== 'number') return { kind: 'broken' };
  if (typeof capability !== 'string' || typeof name !== 'string') return { kind: 'broken' };
  return { kind: 'exchange', exchange: { key, recorder, number, capability, name } };
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[\da-f]{64}$/.test(value);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function brokenLine(file: string, number: number): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file}:${number} is no line of a cassette`, {
    hint: 'Remove the line, or record again.',
  });
}
