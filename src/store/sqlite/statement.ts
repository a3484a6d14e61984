import type { StatementSync } from 'node:sqlite';
import { DamagedError, type Row } from './row.ts';

/** A prepared statement with named parameters. */
export interface Statement {
  /** Returns how many rows were changed. */
  run(values?: Values): number;
  get(values?: Values): Row | undefined;
  all(values?: Values): Row[];
}

/** The named parameters of a statement. */
export type Values = Readonly<Record<string, string | number | null>>;

/** Prepares a statement. */
export interface Preparing {
  readonly prepare: (sql: string) => Statement;
}

/** Values go in and come out as they are, whatever SQLite does to some strings. */
export function createStatement(statement: StatementSync): Statement {
  return {
    run: (values = {}) => Number(statement.run(encode(values)).changes),
    get: (values = {}) => {
      const row = statement.get(encode(values));
      return row && decode(row);
    },
    all: (values = {}) => statement.all(encode(values)).map(decode),
  };
}

function encode(values: Values): Record<string, string | number | null> {
  const encoded: Record<string, string | number | null> = {};
  for (const name of Object.keys(values)) {
    const value = values[name] ?? null;
    encoded[name] = typeof value === 'string' ? encodeText(value) : value;
  }
  return encoded;
}

function decode(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? decodeText(value) : value]),
  );
}

const MARK = 'json:';

/**
 * A string as SQLite can keep it: itself, except that NUL and lone surrogates, which the way through node:sqlite and UTF-8
 * cuts or replaces, go in as escapes of a JSON string.
 */
export function encodeText(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes('\0') && !text.startsWith(MARK);
  return isPlain ? text : MARK + JSON.stringify(text);
}

export function decodeText(kept: string): string {
  if (!kept.startsWith(MARK)) return kept;
  try {
    return String(JSON.parse(kept.slice(MARK.length)));
  } catch {
    throw new DamagedError('a text with escapes is cut off');
  }
}
