import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { systemCode, whyUnreadable } from '../../base/files/file-error.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import {
  text as anyText,
  fits,
  members,
  nullOr,
  number,
  oneOf,
  optional,
  shapeOf,
  text,
} from '../../base/json/shape.ts';
import type { Redact } from '../../contract/scrub.ts';
import { readStoredFault } from '../../contract/stored-fault.ts';
import type { Binding } from '../binding.ts';
import type { Message, Reply } from '../transport.ts';
import { type ByteRange, readerOf, scanLines } from './lines.ts';
import type { FoundExchange } from './replay-queues.ts';
import { withoutVolatileFields } from './volatile-fields.ts';

interface CassetteListener {
  readonly onBlob?: (id: string, place: ByteRange) => void;
  readonly onExchange?: (found: FoundExchange) => void;
}

/** Throws FILE_UNREADABLE unless the path is a regular file. */
export async function openToRead(file: string): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK, opening a pipe without a writer blocks.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (thrown) {
    throw unreadableError(file, thrown);
  }
  throw new RuntimeError('FILE_UNREADABLE', `the cassette ${file} cannot be read: it is not a regular file`, {
    hint: 'Copy it to a file first.',
  });
}

export function unreadableError(file: string, thrown: unknown): RuntimeError {
  const hint = systemCode(thrown) === 'ENOENT' ? `Create it with \`--record ${file}\` first.` : undefined;
  return new RuntimeError('FILE_UNREADABLE', `the cassette ${file} ${whyUnreadable(thrown)}`, {
    cause: thrown,
    hint,
  });
}

export function entryKey({
  capability,
  name,
}: {
  readonly capability: string;
  readonly name: string;
}): string {
  return `${capability} ${name}`;
}

/** Throws FILE_UNREADABLE for a broken line, except one that a killed writer left incomplete. */
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
  return new RuntimeError('FILE_UNREADABLE', `${file}:${number} is not a line of a cassette`, {
    hint: 'Remove the line, or record again.',
  });
}

export function versionError(where: string, version: number): RuntimeError {
  const message = `${where} has version ${version} of the recording format, but this Signalbox reads version ${VERSION}`;
  return new RuntimeError('FILE_UNREADABLE', message, {
    hint: 'Use the Signalbox that recorded it, or record again.',
  });
}

/** The id is the SHA-256 of the content's bytes in hexadecimal. */
export interface Blob {
  readonly id: string;
  readonly line: string;
}

export function textToBlob(text: string): Blob {
  const id = createHash('sha256').update(text).digest('hex');
  return { id, line: JSON.stringify({ blob: id, text }) };
}

/** Bytes that are not UTF-8 are searched for secrets byte by byte. */
function bytesToBlob(bytes: Uint8Array, redact: Redact): Blob {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(buffer)) return textToBlob(redact(buffer.toString('utf8')));
  const kept = Buffer.from(redact(buffer.toString('latin1')), 'latin1');
  const id = createHash('sha256').update(kept).digest('hex');
  return { id, line: JSON.stringify({ blob: id, base64: kept.toString('base64') }) };
}

export function readBlob(value: Readonly<Record<string, unknown>>): Buffer | undefined {
  const { text, base64 } = value;
  if (typeof text === 'string') return Buffer.from(text, 'utf8');
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : undefined;
}

export type Entry = Pick<Binding, 'name' | 'capability' | 'dialect' | 'mode' | 'volatileFields'>;

export interface RecordedRequest extends Entry {
  readonly method: string;
  readonly body: string;
  /** The variables of this exchange that are part of its identity; null: a removed variable. */
  readonly env?: Readonly<Record<string, string | null>>;
}

export function describeRequest(
  { name, capability, dialect, mode, volatileFields }: Entry,
  { method, body, env }: Message,
  redact: Redact,
): RecordedRequest {
  const relevantEnv = env && findRelevantEnv(env, redact);
  // The request is sent as UTF-8, which has no lone surrogates.
  const request = {
    ...{ capability, name, dialect, mode, volatileFields, method },
    body: redact(body.toWellFormed()),
  };
  return relevantEnv === undefined ? request : { ...request, env: relevantEnv };
}

