import type { Fault } from '../../errors.ts';
import { Json } from '../../json/json.ts';
import { decodeFault } from '../fault-text.ts';

/** One row of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/** What was read is nothing that was kept: the database is damaged, or not ours. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

/** The readers of a row throw Damaged when the column holds something else. */
export function textOf(row: Row, column: string): string {
  return textOrNull(row, column) ?? misfit(row, column);
}

export function textOrNull(row: Row, column: string): string | null {
  const value = row[column];
  return value === null || typeof value === 'string' ? value : misfit(row, column);
}

export function numberOf(row: Row, column: string): number {
  return numberOrNull(row, column) ?? misfit(row, column);
}

export function numberOrNull(row: Row, column: string): number | null {
  const value = row[column];
  const isFit = typeof value === 'number' && Math.abs(value) <= LATEST;
  return value === null || isFit ? value : misfit(row, column);
}

export function jsonOf(row: Row, column: string): Json {
  return jsonOrNull(row, column) ?? misfit(row, column);
}

export function jsonOrNull(row: Row, column: string): Json | null {
  const text = textOrNull(row, column);
  if (text === null) return null;
  const json = new Json(text);
  try {
    void json.value;
    return json;
  } catch {
    return misfit(row, column);
  }
}

export function faultOrNull(row: Row, column: string): Fault | null {
  const text = textOrNull(row, column);
  try {
    return text === null ? null : decodeFault(text);
  } catch {
    return misfit(row, column);
  }
}

/** Throws Damaged when a text is not the one that the row's `sum` was made of; no sum says nothing. */
export function requireSum(row: Row, name: string): void {
  const sum = numberOrNull(row, 'sum');
  if (sum === null || sum === numberOrNull(row, 'actual')) return;
  throw new Damaged(`what is kept of ${textOf(row, name)} does not have its checksum`);
}

/** The column's text, which is one of `words`. */
export function wordOf<Word extends string>(row: Row, column: string, words: readonly Word[]): Word {
  const text = textOf(row, column);
  return words.find((word) => word === text) ?? misfit(row, column);
}

function misfit(row: Row, column: string): never {
  const held = JSON.stringify(row[column]) ?? 'nothing';
  const shown = held.length > SHOWN ? `${held.slice(0, SHOWN)}…` : held;
  throw new Damaged(`column ${column} holds ${shown}, which does not belong there`);
}

/** The last moment that a date can be; no count comes near it. Source: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const LATEST = 8.64e15;

/** So much of a damaged value is enough to find it. */
const SHOWN = 80;
