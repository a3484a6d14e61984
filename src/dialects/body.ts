import { isUtf8 } from 'node:buffer';
import { RuntimeError, type RuntimeErrorOptions, toRuntimeError } from '../base/errors.ts';
import { isObject, Json } from '../base/json/json.ts';
import { jsonHint, tryParse } from '../base/json/parse.ts';
import { type Member, memberOf, scanMembers } from '../base/json/scan.ts';
import { crashLineOf } from '../base/text/crash-line.ts';
import { detectUtf16 } from '../base/text/encoding/utf16.ts';
import { findNearest } from '../base/text/suggest.ts';
import type { ProcessReply, Reply } from '../contract/exchange.ts';
import type { Note } from './dialect.ts';

/** A JSON object from a peer. Its members keep their exact text. */
export interface Body {
  readonly json: Json;
  readonly members: readonly Member[];
  get(key: string): Json | undefined;
}

/**
 * `shape` is the expected shape for the error's hint. Throws REPLY_MALFORMED unless the bytes are exactly one JSON
 * object.
 */
export function readBody(bytes: Uint8Array, shape = 'exactly one JSON object'): Body {
  const text = decodeUtf8(bytes)
    .replace(/^\ufeff/, '')
    .trim();
  if (text === '') {
    throw malformed('the process exited 0 and printed nothing', `Print ${shape} on stdout.`);
  }
  return toBody(new Json(text), () => strayTextHint(text, shape));
}

function readAnswered(bytes: Uint8Array): Body {
  const hint = 'Answer with one JSON object.';
  try {
    return readBody(bytes);
  } catch (thrown) {
    const { details } = toRuntimeError(thrown);
    throw malformed('the body of its answer is not one JSON object in UTF-8', hint, details);
  }
}

export function toBody(json: Json, hint: () => string | undefined = () => undefined): Body {
  let value: unknown;
  try {
    value = json.value;
  } catch {
    throw malformed('stdout is not one JSON object', hint(), { text: excerpt(json.text) });
  }
  if (!isObject(value)) {
    throw malformed('the reply is not a JSON object', hint(), { text: excerpt(json.text) });
  }
  const members = scanMembers(json.text);
  return { json, members, get: (key) => memberOf(json.text, members, key) };
}

export function malformed(
  message: string,
  hint?: string,
  details?: RuntimeErrorOptions['details'],
): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', message, { hint, details });
}

/**
 * Throws PROCESS_EXIT or PROCESS_SIGNAL unless the exit code is 0. The message is the `error` text on stdout, else the
 * exit code or signal and the last line of stderr.
 */
function requireCleanExit(reply: ProcessReply): void {
  if (reply.exitCode === 0) return;
  const how = `the process ${describeExit(reply)}`;
  const lastLine = crashLineOf(reply.stderr);
  const message = ownErrorText(reply.stdout) ?? (lastLine === '' ? how : `${how}: ${lastLine}`);
  throw exitError(reply, message, hintOfExit(reply.exitCode, reply.stderr));
}

export function describeExit({ exitCode, signal }: Pick<ProcessReply, 'exitCode' | 'signal'>): string {
  return signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
}

export function exitError(reply: ProcessReply, message: string, hint?: string): RuntimeError {
  const { exitCode: exit_code, signal, stderr, sandbox } = reply;
  const code = signal === null ? 'PROCESS_EXIT' : 'PROCESS_SIGNAL';
  const boxed = sandbox && { sandbox: { name: sandbox.name, mode: sandbox.mode } };
  const details = { exit_code, signal, stderr, ...boxed };
  return new RuntimeError(code, message, { hint: sandbox?.hint ?? hint, details });
}

/** Throws `code` with the server's message for a JSON-RPC error. */
export function requireResult(
  reply: Exclude<Reply, ProcessReply>,
  code: 'TOOL_ERROR' | 'EVAL_ERROR' = 'TOOL_ERROR',
): Json {
  if (reply.error !== undefined) {
    const message = toBody(reply.error).get('message')?.value;
    const text =
      typeof message === 'string' && message !== ''
        ? message
        : `the server answered ${excerpt(reply.error.text)}`;
    throw new RuntimeError(code, text, { details: { rpc: reply.error } });
  }
  return reply.result ?? new Json('null');
}

/** Throws PROCESS_EXIT, PROCESS_SIGNAL or REPLY_MALFORMED. */
export function readPrinted(reply: ProcessReply, shape?: string): Body {
  requireCleanExit(reply);
  return reply.httpStatus === undefined ? readBody(reply.stdout, shape) : readAnswered(reply.stdout);
}

/** The object in a reply of a process or a server. Throws as `readPrinted` does, and `code` for a JSON-RPC error. */
export function readReply(reply: Reply, code?: 'TOOL_ERROR' | 'EVAL_ERROR', shape?: string): Body {
  return reply.via === 'rpc' ? toBody(requireResult(reply, code)) : readPrinted(reply, shape);
}