/** Omits absolute paths, which differ between machines. */
function findRelevantEnv(
  env: Readonly<Record<string, string | undefined>>,
  redact: Redact,
): Readonly<Record<string, string | null>> | undefined {
  const relevant = Object.entries(env)
    .filter(([, value]) => value === undefined || !isAbsolute(value))
    .map(([key, value]) => [key, value === undefined ? null : redact(value.toWellFormed())] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return relevant.length === 0 ? undefined : Object.fromEntries(relevant);
}

/** Returns the SHA-256 of entry, method, variables and body without volatile fields, in hexadecimal. */
export function digestRequest({
  capability,
  name,
  dialect,
  mode,
  volatileFields,
  method,
  body,
  env,
}: RecordedRequest): string {
  const about = [capability, name, dialect, mode, method, ...(env === undefined ? [] : [env])];
  return createHash('sha256')
    .update(`${JSON.stringify(about)}\n`)
    .update(withoutVolatileFields(body, volatileFields))
    .digest('hex');
}

export interface StoredOutcome {
  readonly members: Readonly<Record<string, unknown>>;
  readonly blobs: readonly Blob[];
}

type FetchBlob = (id: string) => Promise<Buffer>;

export function replyToStored(reply: Reply, redact: Redact): StoredOutcome {
  if (reply.via === 'process') {
    const stdout = bytesToBlob(reply.stdout, redact);
    const stderr = textToBlob(redact(reply.stderr));
    const { exitCode, signal, httpStatus } = reply;
    const kept = {
      via: 'process',
      exit_code: exitCode,
      signal,
      ...(httpStatus !== undefined && { http_status: httpStatus }),
      stdout: stdout.id,
      stderr: stderr.id,
    };
    return { members: { reply: kept }, blobs: [stdout, stderr] };
  }
  const { result, error } = reply;
  const texts = { ...(result && { result }), ...(error && { error }) };
  const kept = Object.entries(texts).map(([key, json]) => ({ key, blob: textToBlob(redact(json.text)) }));
  const ids = Object.fromEntries(kept.map(({ key, blob }) => [key, blob.id]));
  return { members: { reply: { via: 'rpc', ...ids } }, blobs: kept.map(({ blob }) => blob) };
}

export function faultToStored(error: RuntimeError, redact: Redact): StoredOutcome {
  const { code, message, hint, details } = toFault(error);
  const blob = textToBlob(redact(stringifyJson({ message, hint, ...(details && { details }) })));
  return { members: { fault: { code, about: blob.id } }, blobs: [blob] };
}

/** Throws the stored error. Rejects with FILE_UNREADABLE if a text is missing. Returns undefined for another shape. */
export async function outcomeFromStored(
  { reply, fault }: Readonly<Record<string, unknown>>,
  fetch: FetchBlob,
): Promise<Reply | undefined> {
  if (fits(faultLine, fault)) throw await readFault(fault, fetch);
  if (fits(processReply, reply)) {
    const { via, exit_code: exitCode, signal, http_status: httpStatus, stdout, stderr } = reply;
    const stderrText = (await fetch(stderr)).toString('utf8');
    const outputs = { stdout: await fetch(stdout), stderr: stderrText };
    return { via, exitCode, signal, ...outputs, ...(httpStatus !== undefined && { httpStatus }) };
  }
  if (!fits(rpcReply, reply)) return undefined;
  const { via, result, error } = reply;
  if (result !== undefined) return { via, result: await fetchJson(result, fetch) };
  return error === undefined ? undefined : { via, error: await fetchJson(error, fetch) };
}

const processReply = members({
  via: oneOf('process'),
  exit_code: nullOr(number),
  signal: nullOr(anyText),
  http_status: optional(number),
  stdout: anyText,
  stderr: anyText,
});
const rpcReply = members({ via: oneOf('rpc'), result: optional(anyText), error: optional(anyText) });
const faultLine = members({ code: anyText, about: anyText });

async function fetchJson(id: string, fetch: FetchBlob): Promise<Json> {
  const json = new Json((await fetch(id)).toString('utf8'));
  return withDamage(id, () => {
    void json.value;
    return json;
  });
}

async function readFault(
  { code, about }: { readonly code: string; readonly about: string },
  fetch: FetchBlob,
): Promise<RuntimeError> {
  const bytes = await fetch(about);
  return withDamage(about, () => {
    const members: unknown = JSON.parse(bytes.toString('utf8'));
    const fault = readStoredFault({ ...(isObject(members) && members), code });
    return new RuntimeError(fault.code, fault.message, fault);
  });
}

function withDamage<Result>(id: string, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    const why = toRuntimeError(cause).message;
    throw new RuntimeError('FILE_UNREADABLE', `the cassette’s blob ${id} is damaged: ${why}`, {
      hint: 'Record again.',
      cause,
    });
  }
}
