import { isUtf8 } from 'node:buffer';
import { isObject, type Json } from '../../base/json/json.ts';
import { type Member, memberOf, scanMembers } from '../../base/json/scan.ts';
import { JsonTokens } from '../../base/json/tokens.ts';

/** The request line, newline included. */
export function encodeRequest(id: number, method: string, body: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${quote(method)},"params":${body}}\n`;
}

/** The line of a notification, which has no id and gets no reply; newline included. */
export function encodeNotification(method: string, body: string): string {
  return `{"jsonrpc":"2.0","method":${quote(method)},"params":${body}}\n`;
}

function quote(method: string): string {
  return method === 'execute' ? '"execute"' : JSON.stringify(method);
}

/** Reads one line, without its newline. Never throws. */
export function readLine(bytes: Uint8Array): ServerLine {
  if (!isUtf8(bytes)) {
    const id = findRequestId(bytes);
    return id === undefined
      ? { kind: 'noise', why: 'not UTF-8' }
      : { kind: 'malformed', id, why: 'the reply is not UTF-8' };
  }
  if (isPlainlyNoJson(bytes)) return { kind: 'noise', why: 'not JSON' };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'noise', why: 'not JSON' };
  }
  if (Array.isArray(value)) return readBatch(value);
  return isObject(value) ? readMessage(text, value) : { kind: 'noise', why: 'not a JSON object' };
}

function readBatch(elements: readonly unknown[]): ServerLine {
  const ids = elements.filter(isObject).map(({ id }) => integerId(id));
  return { kind: 'batch', ids: ids.filter((id) => id !== undefined) };
}

function readMessage(text: string, value: Readonly<Record<string, unknown>>): ServerLine {
  const { id } = value;
  const names = Object.keys(value).map((key) => key.toLowerCase());
  const answers = names.includes('result') || names.includes('error');
  if ('method' in value && !answers) {
    const { method } = value;
    return {
      kind: 'request',
      method: typeof method === 'string' ? excerptOf(method) : 'a method without a name',
    };
  }
  const members = scanMembers(text);
  const duplicate = findDuplicateKeys(text, members);
  if (duplicate !== undefined) return duplicate;
  if (id === undefined && names.includes('id')) return readMiscasedId(text, members);
  if (id === undefined || id === null)
    return answers ? { kind: 'anonymous' } : { kind: 'noise', why: 'neither id, result nor error' };
  if (typeof id !== 'number' || !Number.isInteger(id)) return readMistypedId(id);
  return readReply(text, members, { id, versioned: value['jsonrpc'] === '2.0' });
}

function readReply(
  text: string,
  members: readonly Member[],
  { id, versioned }: { readonly id: number; readonly versioned: boolean },
): ServerLine {
  const result = memberOf(text, members, 'result');
  const error = memberOf(text, members, 'error');
  if (error !== undefined && error.text !== 'null') {
    return error.text.startsWith('{')
      ? { kind: 'reply', id, error, ...(result && { ignoredResult: result }), versioned }
      : {
          kind: 'malformed',
          id,
          why: 'the reply’s error is not an object',
          text: excerptOf(error.text),
          problem: 'error_type',
        };
  }
  if (result === undefined) {
    const why = 'the reply has neither result nor error';
    // A key in other letters may have carried an answer, which nothing here has read.
    const hasMiscasedKey = members.some(({ key }) => key !== 'error' && /^(result|error)$/i.test(key));
    return {
      kind: 'malformed',
      id,
      why,
      text: excerptOf(text),
      ...(!hasMiscasedKey && { problem: 'no_result' }),
    };
  }
  return { kind: 'reply', id, result, versioned };
}

/**
 * Whether a line cannot be JSON, told by its first and its last character. A parser that throws costs far more, and a server may write a
 * million lines a second that are none.
 */
export function isPlainlyNoJson(bytes: Uint8Array): boolean {
  let start = 0;
  let end = bytes.length - 1;
  while (start <= end && isBlank(bytes[start])) start += 1;
  while (end > start && isBlank(bytes[end])) end -= 1;
  if (start > end) return true;
  const first = bytes[start] ?? 0;
  const last = bytes[end] ?? 0;
  if (first === MINUS || isDigit(first)) return !isDigit(last);
  return closing.get(first) !== last;
}

/** The last character of what begins with the first: objects, lists, texts, true, false, null. */
const closing: ReadonlyMap<number, number> = new Map(
  ['{}', '[]', '""', 'te', 'fe', 'nl'].map((ends) => [ends.charCodeAt(0), ends.charCodeAt(1)]),
);

/** Source: RFC 8259, section 2: the blanks of JSON. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

const MINUS = 0x2d;

/** Refuses duplicate keys, in any letter case: JSON leaves open which of two counts. Undefined without any. */
function findDuplicateKeys(text: string, members: readonly Member[]): ServerLine | undefined {
  const ids = members
    .filter(({ key }) => key.toLowerCase() === 'id')
    .map(({ start, end }) => parseId(text.slice(start, end)));
  const named = [...new Set(ids)].filter((id) => id !== undefined);
  const counted = ['result', 'error'].map((word) => ({
    word,
    count: members.filter(({ key }) => key.toLowerCase() === word).length,
  }));
  const { word } = [{ word: 'id', count: ids.length }, ...counted].find(({ count }) => count > 1) ?? {};
  if (word === undefined || named.length === 0) return undefined;
  const hint = 'Give `id`, and `result` or `error`, once each and in small letters.';
  return { kind: 'twice', ids: named, why: `the reply gives its \`${word}\` twice`, hint };
}