export function objectAt(body: Body, key: string): Body | undefined {
  const json = body.get(key);
  return json !== undefined && isObject(json.value) ? toBody(json) : undefined;
}

export function nonNull(json: Json | undefined): Json | undefined {
  return json === undefined || json.text === 'null' ? undefined : json;
}

/** The beginning of a peer's text, for messages and details. */
export function excerpt(text: string): string {
  return text.length > MESSAGE_CHARACTERS ? `${firstCharacters(text)}…` : text;
}

const MESSAGE_CHARACTERS = 500;

function firstCharacters(text: string): string {
  return text.slice(0, MESSAGE_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
}

function ownErrorText(stdout: Uint8Array): string | undefined {
  try {
    const error = readBody(stdout).get('error')?.value;
    return typeof error === 'string' && error !== '' ? error : undefined;
  } catch {
    return undefined;
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  throw malformed(
    `stdout is not UTF-8: byte ${invalidOffset(bytes)} is not part of a character`,
    'Write UTF-8 to stdout.',
  );
}

function strayTextHint(text: string, shape: string): string {
  const objects = text.split('\n').filter((line) => isObject(tryParse(line)));
  return objects.length === 1
    ? 'Only the JSON object belongs on stdout: print the other lines to stderr.'
    : (jsonHint(text) ?? `Print ${shape} on stdout; log to stderr.`);
}

/** Notes each unknown member of a reply. Those that resemble a known key are warnings. */
export function noteUnknownKeys(body: Body, known: readonly string[]): Note[] {
  const unknown = body.members.map(({ key }) => key).filter((key) => !known.includes(key));
  const notes = unknown.slice(0, MAX_NOTES).map((key) => noteUnknownKey(key, known));
  const omitted = unknown.length - notes.length;
  if (omitted > 0)
    notes.push({ level: 'debug', message: `the reply has ${omitted} further unknown members` });
  return notes;
}

/** Further unknown members of a reply are only counted. */
const MAX_NOTES = 20;

function noteUnknownKey(key: string, known: readonly string[]): Note {
  const remark = `the reply's member "${excerpt(key)}" is unknown and ignored`;
  const meant = findNearest(key, known);
  return meant === undefined
    ? { level: 'debug', message: remark }
    : { level: 'warn', message: `${remark}; "${meant}" was probably meant` };
}

/** Returns whether the key occurs more than once in the reply, ignoring letter case. */
export function isAmbiguous(body: Body, key: string): boolean {
  return body.members.filter((member) => member.key.toLowerCase() === key.toLowerCase()).length > 1;
}

interface PrintedText {
  readonly text: string;
  /** Invalid bytes were replaced by U+FFFD. */
  readonly isGarbled: boolean;
}

/**
 * Decodes bytes as UTF-16 if they begin with its byte order mark, as from PowerShell, else as UTF-8. Removes the mark,
 * except that of UTF-8 with `keepsMark`.
 */
export function decodePrinted(
  bytes: Uint8Array,
  { keepsMark = false }: { readonly keepsMark?: boolean } = {},
): PrintedText {
  const form = detectUtf16(bytes);
  if (form === undefined) {
    return {
      text: new TextDecoder('utf-8', { ignoreBOM: keepsMark }).decode(bytes),
      isGarbled: !isUtf8(bytes),
    };
  }
  return { text: new TextDecoder(form).decode(bytes), isGarbled: !isWhole(bytes, form) };
}

function isWhole(bytes: Uint8Array, form: 'utf-16le' | 'utf-16be'): boolean {
  try {
    new TextDecoder(form, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function invalidOffset(bytes: Uint8Array): number {
  let valid = 0;
  let invalid = bytes.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (middle <= bytes.length && wholeCharacters(bytes.subarray(0, middle)) !== undefined) valid = middle;
    else invalid = middle;
  }
  return Buffer.byteLength(wholeCharacters(bytes.subarray(0, valid)) ?? '');
}

function wholeCharacters(prefix: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(prefix, { stream: true });
  } catch {
    return undefined;
  }
}

function hintOfExit(exitCode: number | null, stderr: string): string | undefined {
  // Matches how dash, bash, env and the kernel's loader print a name that ends in a carriage return.
  if (exitCode !== 0 && /\r['’"]?: |\\r['’"]|\^M/.test(stderr)) {
    return 'A script in it has Windows line endings (CRLF), which are read as parts of its commands: save it with LF line endings.';
  }
  if (exitCode === 127) {
    return 'A program that it calls was not found. Processes get PATH and the variables that `env` names; its stderr is in the log.';
  }
  if (exitCode === 126) {
    return 'A program that it calls is not executable: run `chmod +x` on it. Its stderr is in the log.';
  }
  return undefined;
}
