import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { RuntimeError } from '../base/errors.ts';
import { whyUnreadable } from '../base/files/file-error.ts';
import { nearFileHint } from '../base/files/paths.ts';
import { isObject, Json, parseLossless } from '../base/json/json.ts';
import { jsonHint } from '../base/json/parse.ts';
import type { Invocation } from './invocation.ts';

/** Reads option values. Only one of them may be stdin. */
export interface Input {
  /** The value itself, `@FILE` for a file's content, or `-` for stdin. Throws FILE_UNREADABLE, USAGE, ABORTED. */
  text(option: string, value: string): Promise<string>;
  /** A JSON object with its long numbers intact. Throws USAGE if the value is not one. */
  object(option: string, value: string): Promise<Readonly<Record<string, unknown>>>;
  /** Any JSON value, byte for byte. Throws USAGE if the value is not JSON. */
  json(option: string, value: string): Promise<Json>;
}

export function openInput(invocation: Invocation): Input {
  let stdinTaker: string | undefined;
  const text = async (option: string, value: string) => {
    if (value.startsWith('@')) return readTextFile(option, value.slice(1));
    if (value !== '-') return value;
    if (stdinTaker !== undefined)
      throw new RuntimeError('USAGE', `${stdinTaker} has already read stdin, so ${option} cannot`, {
        hint: 'Give one of them a file: @FILE.',
      });
    stdinTaker = option;
    return decode(option, 'stdin', await readStdin(option, invocation));
  };
  return {
    text,
    object: async (option, value) => parseObject(option, await text(option, value)),
    json: async (option, value) => parseJson(option, await text(option, value)),
  };
}

/** Throws FILE_UNREADABLE if the file of an option cannot be opened. Call it before any work. */
export function requireFile(option: string, file: string): void {
  try {
    closeSync(openSync(file, 'r'));
  } catch (error) {
    throw unreadable(option, file, error);
  }
}

/** Throws USAGE. */
export function readNumber(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number))
    throw new RuntimeError('USAGE', `${option} must be a number, not "${value}"`, {
      hint: `Write it like ${option} 4.`,
    });
  return number;
}

/** Reads a whole number of at least `least`. Throws USAGE. */
export function readWhole(option: string, value: string | undefined, least = 1): number | undefined {
  const number = readNumber(option, value);
  if (number === undefined || (Number.isSafeInteger(number) && number >= least)) return number;
  throw new RuntimeError('USAGE', `${option} must be a whole number from ${least}, not "${value}"`);
}

/** In milliseconds. Throws USAGE with the examples. */
export async function readDuration(option: string, value: string, examples: string): Promise<number> {
  // A resident reads one for each event, and an import takes a while even if the module is loaded.
  parse ??= (await import('../runtime/runtime.ts')).parseDuration;
  const ms = parse(value);
  if (ms !== undefined) return ms;
  throw new RuntimeError('USAGE', `${option} must be a duration, not "${value}"`, {
    hint: `Write it like ${examples}.`,
  });
}

let parse: ((text: string) => number | undefined) | undefined;

/** In milliseconds; zero selects everything that has ended. Throws USAGE. */
export async function readAge(option: string, value: string): Promise<number> {
  if (/^\+?(?:0+(?:\.0*)?(?:ms|s|m|h|d))+$/.test(value)) return 0;
  return await readDuration(option, value, '90s, 15m, 12h or 30d');
}

/** Reads a date, in UTC by default, or an age. Throws USAGE. */
export async function readTime(option: string, value: string): Promise<Date> {
  const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(value)
    ? new Date(value)
    : undefined;
  if (date !== undefined && !Number.isNaN(date.getTime())) return date;
  const { parseDuration } = await import('../runtime/runtime.ts');
  const ms = parseDuration(value);
  if (ms !== undefined) return new Date(Date.now() - ms);
  throw new RuntimeError('USAGE', `${option} must be a time, not "${value}"`, {
    hint: 'Write it like 24h, 2026-01-31 or 2026-01-31T12:00Z.',
  });
}

/** Reads NAME=VALUE options. Throws USAGE. */
export function readLabels(given: readonly string[] | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const labels = new Map<string, string>();
  for (const label of given) {
    const end = label.indexOf('=');
    if (end < 1) {
      throw new RuntimeError('USAGE', `--label must be NAME=VALUE, not "${label}"`, {
        hint: 'Write it like --label order=A-17.',
      });
    }
    const name = label.slice(0, end);
    if (labels.has(name)) throw new RuntimeError('USAGE', `duplicate --label ${name}`);
    labels.set(name, label.slice(end + 1));
  }
  return Object.fromEntries(labels);
}

async function readStdin(option: string, { signal, stdin }: Invocation): Promise<Buffer> {
  try {
    // `buffer` of node:stream/consumers takes several times as long, by way of a Blob.
    return Buffer.concat(await Array.fromAsync(addAbortSignal(signal, stdin)));
  } catch (error) {
    if (signal.aborted) throw new RuntimeError('ABORTED', `${option}: reading from stdin was cancelled`);
    throw unreadable(option, 'stdin', error);
  }
}

function readTextFile(option: string, file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw unreadable(option, file, error);
  }
  return decode(option, file, bytes);
}

function unreadable(option: string, source: string, cause: unknown): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${option}: ${source} ${whyUnreadable(cause)}`, {
    cause,
    hint: nearFileHint(source),
  });
}

/** Removes the byte order mark that some editors add. */
function decode(option: string, source: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RuntimeError('USAGE', `${option}: ${source} is not UTF-8`);
  }
}

/** Keeps the bytes of the JSON text; messages call it `option`. Throws USAGE. */
export function parseJson(option: string, text: string): Json {
  const json = new Json(text.trim());
  try {
    void json.value;
    return json;
  } catch (error) {
    const hint = isFileName(json.text)
      ? wanted(option, json.text)
      : 'Put a text into quotation marks: \'"like this"\'.';
    throw new RuntimeError('USAGE', `${option} is not JSON: ${reasonOf(error)}`, { hint, cause: error });
  }
}

function parseObject(option: string, text: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = parseLossless(text);
  } catch (error) {
    throw new RuntimeError('USAGE', `${option} is not JSON: ${reasonOf(error)}`, {
      hint: wanted(option, text),
    });
  }
  if (!isObject(parsed) || JSON.isRawJSON(parsed))
    throw new RuntimeError('USAGE', `${option} is not a JSON object`, { hint: wanted(option, text) });
  return parsed;
}

/** The option's syntax; a text that may be a file name gets an `@`. */
export function wanted(option: string, text: string): string {
  return isFileName(text)
    ? `To read the file, write ${option} @${text.trim()}.`
    : (jsonHint(text) ?? `Give ${option} a JSON object, @FILE or - for stdin.`);
}

function isFileName(text: string): boolean {
  const name = text.trim();
  return /^[^\s{}[\]"]{1,200}$/.test(name) && (/[./]/.test(name) || existsSync(name));
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
