import type { Fault } from '../../base/errors.ts';
import { Json, parseLossless } from '../../base/json/json.ts';
import { readStoredFault } from '../../contract/stored-fault.ts';

/** One row of a query result. */
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

/** Throws DamagedError unless the row's `sum` matches its text; a row without a sum passes. */
export function verifyChecksum(row: Row, name: string): void {
  const sum = numberOrNull(row, 'sum');
  if (sum === null || sum === numberOrNull(row, 'actual')) return;
  throw new DamagedError(`what is kept of ${textOf(row, name)} does not have its checksum`);
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
