import type { StatementSync } from 'node:sqlite';
import type { Query } from '../driver.ts';
import { toSqliteNames } from '../tables.ts';
import { decodeRow, encodeText, type Row } from './row.ts';

export interface Statement {
  run(values?: Values): number;
  get(values?: Values): Row | undefined;
  all(values?: Values): Row[];
}

export type Values = Readonly<Record<string, string | number | null>>;

/** Encodes values, because SQLite changes some strings. */
export function createStatement(statement: StatementSync): Statement {
  return {
    run: (values = {}) => Number(statement.run(encode(values)).changes),
    get: (values = {}) => {
      const row = statement.get(encode(values));
      return row && decodeRow(row);
    },
    all: (values = {}) => statement.all(encode(values)).map(decodeRow),
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

export function createAsk(prepare: (sql: string) => Statement): (query: Query) => Row[] {
  const statements = new Map<string, Statement>();
  return ({ sql, values }) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = prepare(toSqlite(sql));
      statements.set(sql, statement);
    }
    const plain = Object.entries(values).map(([name, value]): [string, string | number | null] => {
      if (typeof value === 'boolean') return [name, value ? 1 : 0];
      if (typeof value !== 'object' || value === null) return [name, value];
      return [
        name,
        JSON.stringify(value.map((each) => (typeof each === 'string' ? encodeText(each) : each))),
      ];
    });
    return statement.all(Object.fromEntries(plain));
  };
}

/** Replaces functions that only a server has: a transaction has the file for itself, and the machine has one clock. */
function toSqlite(sql: string): string {
  const written = sql
    .replaceAll(/ FOR UPDATE( SKIP LOCKED)?/g, '')
    .replaceAll(/\bIN :(\w+)/g, 'IN (SELECT value FROM json_each(:$1))')
    .replaceAll(
      /signalbox\.(\w+)\(([^()]*)\)/g,
      (call, name: string, of: string) => functions[name]?.(of) ?? call,
    );
  return toSqliteNames(written);
}

const functions: Readonly<Record<string, (of: string) => string>> = {
  now_ms: (at) => at,
  kin_of: (run) =>
    `(SELECT json_object('id', parent, 'root', root, 'step', step) FROM run_parents WHERE id = ${run})`,
  consents_of: (
    call,
  ) => `(SELECT json_group_array(json_object('name', name, 'reason', reason, 'given_at', given_at))
    FROM (SELECT * FROM consents WHERE pending_id = ${call} ORDER BY seq))`,
  labels_of: (run) => `(SELECT json_group_object(key, value)
    FROM (SELECT key, value FROM run_labels WHERE run = ${run} ORDER BY key))`,
  pipelines_of: (run) => `(SELECT json_group_object(file, text) FROM run_pipelines WHERE run_id = ${run})`,
};
