import { parseLossless, stringifyJson } from '../../../../src/base/json/json.ts';
import { marker } from './arbitrary-texts.ts';

/** JSON with some letters escaped, as a client may do to hide a word from a byte search. */
export function spellOddly(value: unknown): string {
  let count = 0;
  return JSON.stringify(value).replaceAll('QZX', (word) => (count++ % 2 === 0 ? '\\u0051ZX' : word));
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(stringsOf);
  return Object.entries(value).flatMap(([key, member]) => [key, ...stringsOf(member)]);
}

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

/** The value as hooks read it and may send it back. */
export function asRead<Value>(value: Value): Value {
  return parseLossless(stringifyJson(value)) as Value;
}

export function valuesOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value];
  return Object.values(value).flatMap(valuesOf);
}

/** The markers in a value, also in base64 texts. */
export function markersOf(value: unknown): string[] {
  const texts = stringsOf(value).flatMap((text) =>
    /^[\w+/]{12,}=*$/.test(text) ? [text, Buffer.from(text, 'base64').toString('utf8')] : [text],
  );
  return [...new Set(texts.join('\n').match(marker) ?? [])].toSorted();
}

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

/** The encrypted copy of a compaction's text, which is removed with the text. */
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
