import type { Reply } from '../../contract/exchange.ts';
import { endOfValue } from '../../json/ends.ts';
import { isObject, Json } from '../../json/json.ts';
import { scanElements } from '../../json/scan.ts';
import { type Body, describeExit, malformed, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import { decodePrinted } from '../printed.ts';
import { fromPythonJson, strip } from './python/loads.ts';

/** The output and exit of a rule's process, before it is interpreted. */
export interface ProcessOutput {
  /** All of stdout, trimmed, its line ends LF; bytes that are no character are replaced, as in Agentao. */
  readonly text: string;
  /** Undefined when stdout is not one JSON value. */
  readonly json: Json | undefined;
  /** Undefined when stdout is not one JSON object. */
  readonly body: Body | undefined;
  /** Null when a signal ended the process. */
  readonly exitCode: number | null;
  /** How it ended badly, as the end of a sentence; undefined for exit code 0. */
  readonly failure: string | undefined;
  readonly stderr: string;
}

/** The output in a reply. Throws REPLY_MALFORMED for the reply of a server. */
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

/** Python's text mode, stripped. */
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

/** Whether stdout begins as a JSON object, perhaps behind byte order marks or in UTF-16 without one, and is none. */
export function isTruncatedObject({ text, json }: ProcessOutput): boolean {
  return json === undefined && /^(?:\ufeff*|\0)\{/.test(text);
}

/** A warning when stdout is read as text although one of its lines begins as a JSON object. */
export function noteTextBesideJson({ text, body }: ProcessOutput): readonly Note[] {
  if (body !== undefined || !text.split('\n').some((line) => line.trimStart().startsWith('{'))) return [];
  const message = 'stdout is read as text, though a line of it begins like a JSON object: print nothing else';
  return [{ level: 'warn', message }];
}

/**
 * What may be an answer in a stdout that is not one JSON object: whole lines of text that are one, and attachment
 * records in a list.
 */
export function findEmbeddedObjects({ text, json }: ProcessOutput): Body[] {
  if (json === undefined) return objectsInText(text);
  if (!Array.isArray(json.value)) return [];
  return scanElements(json.text)
    .map(({ start, end }) => new Json(json.text.slice(start, end)))
    .filter(({ value }) => isObject(value) && Object.hasOwn(value, 'attachment_type'))
    .map((each) => toBody(each));
}

/** The most searches for an object over several lines; each may scan the whole text. */
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
