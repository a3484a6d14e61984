import { parseLossless, stringifyJson } from '../../../../src/base/json/json.ts';
import { marker } from './arbitrary-texts.ts';

/** JSON in which some letters are escapes, as a client may spell them to hide a word from those who read bytes. */
export function spellOddly(value: unknown): string {
  let count = 0;
  return JSON.stringify(value).replaceAll('QZX', (word) => (count++ % 2 === 0 ? '\\u0051ZX' : word));
}

/** All strings of a value, keys included. */
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(stringsOf);
  return Object.entries(value).flatMap(([key, member]) => [key, ...stringsOf(member)]);
}

/** The value as `change` leaves its strings, and with `keys` its keys. */
export function mapStrings(value: unknown, change: (text: string) => string, keys = true): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change, keys));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      keys ? change(key) : key,
      mapStrings(member, change, keys),
    ]),
  );
}

export function redact(text: string): string {
  return text.replaceAll(marker, 'RED');
}

/** What hooks read of a value, and may send back. */
export function asRead<Value>(value: Value): Value {
  return parseLossless(stringifyJson(value)) as Value;
}

/** The values of a tree without its keys. */
export function valuesOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value];
  return Object.values(value).flatMap(valuesOf);
}

/** The markers in a value; texts in base64 are read. */
export function markersOf(value: unknown): string[] {
  const texts = stringsOf(value).flatMap((text) =>
    /^[\w+/]{12,}=*$/.test(text) ? [text, Buffer.from(text, 'base64').toString('utf8')] : [text],
  );
  return [...new Set(texts.join('\n').match(marker) ?? [])].toSorted();
}

/** A body with its strings redacted: without thinking and copies of compactions, and with texts in base64 redacted, too. */
export function expectedAfter(value: unknown): unknown {
  if (typeof value === 'string') return redactEncoded(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.filter((item) => !isThinking(item)).map(expectedAfter);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !isCopy(value, key, member))
      .map(([key, member]) => [redact(key), expectedAfter(member)]),
  );
}

/** The encrypted copy of a compaction's text, which goes with it. */
function isCopy(object: object, key: string, member: unknown): boolean {
  const isCompacted =
    Reflect.get(object, 'type') === 'compaction' && typeof Reflect.get(object, 'content') === 'string';
  return isCompacted && key === 'encrypted_content' && typeof member === 'string' && member !== '';
}

function isThinking(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, 'type') === 'thinking';
}

function redactEncoded(text: string): string {
  if (!/^[\w+/]{12,}=*$/.test(text)) return redact(text);
  const decoded = Buffer.from(text, 'base64').toString('utf8');
  return redact(decoded) === decoded ? redact(text) : Buffer.from(redact(decoded), 'utf8').toString('base64');
}