function parseId(text: string): number | undefined {
  return integerId(JSON.parse(text));
}

/** A reply whose `id` key has capital letters: malformed here, though some hosts accept it. */
function readMiscasedId(text: string, members: readonly Member[]): ServerLine {
  const member = members.find(({ key }) => key.toLowerCase() === 'id');
  const meant = member && parseId(text.slice(member.start, member.end));
  if (member === undefined || meant === undefined) return { kind: 'noise', why: 'an id that is no integer' };
  const hint = 'Write `id` in small letters.';
  const why = `the reply gives its id as \`${member.key}\``;
  return { kind: 'malformed', id: meant, why, hint, problem: 'id' };
}

/** A reply whose `id` is text or a fraction: malformed where it names an integer, else noise. */
function readMistypedId(id: unknown): ServerLine {
  const meant = integerId(id);
  if (meant === undefined) return { kind: 'noise', why: 'an id that is no integer' };
  const hint = 'Send the id back as the number it came as, not as text or a fraction.';
  return {
    kind: 'malformed',
    id: meant,
    why: `the reply’s id is ${excerptOf(JSON.stringify(id))}, not the number ${meant}`,
    hint,
    problem: 'id',
  };
}

/** The integer that an id names, however it is written. */
function integerId(id: unknown): number | undefined {
  if (typeof id !== 'number' && (typeof id !== 'string' || id.trim() === '')) return undefined;
  const number = Math.trunc(Number(id));
  return Number.isSafeInteger(number) ? number : undefined;
}

/**
 * The id of the object that these bytes begin, as far as it can be read in a line that is cut off or not
 * UTF-8. An `id` deeper inside belongs to the data and names no request.
 */
export function findRequestId(bytes: Uint8Array): number | undefined {
  // One character for each byte: what JSON consists of is ASCII.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const tokens = new JsonTokens(text);
  while (tokens.next()) {
    if (tokens.depth > 1) tokens.takeValue();
    const { start, end } = tokens;
    if (tokens.depth !== 1 || end - start !== '"id"'.length) continue;
    const id = text.slice(start, end).toLowerCase() === '"id"' ? readIdAfter(text, end) : undefined;
    if (id !== undefined) return id;
  }
  return undefined;
}

function readIdAfter(text: string, keyEnd: number): number | undefined {
  // What follows the number shows that no digit of it was cut off.
  const match = /^\s*:\s*("?)(\d{1,15})(?:\.\d+)?\1\s*[,}]/.exec(text.slice(keyEnd, keyEnd + 80));
  return match ? Number(match[2]) : undefined;
}

/** What one line of a server's stdout is. Source: JSON-RPC 2.0, one object per line, read strictly. */
export type ServerLine =
  | { readonly kind: 'noise'; readonly why: string }
  | { readonly kind: 'request'; readonly method: string }
  /** Batches are refused; these are the ids they would have answered. */
  | { readonly kind: 'batch'; readonly ids: readonly number[] }
  | {
      readonly kind: 'reply';
      readonly id: number;
      readonly result?: Json;
      readonly error?: Json;
      /** The result of a reply that has an error as well; the error counts. */
      readonly ignoredResult?: Json;
      readonly versioned: boolean;
    }
  /** A reply with a known id that cannot be used; `text` is the beginning of its content. */
  | {
      readonly kind: 'malformed';
      readonly id: number;
      readonly why: string;
      readonly hint?: string;
      readonly text?: string;
      readonly problem?: ReplyProblem;
    }
  /** A reply that gives `id`, `result` or `error` twice; these are the ids that it names. */
  | { readonly kind: 'twice'; readonly ids: readonly number[]; readonly why: string; readonly hint: string }
  /** A reply without an id. */
  | { readonly kind: 'anonymous' };

type ReplyProblem = 'id' | 'no_result' | 'error_type' | 'batch';

function excerptOf(text: string): string {
  return text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text;
}

const EXCERPT_CHARACTERS = 200;
