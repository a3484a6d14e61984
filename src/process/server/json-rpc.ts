import { isUtf8 } from 'node:buffer';
import { isObject } from '../../base/json/json.ts';
import { type Member, memberOf, scanMembers } from '../../base/json/scan.ts';
import { isPlainlyNoJson } from './plainly-no-json.ts';
import { findDuplicateKeys, integerId, readMiscasedId, readMistypedId } from './reply-id.ts';
import { findRequestId } from './request-id.ts';
import { excerptOf, type ServerLine } from './server-line.ts';

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
