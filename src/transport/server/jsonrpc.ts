import { isUtf8 } from 'node:buffer';
import { isObject, type Json } from '../../json/json.ts';
import { type Member, memberOf, scanMembers } from '../../json/scan.ts';
import { findId } from './find-id.ts';

/** What one line of a server's stdout is. Source: JSON-RPC 2.0, one object per line, read strictly. */
export type Line =
  | { readonly kind: 'noise'; readonly why: string }
  | { readonly kind: 'request'; readonly method: string }
  /** Batches are refused; these are the ids they would have answered. */
  | { readonly kind: 'batch'; readonly ids: readonly number[] }
  | {
      readonly kind: 'reply';
      readonly id: number;
      readonly result?: Json;
      readonly error?: Json;
      /** The result beside an error. */
      readonly beside?: Json;
      readonly versioned: boolean;
    }
  /** An answer to a known id that cannot be used; `text` is the start of what it said instead. */
  | {
      readonly kind: 'malformed';
      readonly id: number;
      readonly why: string;
      readonly hint?: string;
      readonly text?: string;
      readonly problem?: Problem;
    }
  /** An answer that says one thing and another; these are the ids that it names. */
  | { readonly kind: 'twice'; readonly ids: readonly number[]; readonly why: string; readonly hint: string }
  /** An answer that does not say to what. */
  | { readonly kind: 'anonymous' };

/** What is wrong with an answer that can be read; one without it may have said anything. */
export type Problem = 'id' | 'no_result' | 'error_type' | 'batch';

/** The request line, newline included. */
export function encodeRequest(id: number, method: string, body: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${body}}\n`);
}

/** The line of a notification, which has no id and gets no reply; newline included. */
export function encodeNotification(method: string, body: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${body}}\n`);
}

/** Reads one line, without its newline. Never throws. */
export function readLine(bytes: Uint8Array): Line {
  if (!isUtf8(bytes)) {
    const id = findId(bytes);
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

function readBatch(elements: readonly unknown[]): Line {
  const ids = elements.filter(isObject).map(({ id }) => spelledId(id));
  return { kind: 'batch', ids: ids.filter((id) => id !== undefined) };
}

function readMessage(text: string, value: Readonly<Record<string, unknown>>): Line {
  const { id } = value;
  const names = Object.keys(value).map((key) => key.toLowerCase());
  const answers = names.includes('result') || names.includes('error');
  if ('method' in value && !answers) {
    const { method } = value;
    return { kind: 'request', method: typeof method === 'string' ? cut(method) : 'a method without a name' };
  }
  const members = scanMembers(text);
  const twice = readTwice(text, members);
  if (twice !== undefined) return twice;
  if (id === undefined && names.includes('id')) return readCased(text, members);
  if (id === undefined || id === null)
    return answers ? { kind: 'anonymous' } : { kind: 'noise', why: 'neither id, result nor error' };
  if (typeof id !== 'number' || !Number.isInteger(id)) return readMisspelt(id);
  return readReply(text, members, { id, versioned: value['jsonrpc'] === '2.0' });
}

/** JSON leaves open which of two members counts, so nothing may hang on it; hosts differ over letter case too. */
function readTwice(text: string, members: readonly Member[]): Line | undefined {
  const ids = members
    .filter(({ key }) => key.toLowerCase() === 'id')
    .map(({ start, end }) => idIn(text.slice(start, end)));
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

function idIn(text: string): number | undefined {
  return spelledId(JSON.parse(text));
}

/** An id in other letters, which some hosts read and we do not. */
function readCased(text: string, members: readonly Member[]): Line {
  const member = members.find(({ key }) => key.toLowerCase() === 'id');
  const meant = member && idIn(text.slice(member.start, member.end));
  if (member === undefined || meant === undefined) return { kind: 'noise', why: 'an id that is no integer' };
  const hint = 'Write `id` in small letters.';
  const why = `the reply gives its id as \`${member.key}\``;
  return { kind: 'malformed', id: meant, why, hint, problem: 'id' };
}

function readMisspelt(id: unknown): Line {
  const meant = spelledId(id);
  if (meant === undefined) return { kind: 'noise', why: 'an id that is no integer' };
  const hint = 'Send the id back as the number it came as, not as text or a fraction.';
  return {
    kind: 'malformed',
    id: meant,
    why: `the reply’s id is ${cut(JSON.stringify(id))}, not the number ${meant}`,
    hint,
    problem: 'id',
  };
}

/** The integer that an id names, however it is written. */
function spelledId(id: unknown): number | undefined {
  if (typeof id !== 'number' && (typeof id !== 'string' || id.trim() === '')) return undefined;
  const number = Math.trunc(Number(id));
  return Number.isSafeInteger(number) ? number : undefined;
}

function readReply(
  text: string,
  members: readonly Member[],
  { id, versioned }: { readonly id: number; readonly versioned: boolean },
): Line {
  const result = memberOf(text, members, 'result');
  const error = memberOf(text, members, 'error');
  if (error !== undefined && error.text !== 'null') {
    return error.text.startsWith('{')
      ? { kind: 'reply', id, error, ...(result && { beside: result }), versioned }
      : {
          kind: 'malformed',
          id,
          why: 'the reply’s error is not an object',
          text: cut(error.text),
          problem: 'error_type',
        };
  }
  if (result === undefined) {
    const why = 'the reply has neither result nor error';
    // A key in other letters may have carried an answer, which nothing here has read.
    const isMeant = members.some(({ key }) => key !== 'error' && /^(result|error)$/i.test(key));
    return { kind: 'malformed', id, why, text: cut(text), ...(!isMeant && { problem: 'no_result' }) };
  }
  return { kind: 'reply', id, result, versioned };
}

function cut(text: string): string {
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text;
}

const EXCERPT = 200;
