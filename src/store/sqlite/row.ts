import { Json } from '../../json.ts';

/** One row of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/** The readers of a row throw when the column holds something else: the database is then damaged, or not ours. */
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
  return value === null || typeof value === 'number' ? value : misfit(row, column);
}

export function jsonOf(row: Row, column: string): Json {
  return new Json(textOf(row, column));
}

export function jsonOrNull(row: Row, column: string): Json | null {
  const text = textOrNull(row, column);
  return text === null ? null : new Json(text);
}

/** The column's text, which is one of `words`. */
export function wordOf<Word extends string>(row: Row, column: string, words: readonly Word[]): Word {
  const text = textOf(row, column);
  return words.find((word) => word === text) ?? misfit(row, column);
}

function misfit(row: Row, column: string): never {
  throw new Error(`column ${column} holds ${JSON.stringify(row[column])}, which does not belong there`);
}
