import { existsSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { checkOwner } from './layout.ts';
import { loadSqlite } from './node-sqlite.ts';
import { numberOf } from './row.ts';
import { stateLayout } from './schema.ts';
import type { Statement } from './statement.ts';
import { toStoreError } from './store-error.ts';

/** What a state store is found to be, looked at from outside. */
export interface DatabaseState {
  readonly version: number;
  /** The version that this Signalbox writes. */
  readonly knownVersion: number;
  /** What SQLite finds wrong with the file; not looked for in a very large one. */
  readonly faults: readonly string[];
  readonly waiting: { readonly calls: number; readonly runs: number };
  /** The newest time that was kept, in milliseconds since 1970; undefined of an empty store. */
  readonly newestAt: number | undefined;
}

/** A check reads the whole file. */
const LARGE = 1024 ** 3;

/** Looks into a state store, and changes nothing in it. Throws STORE_FAILED. */
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
 * Nobody else writes a file without a log beside it, and only then may nothing be made beside it. Source:
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

/** Sets what is later than that time back to it; returns how many times that were. Needs a write transaction. */
export function resetTimes(
  { prepare }: { readonly prepare: (sql: string) => Statement },
  now: number,
): number {
  const counts = storedTimes.map(({ table, column }) =>
    prepare(`UPDATE ${table} SET ${column} = :now WHERE ${column} > :now`).run({ now }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A row named `newest`; 0 of an empty store. */
export const newestTime = `SELECT max(${storedTimes
  .map(({ table, column }) => `(SELECT coalesce(max(${column}), 0) FROM ${table})`)
  .join()}) AS newest`;
