import { isUtf8 } from 'node:buffer';
import { isObject, type Json } from '../../base/json/json.ts';
import { parseJson } from '../../base/json/parse-json.ts';
import { type Member, memberOf, scanMembers } from '../../base/json/scan.ts';
import { JsonTokens } from '../../base/json/tokens.ts';

export function encodeRequest(id: number, method: string, body: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${quote(method)},"params":${body}}\n`;
}

/** Adds `_meta` to the params of a request, an object without it. */
export function withMeta(params: string, meta: object): string {
  const members = params.slice(0, params.lastIndexOf('}')).trimEnd();
  const comma = members.endsWith('{') ? '' : ',';
  return `${members}${comma}"_meta":${JSON.stringify(meta)}}`;
}

/** A notification has no id and gets no reply. The line includes the newline. */
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
    value = parseJson(text);
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
    const { method, params } = value;
    return {
      kind: 'request',
      params,
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
    // A key in another letter case may carry an answer that was not read.
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

/** Checks only the first and last character, since a parser that throws costs far more. */
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

const closing: ReadonlyMap<number, number> = new Map(
  ['{}', '[]', '""', 'te', 'fe', 'nl'].map((ends) => [ends.charCodeAt(0), ends.charCodeAt(1)]),
);

/** Source: RFC 8259, section 2. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

const MINUS = 0x2d;

/** Refuses duplicate keys in any letter case, since JSON leaves open which one counts. */
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
  const hint = 'Write `id`, and `result` or `error`, once each and in lower case.';
  return { kind: 'twice', ids: named, why: `the reply has a duplicate \`${word}\``, hint };
}

function parseId(text: string): number | undefined {
  return integerId(JSON.parse(text));
}

/** Capital letters in `id` make a reply malformed, although some hosts accept it. */
function readMiscasedId(text: string, members: readonly Member[]): ServerLine {
  const member = members.find(({ key }) => key.toLowerCase() === 'id');
  const meant = member && parseId(text.slice(member.start, member.end));
  if (member === undefined || meant === undefined)
    return { kind: 'noise', why: 'an id that is not an integer' };
  const hint = 'Write `id` in lower case.';
  const why = `the reply writes its id as \`${member.key}\``;
  return { kind: 'malformed', id: meant, why, hint, problem: 'id' };
}

function readMistypedId(id: unknown): ServerLine {
  const meant = integerId(id);
  if (meant === undefined) return { kind: 'noise', why: 'an id that is not an integer' };
  const hint = 'Send the id back as the number that it was, not as text or a fraction.';
  return {
    kind: 'malformed',
    id: meant,
    why: `the reply’s id is ${excerptOf(JSON.stringify(id))}, not the number ${meant}`,
    hint,
    problem: 'id',
  };
}

function integerId(id: unknown): number | undefined {
  if (typeof id !== 'number' && (typeof id !== 'string' || id.trim() === '')) return undefined;
  const number = Math.trunc(Number(id));
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Finds the top-level id in a line that is incomplete or not UTF-8. A nested `id` is data. */
export function findRequestId(bytes: Uint8Array): number | undefined {
  // One character per byte; JSON syntax is ASCII.
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
  // The next character proves that no digit is cut off.
  const match = /^\s*:\s*("?)(\d{1,15})(?:\.\d+)?\1\s*[,}]/.exec(text.slice(keyEnd, keyEnd + 80));
  return match ? Number(match[2]) : undefined;
}

/** One line of a server's stdout. Source: JSON-RPC 2.0, one object per line, read strictly. */
export type ServerLine =
  | { readonly kind: 'noise'; readonly why: string }
  | { readonly kind: 'request'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'batch'; readonly ids: readonly number[] }
  | {
      readonly kind: 'reply';
      readonly id: number;
      readonly result?: Json;
      readonly error?: Json;
      /** The result of a reply that also has an error; the error counts. */
      readonly ignoredResult?: Json;
      readonly versioned: boolean;
    }
  /** A reply with a known id but unusable content; `text` is its beginning. */
  | {
      readonly kind: 'malformed';
      readonly id: number;
      readonly why: string;
      readonly hint?: string;
      readonly text?: string;
      readonly problem?: ReplyProblem;
    }
  /** A reply that repeats `id`, `result` or `error`; `ids` lists every id in it. */
  | { readonly kind: 'twice'; readonly ids: readonly number[]; readonly why: string; readonly hint: string }
  | { readonly kind: 'anonymous' };

type ReplyProblem = 'id' | 'no_result' | 'error_type' | 'batch';

function excerptOf(text: string): string {
  return text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text;
}

const EXCERPT_CHARACTERS = 200;
