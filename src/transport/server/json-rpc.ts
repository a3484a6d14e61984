import { isUtf8 } from 'node:buffer';
import { isObject, type Json } from '../../json/json.ts';
import { type Member, memberOf, scanMembers } from '../../json/scan.ts';
import { findRequestId } from './request-id.ts';

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

/** What is wrong with a reply whose content could be read; absent where the content is not known. */
export type ReplyProblem = 'id' | 'no_result' | 'error_type' | 'batch';

/** The request line, newline included. */
export function encodeRequest(id: number, method: string, body: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${body}}\n`);
}

/** The line of a notification, which has no id and gets no reply; newline included. */
export function encodeNotification(method: string, body: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${body}}\n`);
}

/** Reads one line, without its newline. Never throws. */
export function readLine(bytes: Uint8Array): ServerLine {
  if (!isUtf8(bytes)) {
    const id = findRequestId(bytes);
    return id === undefined
      ? { kind: 'noise', why: 'not UTF-8' }
      : { kind: 'malformed', id, why: 'the reply is not UTF-8' };
  }
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
      method: typeof method === 'string' ? truncate(method) : 'a method without a name',
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

/**
 * Refuses duplicate keys, in any letter case: JSON leaves open which of two counts. Undefined without any.
 */
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

function readMistypedId(id: unknown): ServerLine {
  const meant = integerId(id);
  if (meant === undefined) return { kind: 'noise', why: 'an id that is no integer' };
  const hint = 'Send the id back as the number it came as, not as text or a fraction.';
  return {
    kind: 'malformed',
    id: meant,
    why: `the reply’s id is ${truncate(JSON.stringify(id))}, not the number ${meant}`,
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
          text: truncate(error.text),
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
      text: truncate(text),
      ...(!hasMiscasedKey && { problem: 'no_result' }),
    };
  }
  return { kind: 'reply', id, result, versioned };
}

function truncate(text: string): string {
  return text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text;
}

const EXCERPT_CHARACTERS = 200;
