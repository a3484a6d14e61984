import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeError } from '../../base/errors.ts';
import { systemCode, whyUnreadable } from '../../base/files/file-error.ts';
import { isObject } from '../../base/json/json.ts';
import { fits, members, number, shapeOf, text } from '../../base/json/shape.ts';
import { readBlob } from './blob.ts';
import { type ByteRange, readerOf, scanLines } from './lines.ts';
import type { Entry } from './recorded-request.ts';
import type { FoundExchange } from './replay-queues.ts';

export interface CassetteListener {
  readonly onBlob?: (id: string, place: ByteRange) => void;
  readonly onExchange?: (found: FoundExchange) => void;
}

/** Opens a cassette to read it. Throws FILE_UNREADABLE unless it is a regular file. */
export async function openToRead(file: string): Promise<FileHandle> {
  try {
    // A pipe that nobody writes to would not even open.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (thrown) {
    throw unreadableError(file, thrown);
  }
  throw new RuntimeError('FILE_UNREADABLE', `the cassette ${file} cannot be read: it is no file on a disk`, {
    hint: 'Copy it to a file first.',
  });
}

/** The error of a cassette that cannot be read. */
export function unreadableError(file: string, thrown: unknown): RuntimeError {
  const hint = systemCode(thrown) === 'ENOENT' ? `Make it with \`--record ${file}\` first.` : undefined;
  return new RuntimeError('FILE_UNREADABLE', `the cassette ${file} ${whyUnreadable(thrown)}`, {
    cause: thrown,
    hint,
  });
}

/** The group of an entry's exchanges. */
export function entryKey({
  capability,
  name,
}: {
  readonly capability: string;
  readonly name: string;
}): string {
  return `${capability} ${name}`;
}

/**
 * Scans a whole cassette and reports blobs and exchanges; lines of model calls are skipped. An incomplete
 * line is skipped where a writer was killed: at the end, or before the mark that the next writer set. Throws
 * FILE_UNREADABLE for any other broken line.
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
    if (line.kind === 'of another version') throw versionError(`${file}:${number}`, line.version);
    if (line.kind === 'broken') broken = brokenLineError(file, number);
    else if (line.kind === 'blob') onBlob?.(line.id, place);
    else if (line.kind === 'exchange') onExchange?.({ ...line.exchange, range: place });
  });
}

type CassetteLine =
  | { readonly kind: 'blob'; readonly id: string }
  | { readonly kind: 'exchange'; readonly exchange: Omit<FoundExchange, 'range'> }
  | { readonly kind: 'of another version'; readonly version: number }
  | { readonly kind: 'model call' | 'cut' | 'broken' };

function readLine(bytes: Buffer): CassetteLine {
  const value = parse(bytes);
  if (!isObject(value)) return { kind: 'broken' };
  const { blob, exchange, v, cut } = value;
  if (isDigest(blob) && readBlob(value) !== undefined) return { kind: 'blob', id: blob };
  if (exchange === VERSION) return readExchange(value);
  if (typeof exchange === 'number') return { kind: 'of another version', version: exchange };
  if (v !== undefined) return { kind: 'model call' };
  return { kind: cut === true ? 'cut' : 'broken' };
}

const VERSION = 1;

function readExchange(value: unknown): CassetteLine {
  if (!fits(exchangeShape, value)) return { kind: 'broken' };
  const { key, recorder, number } = value;
  return { kind: 'exchange', exchange: { key, recorder, number, group: entryKey(value) } };
}

const digest = shapeOf(isDigest);

/** What an exchange is found by; the rest of its line is read when it is taken. */
const exchangeShape = members<
  Omit<FoundExchange, 'range' | 'group'> & Pick<Entry, 'name'> & { capability: string }
>({
  key: digest,
  recorder: text,
  number,
  capability: text,
  name: text,
});

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

function brokenLineError(file: string, number: number): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file}:${number} is no line of a cassette`, {
    hint: 'Remove the line, or record again.',
  });
}

/** FILE_UNREADABLE for what another version of Signalbox has recorded. */
export function versionError(where: string, version: number): RuntimeError {
  const message = `${where} is of version ${version} of recordings, and this Signalbox knows version ${VERSION}`;
  return new RuntimeError('FILE_UNREADABLE', message, {
    hint: 'Use the Signalbox that recorded it, or record again.',
  });
}
