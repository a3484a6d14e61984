import { RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, Json, parseLossless } from '../../base/json/json.ts';
import { readStoredFault } from '../../contract/stored-fault.ts';

/**
 * A value of the AI SDK as plain JSON: a date stands as `{"$": "date", "value": …}`, and so do bytes, addresses,
 * errors and, unless they are dropped, members that are undefined.
 */
export function encodeSdkValue(value: unknown, absent: 'keep' | 'drop'): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (value instanceof Json) return parseLossless(value.text);
  if (Array.isArray(value)) return value.map((member) => encodeSdkValue(member, absent));
  if (value instanceof Date) return { $: 'date', value: value.toISOString() };
  if (value instanceof Uint8Array) return { $: 'bytes', value: Buffer.from(value).toString('base64') };
  if (value instanceof URL) return { $: 'url', value: value.href };
  if (value instanceof Error) return { $: 'error', value: encodeMembers(toFault(value), absent) };
  const members = encodeMembers(value, absent);
  return '$' in members ? { $: 'object', value: members } : members;
}

/** The value that `encodeSdkValue` was given. Throws Error for what it never writes. */
export function decodeSdkValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeSdkValue);
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  const { $: kind, value: inner } = value;
  if (kind === 'date') return decodeDate(String(inner));
  if (kind === 'bytes') return new Uint8Array(Buffer.from(String(inner), 'base64'));
  if (kind === 'url') return new URL(String(inner));
  if (kind === 'error') return decodeError(inner);
  if (kind === 'undefined') return undefined;
  return decodeMembers(kind === 'object' && isObject(inner) ? inner : value);
}

function decodeError(fault: unknown): RuntimeError {
  const { code, message, hint, details } = readStoredFault(fault, 'PROVIDER_FAILED');
  return new RuntimeError(code, message, { hint, details: details && decodeMembers(details) });
}

function decodeDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new Error(`${JSON.stringify(text)} is no date`);
  return date;
}

function encodeMembers(object: object, absent: 'keep' | 'drop'): Record<string, unknown> {
  const members = Object.entries(object).flatMap(([key, member]): [string, unknown][] => {
    if (member !== undefined) return [[key, encodeSdkValue(member, absent)]];
    return absent === 'keep' ? [[key, { $: 'undefined' }]] : [];
  });
  return Object.fromEntries(members);
}

function decodeMembers(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, member]) => [key, decodeSdkValue(member)]));
}
