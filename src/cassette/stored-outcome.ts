import { catalogue, type ErrorCode, RuntimeError, toFault } from '../errors.ts';
import { isObject, Json, stringifyJson } from '../json/json.ts';
import type { Reply } from '../transport/transport.ts';
import { type Blob, bytesToBlob, textToBlob } from './blob.ts';
import type { Redact } from './recorded-request.ts';

/** How an exchange ended, as a line keeps it, and the texts that it refers to. */
export interface StoredOutcome {
  readonly members: Readonly<Record<string, unknown>>;
  readonly blobs: readonly Blob[];
}

/** Gives the bytes of the blob of that id. */
export type FetchBlob = (id: string) => Promise<Buffer>;

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

/** The reply that a line keeps, byte for byte; throws the fault that it keeps. Undefined for a line of another shape. */
export async function outcomeFromStored(
  { reply, fault }: Readonly<Record<string, unknown>>,
  fetch: FetchBlob,
): Promise<Reply | undefined> {
  if (isObject(fault)) throw await readFault(fault, fetch);
  return isObject(reply) ? await readReply(reply, fetch) : undefined;
}

async function readReply(
  kept: Readonly<Record<string, unknown>>,
  fetch: FetchBlob,
): Promise<Reply | undefined> {
  const { via, exit_code, signal, http_status, stdout, stderr, result, error } = kept;
  if (via === 'rpc') {
    if (typeof result === 'string') return { via, result: await fetchJson(result, fetch) };
    return typeof error === 'string' ? { via, error: await fetchJson(error, fetch) } : undefined;
  }
  if (via !== 'process' || typeof stdout !== 'string' || typeof stderr !== 'string') return undefined;
  if (exit_code !== null && typeof exit_code !== 'number') return undefined;
  if (signal !== null && typeof signal !== 'string') return undefined;
  if (http_status !== undefined && typeof http_status !== 'number') return undefined;
  const stderrText = (await fetch(stderr)).toString('utf8');
  return {
    via,
    exitCode: exit_code,
    signal,
    stdout: await fetch(stdout),
    stderr: stderrText,
    ...(http_status !== undefined && { httpStatus: http_status }),
  };
}

async function fetchJson(id: string, fetch: FetchBlob): Promise<Json> {
  return new Json((await fetch(id)).toString('utf8'));
}

async function readFault(fault: Readonly<Record<string, unknown>>, fetch: FetchBlob): Promise<RuntimeError> {
  const about: unknown = JSON.parse((await fetch(String(fault['about']))).toString('utf8'));
  const { message, hint, details } = isObject(about) ? about : {};
  return new RuntimeError(readCode(fault['code']), String(message), {
    hint: typeof hint === 'string' ? hint : undefined,
    details: isObject(details) ? details : undefined,
  });
}

function readCode(code: unknown): ErrorCode {
  return isErrorCode(code) ? code : 'INTERNAL';
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(catalogue, code);
}
