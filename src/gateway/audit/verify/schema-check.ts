import type { DatabaseSync } from 'node:sqlite';
import { createTables } from '../../../store/sqlite/layout.ts';
import { loadSqlite } from '../../../store/sqlite/node-sqlite.ts';
import { auditLayout } from '../layout.ts';
import type { Problems } from './report.ts';

/** Finds tables, views, triggers and indexes that are not those of an audit: they could show readers something else than what is kept. */
export function checkSchema(database: DatabaseSync, problems: Problems): void {
  const wanted = usualSchema();
  const found = readSchema(database);
  for (const [name, sql] of found) {
    if (!wanted.has(name)) problems.add(`the database has ${name}, which no audit has`);
    else if (wanted.get(name) !== sql) problems.add(`${name} of the database is not that of an audit`);
  }
  for (const name of wanted.keys()) if (!found.has(name)) problems.add(`the database lacks ${name}`);
}

function usualSchema(): ReadonlyMap<string, string> {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(':memory:');
  try {
    createTables(database, auditLayout);
    return readSchema(database);
  } finally {
    database.close();
  }
}

function readSchema(database: DatabaseSync): ReadonlyMap<string, string> {
  // Statistics that somebody had SQLite make change no answer.
  const rows = database
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat_'")
    .all();
  return new Map(rows.map(({ type, name, tbl_name, sql }) => [`${type} ${name}`, `${tbl_name}: ${sql}`]));
}
