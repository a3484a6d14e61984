import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { text as anyText, fits, members, nullOr, number, oneOf, optional } from '../../base/json/shape.ts';
import type { Redact } from '../../contract/scrub.ts';
import { readStoredFault } from '../../contract/stored-fault.ts';
import type { Reply } from '../transport.ts';
import { type Blob, bytesToBlob, textToBlob } from './blob.ts';

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

/**
 * The reply that a line keeps, byte for byte; throws the fault that it keeps. Undefined for a line of another shape.
 * Rejects with FILE_UNREADABLE when a text that it refers to is missing or damaged.
 */
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
