import { isUtf8 } from 'node:buffer';
import { isObject, type Json } from '../json.ts';
import { memberOf, scanMembers } from '../json-text.ts';
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
      readonly versioned: boolean;
    }
  /** An answer to a known id that cannot be used; `text` is the start of what it said instead. */
  | {
      readonly kind: 'malformed';
      readonly id: number;
      readonly why: string;
      readonly hint?: string;
      readonly text?: string;
    }
  /** An answer that does not say to what. */
  | { readonly kind: 'anonymous' };

/** The request line, newline included. */
export function encodeRequest(id: number, method: string, body: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${body}}\n`);
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
  const answers = 'result' in value || 'error' in value;
  if ('method' in value && !answers) {
    const { method } = value;
    return { kind: 'request', method: typeof method === 'string' ? cut(method) : 'a method without a name' };
  }
  if (id === undefined || id === null)
    return answers ? { kind: 'anonymous' } : { kind: 'noise', why: 'neither id, result nor error' };
  if (typeof id !== 'number' || !Number.isInteger(id)) return readMisspelt(id);
  return readReply(text, id, value['jsonrpc'] === '2.0');
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
  };
}

/** The integer that an id names, however it is written. */
function spelledId(id: unknown): number | undefined {
  if (typeof id !== 'number' && (typeof id !== 'string' || id.trim() === '')) return undefined;
  const number = Math.trunc(Number(id));
  return Number.isSafeInteger(number) ? number : undefined;
}

function readReply(text: string, id: number, versioned: boolean): Line {
  const members = scanMembers(text);
  const result = memberOf(text, members, 'result');
  const error = memberOf(text, members, 'error');
  if (error !== undefined && error.text !== 'null') {
    return error.text.startsWith('{')
      ? { kind: 'reply', id, error, versioned }
      : { kind: 'malformed', id, why: 'the reply’s error is not an object', text: cut(error.text) };
  }
  if (result === undefined) {
    return { kind: 'malformed', id, why: 'the reply has neither result nor error', text: cut(text) };
  }
  return { kind: 'reply', id, result, versioned };
}

function cut(text: string): string {
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text;
}

const EXCERPT = 200;
