import { isUtf8 } from 'node:buffer';
import type { ProcessReply, Reply } from '../contract/exchange.ts';
import { RuntimeError, type RuntimeErrorOptions, toRuntimeError } from '../errors.ts';
import { isObject, Json } from '../json/json.ts';
import { jsonHint } from '../json/json-hint.ts';
import { type Member, memberOf, scanMembers } from '../json/scan.ts';
import { tryParse } from '../json/try-parse.ts';
import { crashLineOf } from '../text/crash-line.ts';
import { hintOfExit } from './exit-hint.ts';
import { invalidOffset } from './printed.ts';

/** A JSON object that a peer wrote, with its members as the exact text they had. */
export interface Body {
  readonly json: Json;
  /** In the order of the text, duplicates included. */
  readonly members: readonly Member[];
  /** The last member of that key. */
  get(key: string): Json | undefined;
}

/** Reads the one JSON object that a process printed; `shape` is one for the hint. Throws REPLY_MALFORMED. */
export function readBody(bytes: Uint8Array, shape = 'exactly one JSON object'): Body {
  const text = decodeUtf8(bytes)
    .replace(/^\ufeff/, '')
    .trim();
  if (text === '') {
    throw malformed('the process exited 0 and printed nothing', `Print ${shape} on stdout.`);
  }
  return toBody(new Json(text), () => strayTextHint(text, shape));
}

/** Reads the one JSON object that an endpoint answered with status 200. Throws REPLY_MALFORMED. */
function readAnswered(bytes: Uint8Array): Body {
  const hint = 'Answer with one JSON object.';
  try {
    return readBody(bytes);
  } catch (thrown) {
    const { details } = toRuntimeError(thrown);
    throw malformed('the body of its answer is not one JSON object in UTF-8', hint, details);
  }
}

/** Reads a JSON value as an object. Throws REPLY_MALFORMED. */
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

/** A REPLY_MALFORMED error with that message, hint and details. */
export function malformed(
  message: string,
  hint?: string,
  details?: RuntimeErrorOptions['details'],
): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', message, { hint, details });
}

/**
 * Throws PROCESS_EXIT or PROCESS_SIGNAL unless the process exited with 0. The message is the `error` text on
 * stdout, else the exit code or signal and the last line of stderr.
 */
function requireCleanExit(reply: ProcessReply): void {
  if (reply.exitCode === 0) return;
  const how = `the process ${describeExit(reply)}`;
  const lastLine = crashLineOf(reply.stderr);
  const message = ownErrorText(reply.stdout) ?? (lastLine === '' ? how : `${how}: ${lastLine}`);
  throw exitError(reply, message, hintOfExit(reply.exitCode, reply.stderr));
}

/** How a process ended that did not exit with 0, as the end of a sentence. */
export function describeExit({ exitCode, signal }: Pick<ProcessReply, 'exitCode' | 'signal'>): string {
  return signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
}

/** The PROCESS_EXIT or PROCESS_SIGNAL error of a process that ended badly. */
export function exitError(reply: ProcessReply, message: string, hint?: string): RuntimeError {
  const { exitCode: exit_code, signal, stderr, sandbox } = reply;
  const code = signal === null ? 'PROCESS_EXIT' : 'PROCESS_SIGNAL';
  const boxed = sandbox && { sandbox: { name: sandbox.name, mode: sandbox.mode } };
  const details = { exit_code, signal, stderr, ...boxed };
  return new RuntimeError(code, message, { hint: sandbox?.hint ?? hint, details });
}

/** The result of a server's reply. Throws `code` with the server's message for a JSON-RPC error. */
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

/** What a process that ended well printed. Throws PROCESS_EXIT, PROCESS_SIGNAL, REPLY_MALFORMED. */
export function readPrinted(reply: ProcessReply, shape?: string): Body {
  requireCleanExit(reply);
  return reply.httpStatus === undefined ? readBody(reply.stdout, shape) : readAnswered(reply.stdout);
}

/** The object that is the reply on either wire, of that shape. Throws as `readPrinted` does, and `code` for a JSON-RPC error. */
export function readReply(reply: Reply, code?: 'TOOL_ERROR' | 'EVAL_ERROR', shape?: string): Body {
  return reply.via === 'rpc' ? toBody(requireResult(reply, code)) : readPrinted(reply, shape);
}

/** The member as an object; undefined when it is none. */
export function objectAt(body: Body, key: string): Body | undefined {
  const json = body.get(key);
  return json !== undefined && isObject(json.value) ? toBody(json) : undefined;
}

/** The member, or undefined where it is absent or null. */
export function nonNull(json: Json | undefined): Json | undefined {
  return json === undefined || json.text === 'null' ? undefined : json;
}

/** The first characters of a peer's text, for messages and details. */
export function excerpt(text: string): string {
  return text.length > MESSAGE_CHARACTERS ? `${firstCharacters(text)}…` : text;
}

const MESSAGE_CHARACTERS = 500;

/** The first MESSAGE_CHARACTERS UTF-16 units, without a lone surrogate at the end. */
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
    `stdout is not UTF-8: byte ${invalidOffset(bytes)} belongs to no character`,
    'Write UTF-8 to stdout.',
  );
}

function strayTextHint(text: string, shape: string): string {
  const objects = text.split('\n').filter((line) => isObject(tryParse(line)));
  return objects.length === 1
    ? 'One line is a JSON object, the others are not part of it: log to stderr.'
    : (jsonHint(text) ?? `Print ${shape} on stdout; log to stderr.`);
}
