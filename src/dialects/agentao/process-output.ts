import { endOfString, endOfValue } from '../../base/json/ends.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { scanElements } from '../../base/json/scan.ts';
import type { Reply } from '../../contract/exchange.ts';
import { type Body, decodePrinted, describeExit, malformed, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';

export interface ProcessOutput {
  /** All of stdout, trimmed, with LF line ends. Invalid bytes are replaced, as in Agentao. */
  readonly text: string;
  readonly json: Json | undefined;
  readonly body: Body | undefined;
  readonly exitCode: number | null;
  readonly failure: string | undefined;
  readonly stderr: string;
}

export function readProcessOutput(reply: Reply): ProcessOutput {
  if (reply.via === 'rpc') throw malformed('an Agentao rule is a process, not a server');
  const { exitCode, stderr } = reply;
  const printed = toText(decodePrinted(reply.stdout, { keepsMark: true }).text);
  const json = parse(printed);
  const isText = typeof json?.value === 'string';
  return {
    text: isText ? String(json?.value) : printed,
    json,
    body: json !== undefined && isObject(json.value) ? toBody(json) : undefined,
    exitCode,
    failure: exitCode === 0 ? undefined : describeExit(reply),
    stderr: toText(stderr),
  };
}

function toText(printed: string): string {
  return strip(printed.replaceAll(/\r\n?/g, '\n'));
}

function parse(text: string): Json | undefined {
  try {
    const json = new Json(fromPythonJson(text));
    return json.value === undefined ? undefined : json;
  } catch {
    return undefined;
  }
}

/**
 * Returns whether stdout begins as a JSON object, after byte order marks or as UTF-16 without one, but is not valid.
 */
export function isTruncatedObject({ text, json }: ProcessOutput): boolean {
  return json === undefined && /^(?:\ufeff*|\0)\{/.test(text);
}

export function noteTextBesideJson({ text, body }: ProcessOutput): readonly Note[] {
  if (body !== undefined || !text.split('\n').some((line) => line.trimStart().startsWith('{'))) return [];
  const message =
    'stdout is read as text, although one of its lines looks like a JSON object: print only that object';
  return [{ level: 'warn', message }];
}

/**
 * Possible answers in a stdout that is not one JSON object: lines that are objects, and attachment records in a list.
 */
export function findEmbeddedObjects({ text, json }: ProcessOutput): Body[] {
  if (json === undefined) return objectsInText(text);
  if (!Array.isArray(json.value)) return [];
  return scanElements(json.text)
    .map(({ start, end }) => new Json(json.text.slice(start, end)))
    .filter(({ value }) => isObject(value) && Object.hasOwn(value, 'attachment_type'))
    .map((each) => toBody(each));
}

/** Limits the searches for an object over several lines, since each may scan the whole text. */
const MAX_SEARCHES = 100;

function objectsInText(text: string): Body[] {
  const found: Body[] = [];
  let searches = 0;
  let at = 0;
  while (at < text.length) {
    const start = at + (/^\s*/.exec(lineAt(text, at))?.[0].length ?? 0);
    const line = lineAt(text, at);
    at += line.length + 1;
    if (!text.startsWith('{', start)) continue;
    const body = parseObject(line);
    if (body !== undefined) {
      found.push(body);
      continue;
    }
    searches += 1;
    const end = searches > MAX_SEARCHES ? start : endOfValue(text, start);
    const longer =
      end < at || lineAt(text, end).trim() !== '' ? undefined : parseObject(text.slice(start, end));
    if (longer === undefined) continue;
    found.push(longer);
    at = end + lineAt(text, end).length + 1;
  }
  return found;
}

function lineAt(text: string, from: number): string {
  const end = text.indexOf('\n', from);
  return text.slice(from, end === -1 ? text.length : end);
}

function parseObject(text: string): Body | undefined {
  const json = new Json(fromPythonJson(text.trim()));
  try {
    return isObject(json.value) ? toBody(json) : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces Python's NaN, Infinity and -Infinity by 1e999 and -1e999, so that JSON.parse accepts the text. */
export function fromPythonJson(text: string): string {
  if (!text.includes('NaN') && !text.includes('Infinity')) return text;
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    if (text.charAt(at) === '"') {
      at = endOfString(text, at);
      continue;
    }
    const word = 'NI-'.includes(text.charAt(at)) ? wordAt(text, at) : undefined;
    if (word === undefined) {
      at += 1;
      continue;
    }
    parts.push(text.slice(from, at), word.startsWith('-') ? `-${beyondDoubles}` : beyondDoubles);
    at += word.length;
    from = at;
  }
  return parts.join('') + text.slice(from);
}

const beyondDoubles = '1e999';

function wordAt(text: string, at: number): string | undefined {
  const literal = /(?<![\w.+-])(?:NaN|-?Infinity)(?![\w.+-])/y;
  literal.lastIndex = at;
  return literal.exec(text)?.[0];
}

export function holdsNonFinite(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const each = open.pop();
    if (typeof each === 'number' && !Number.isFinite(each)) return true;
    if (typeof each === 'object' && each !== null) {
      for (const inner of Object.values(each)) open.push(inner);
    }
  }
  return false;
}

/** Trims white space like Python's `str.strip`. A byte order mark stays. */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  if (code >= 0x1c && code <= 0x1f) return true;
  return code === 0x85 || (code !== 0xfeff && /\s/.test(String.fromCharCode(code)));
}
