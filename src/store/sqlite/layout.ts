import type { DatabaseSync } from 'node:sqlite';
import { RuntimeError } from '../../base/errors.ts';
import { numberOf } from './row.ts';

export interface Layout {
  /** Identifies the kind of database file. Source: https://www.sqlite.org/pragma.html#pragma_application_id */
  readonly applicationId: number;
  /** The version of the tables, stored as user_version. */
  readonly version: number;
  readonly tables: string;
  /** The statements from earlier versions to the next one; the last leads to `version`. Default: none. */
  readonly upgrades?: readonly string[];
}

/** Throws STORE_FAILED if the file belongs to another program, or has a version without upgrades; changes nothing. */
export function checkOwner(connection: DatabaseSync, file: string, layout: Layout): void {
  const version = readPragma(connection, 'user_version');
  const application = readPragma(connection, 'application_id');
  if (application !== layout.applicationId && (application !== 0 || version !== 0 || hasTables(connection))) {
    throw new RuntimeError('STORE_FAILED', `${file} is a database of another program`, {
      hint: 'Choose another path in spec.state_store.',
    });
  }
  const isKnown = version <= layout.version && version >= layout.version - (layout.upgrades?.length ?? 0);
  if (application === layout.applicationId && !isKnown) {
    const who = version > layout.version ? 'A newer Signalbox' : 'A Signalbox before the first release';
    throw new RuntimeError(
      'STORE_FAILED',
      `the state store ${file} has version ${version}, but this Signalbox supports version ${layout.version}`,
      { hint: `${who} wrote it: use that version, or choose another path in spec.state_store.` },
    );
  }
}

/** Creates the tables, or upgrades those of an earlier version. `checkOwner` must have passed. */
export function createTables(connection: DatabaseSync, layout: Layout): void {
  const { applicationId, version, tables, upgrades = [] } = layout;
  const found = readPragma(connection, 'user_version');
  if (found === version) return;
  connection.exec(found === 0 ? tables : upgrades.slice(found - version).join('\n'));
  connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`);
}

/**
 * Throws the error of SQLite if the file is read-only. Only a write shows that, because SQLite accepts a write
 * transaction on a read-only file. Runs in a transaction that the caller rolls back.
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
