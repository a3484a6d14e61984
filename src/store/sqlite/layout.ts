import type { DatabaseSync } from 'node:sqlite';
import { RuntimeError } from '../../base/errors.ts';
import { numberOf } from './row.ts';

/** What one of our files looks like inside. */
export interface Layout {
  /**
   * Identifies the kind of database file. Source: https://www.sqlite.org/pragma.html#pragma_application_id
   */
  readonly applicationId: number;
  /** Of the tables that this Signalbox writes, kept as the file's user_version. */
  readonly version: number;
  /** The statements that make them. */
  readonly tables: string;
}

/** Throws STORE_FAILED, and changes nothing, when the file belongs to another program or to another version of Signalbox. */
export function checkOwner(connection: DatabaseSync, file: string, layout: Layout): void {
  const version = readPragma(connection, 'user_version');
  const application = readPragma(connection, 'application_id');
  if (application !== layout.applicationId && (application !== 0 || version !== 0 || hasTables(connection))) {
    throw new RuntimeError('STORE_FAILED', `${file} is the database of another program`, {
      hint: 'Choose another path in spec.state_store.',
    });
  }
  if (application === layout.applicationId && version !== layout.version) {
    const who = version > layout.version ? 'A newer Signalbox' : 'A Signalbox before the first release';
    throw new RuntimeError(
      'STORE_FAILED',
      `the state store ${file} is of version ${version}, and this Signalbox knows version ${layout.version}`,
      { hint: `${who} has written it: use that one, or choose another path in spec.state_store.` },
    );
  }
}

/** Creates the tables of a new file. Runs in the caller's transaction. */
export function createTables(connection: DatabaseSync, layout: Layout): void {
  if (readPragma(connection, 'user_version') === 0) {
    connection.exec(layout.tables);
    connection.exec(
      `PRAGMA application_id = ${layout.applicationId}; PRAGMA user_version = ${layout.version}`,
    );
  }
}

/**
 * Throws SQLite's error unless the file can be written. Only a write shows that: on a read-only file SQLite
 * accepts a write transaction. Runs in the caller's transaction, which is rolled back.
 */
export function probeWrite(connection: DatabaseSync, { version }: Layout): void {
  connection.exec(`PRAGMA user_version = ${version}`);
}

function readPragma(connection: DatabaseSync, name: string): number {
  return numberOf(connection.prepare(`PRAGMA ${name}`).get() ?? {}, name);
}

function hasTables(connection: DatabaseSync): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
}
