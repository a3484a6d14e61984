import type { Reply } from '../../contract/exchange.ts';
import { isObject, Json } from '../../json/json.ts';
import { type Body, malformed, toBody } from '../body.ts';
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
  const { exitCode, signal, stderr } = reply;
  const printed = toText(decodePrinted(reply.stdout, { keepsMark: true }).text);
  const json = parse(printed);
  const isText = typeof json?.value === 'string';
  const failure = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
  return {
    text: isText ? String(json?.value) : printed,
    json,
    body: json !== undefined && isObject(json.value) ? toBody(json) : undefined,
    exitCode,
    failure: exitCode === 0 ? undefined : failure,
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

/** Whether stdout begins as a JSON object, perhaps behind a byte order mark or in UTF-16 without one, and is none. */
export function isTruncatedObject({ text, json }: ProcessOutput): boolean {
  return json === undefined && ['{', '\ufeff{', '\0{'].some((start) => text.startsWith(start));
}

/** A warning when stdout is read as text although one of its lines begins as a JSON object. */
export function noteTextBesideJson({ text, body }: ProcessOutput): readonly Note[] {
  if (body !== undefined || !text.split('\n').some((line) => line.trimStart().startsWith('{'))) return [];
  const message = 'stdout is read as text, though a line of it begins like a JSON object: print nothing else';
  return [{ level: 'warn', message }];
}
