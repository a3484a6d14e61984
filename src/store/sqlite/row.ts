import { crc32 } from 'node:zlib';
import type { Fault } from '../../base/errors.ts';
import { Json, parseLossless } from '../../base/json/json.ts';
import { readStoredFault } from '../../contract/stored-fault.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A stored value that Signalbox does not write: the database is damaged or foreign. */
export class DamagedError extends Error {
  override readonly name = 'Damaged';
}

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

export function checksumOf(key: string, text: string): number {
  return crc32(encodeText(text), crc32(`${encodeText(key)}\n`));
}

/**
 * Throws DamagedError unless `sum` matches the texts in the columns `key` and `text`; without a text it is null. `of`
 * names the row in the error.
 */
export function verifySum(
  row: Row,
  { key, text: column, of }: { readonly key: string; readonly text: string; readonly of: string },
): void {
  const text = textOrNull(row, column);
  const sum = numberOrNull(row, 'sum');
  if (sum === (text === null ? null : checksumOf(textOf(row, key), text))) return;
  throw new DamagedError(`the checksum of the stored ${of} does not match`);
}

export function enumOf<Word extends string>(row: Row, column: string, words: readonly Word[]): Word {
  const text = textOf(row, column);
  return words.find((word) => word === text) ?? throwDamaged(row, column);
}

function throwDamaged(row: Row, column: string): never {
  const held = JSON.stringify(row[column]) ?? 'nothing';
  const shown = held.length > SHOWN_CHARACTERS ? `${held.slice(0, SHOWN_CHARACTERS)}…` : held;
  throw new DamagedError(`column ${column} holds an invalid value, ${shown}`);
}

/** The last valid date; counts stay below it. Source: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const MAX_NUMBER = 8.64e15;

const SHOWN_CHARACTERS = 80;

const MARK = 'json:';

/** Escapes NUL and lone surrogates as in JSON. node:sqlite and UTF-8 cut or replace them, and Postgres refuses them. */
export function encodeText(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes('\0') && !text.startsWith(MARK);
  return isPlain ? text : MARK + JSON.stringify(text);
}

export function encodeOrNull(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

export function decodeText(kept: string): string {
  if (!kept.startsWith(MARK)) return kept;
  try {
    return String(JSON.parse(kept.slice(MARK.length)));
  } catch {
    throw new DamagedError('text with escapes is cut off');
  }
}

export function decodeRow(row: Row): Row {
  // Few rows have escapes, and a copy of a row costs more than reading it.
  if (!hasEscapes(row)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? decodeText(value) : value]),
  );
}

function hasEscapes(row: Row): boolean {
  // A list of the values would take three times as long. A row has no prototype.
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'string' && value.startsWith(MARK)) return true;
  }
  return false;
}

export function readAnswer(text: unknown): Row {
  if (typeof text !== 'string') throw new DamagedError('an answer is not text');
  const row: unknown = JSON.parse(text);
  if (typeof row !== 'object' || row === null) throw new DamagedError('an answer is not a row');
  return { ...row };
}
