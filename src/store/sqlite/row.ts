import { crc32 } from 'node:zlib';
import type { Fault } from '../../base/errors.ts';
import { Json, parseLossless } from '../../base/json/json.ts';
import { readStoredFault } from '../../contract/stored-fault.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A stored value is not what Signalbox writes: the database is damaged or not ours. */
export class DamagedError extends Error {
  override readonly name = 'Damaged';
}

/** The readers of a row throw Damaged when the column holds something else. */
export function textOf(row: Row, column: string): string {
  return textOrNull(row, column) ?? throwDamaged(row, column);
}

export function textOrNull(row: Row, column: string): string | null {
  const value = row[column];
  return value === null || typeof value === 'string' ? value : throwDamaged(row, column);
}

export function numberOf(row: Row, column: string): number {
  return numberOrNull(row, column) ?? throwDamaged(row, column);
}

export function numberOrNull(row: Row, column: string): number | null {
  const value = row[column];
  const isFit = typeof value === 'number' && Math.abs(value) <= MAX_NUMBER;
  return value === null || isFit ? value : throwDamaged(row, column);
}

export function jsonOf(row: Row, column: string): Json {
  return jsonOrNull(row, column) ?? throwDamaged(row, column);
}

export function jsonOrNull(row: Row, column: string): Json | null {
  const text = textOrNull(row, column);
  if (text === null) return null;
  const json = new Json(text);
  try {
    void json.value;
    return json;
  } catch {
    return throwDamaged(row, column);
  }
}

export function faultOrNull(row: Row, column: string): Fault | null {
  const text = textOrNull(row, column);
  try {
    return text === null ? null : readStoredFault(parseLossless(text));
  } catch {
    return throwDamaged(row, column);
  }
}

/** A number by which damage is found. */
export function checksumOf(key: string, text: string): number {
  return crc32(encodeText(text), crc32(`${encodeText(key)}\n`));
}

/**
 * Throws DamagedError unless the row's `sum` is that of the texts in the columns `key` and `text`; a row without such a text has none.
 * `of` is what the error calls it.
 */
export function verifySum(
  row: Row,
  { key, text: column, of }: { readonly key: string; readonly text: string; readonly of: string },
): void {
  const text = textOrNull(row, column);
  const sum = numberOrNull(row, 'sum');
  if (sum === (text === null ? null : checksumOf(textOf(row, key), text))) return;
  throw new DamagedError(`what is kept of ${of} does not have its checksum`);
}

/** The column's text, which is one of `words`. */
export function enumOf<Word extends string>(row: Row, column: string, words: readonly Word[]): Word {
  const text = textOf(row, column);
  return words.find((word) => word === text) ?? throwDamaged(row, column);
}

function throwDamaged(row: Row, column: string): never {
  const held = JSON.stringify(row[column]) ?? 'nothing';
  const shown = held.length > SHOWN_CHARACTERS ? `${held.slice(0, SHOWN_CHARACTERS)}…` : held;
  throw new DamagedError(`column ${column} holds ${shown}, which does not belong there`);
}

/** The last moment that a date can be; no count comes near it. Source: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const MAX_NUMBER = 8.64e15;

/** How many characters of a damaged value an error shows. */
const SHOWN_CHARACTERS = 80;

const MARK = 'json:';

/**
 * A text as a database can keep it: itself, except that NUL and lone surrogates, which the way through node:sqlite and UTF-8
 * cuts or replaces and Postgres refuses, go in as escapes of a JSON string.
 */
export function encodeText(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes('\0') && !text.startsWith(MARK);
  return isPlain ? text : MARK + JSON.stringify(text);
}

export function encodeOrNull(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

/** Throws Damaged. */
export function decodeText(kept: string): string {
  if (!kept.startsWith(MARK)) return kept;
  try {
    return String(JSON.parse(kept.slice(MARK.length)));
  } catch {
    throw new DamagedError('a text with escapes is cut off');
  }
}

/** A row with its texts as they were before they were kept. Throws Damaged. */
export function decodeRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? decodeText(value) : value]),
  );
}

/** A row that a function of the database has answered with, as it is kept. Throws Damaged. */
export function readAnswer(text: unknown): Row {
  if (typeof text !== 'string') throw new DamagedError('an answer is no text');
  const row: unknown = JSON.parse(text);
  if (typeof row !== 'object' || row === null) throw new DamagedError('an answer is no row');
  return { ...row };
}
