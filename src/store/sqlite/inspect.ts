import { existsSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { checkOwner } from './layout.ts';
import { loadSqlite } from './node-sqlite.ts';
import { numberOf } from './row.ts';
import { stateLayout } from './schema.ts';
import type { Statement } from './statement.ts';
import { toStoreError } from './store-error.ts';

export interface DatabaseState {
  readonly version: number;
  readonly knownVersion: number;
  /** Errors that SQLite finds in the file; very large files are not checked. */
  readonly faults: readonly string[];
  readonly waiting: { readonly calls: number; readonly runs: number };
  /** The newest stored time, in milliseconds since 1970; undefined for an empty store. */
  readonly newestAt: number | undefined;
}

const LARGE = 1024 ** 3;

export function inspectDatabase(file: string): DatabaseState {
  const { DatabaseSync } = loadSqlite();
  try {
    const database = new DatabaseSync(addressOf(file), { readOnly: true });
    try {
      database.exec(`PRAGMA busy_timeout = ${WAIT_MS}`);
      checkOwner(database, file, stateLayout);
      const count = (sql: string) => numberOf(database.prepare(sql).get() ?? {}, 'n');
      const isLarge = statSync(file).size > LARGE;
      const found = isLarge ? [] : database.prepare('PRAGMA quick_check(5)').all();
      const newest = numberOf(database.prepare(newestTime).get() ?? {}, 'newest');
      return {
        version: numberOf(database.prepare('PRAGMA user_version').get() ?? {}, 'user_version'),
        knownVersion: stateLayout.version,
        faults: found.flatMap(({ quick_check: text }) => (text === 'ok' ? [] : [String(text)])),
        waiting: {
          calls: count('SELECT count(*) AS n FROM pendings WHERE ruling IS NULL'),
          runs: count("SELECT count(*) AS n FROM runs WHERE status IN ('running', 'pending')"),
        },
        newestAt: newest === 0 ? undefined : newest,
      };
    } finally {
      database.close();
    }
  } catch (thrown) {
    throw toStoreError(thrown, file);
  }
}

/**
 * Without a log beside the file nobody writes to it, and only then nothing may be created beside it. Source:
 * https://www.sqlite.org/uri.html#uriimmutable
 */
function addressOf(file: string): URL {
  const address = pathToFileURL(file);
  if (!existsSync(`${file}-wal`)) address.searchParams.set('immutable', '1');
  return address;
}

const WAIT_MS = 2000;

const storedTimes: readonly { readonly table: string; readonly column: string }[] = [
  { table: 'runs', column: 'created_at' },
  { table: 'runs', column: 'updated_at' },
  { table: 'steps', column: 'began_at' },
  { table: 'steps', column: 'ended_at' },
  { table: 'pendings', column: 'created_at' },
  { table: 'pendings', column: 'decided_at' },
  { table: 'consents', column: 'given_at' },
];

/** Sets later times back to this time. Returns their number. Needs a write transaction. */
export function resetTimes(
  { prepare }: { readonly prepare: (sql: string) => Statement },
  now: number,
): number {
  const counts = storedTimes.map(({ table, column }) =>
    prepare(`UPDATE ${table} SET ${column} = :now WHERE ${column} > :now`).run({ now }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

export const newestTime = `SELECT max(${storedTimes
  .map(({ table, column }) => `(SELECT coalesce(max(${column}), 0) FROM ${table})`)
  .join()}) AS newest`;
