import { RuntimeError } from '../../../base/errors.ts';
import { notifyTables } from '../../changes.ts';
import { numberOf } from '../../sqlite/row.ts';
import { decisionTables, identityTable, pinTable, toPostgresTables } from '../../tables.ts';
import type { Address } from '../connection/address.ts';
import { connect, type Link } from '../connection/client.ts';
import { toPostgresError } from '../connection/postgres-error.ts';
import { transact } from '../connection/session.ts';
import { layout } from './layout.ts';

/**
 * The statements from each version to the next. The first creates its tables in their newest form, so the others change
 * none of them in a new database.
 */
export const migrations: readonly string[] = [
  layout,
  'ALTER TABLE signalbox.gateway_keys ADD COLUMN IF NOT EXISTS role text, ADD COLUMN IF NOT EXISTS tools text;',
  toPostgresTables(identityTable),
  notifyTables,
  toPostgresTables(decisionTables),
  toPostgresTables(pinTable),
];

/** Connects, and creates the tables if there are none. Throws STORE_FAILED for another version. */
export async function openLink(address: Address): Promise<Link> {
  try {
    const link = await connect(address);
    try {
      await requireTables(link, address.location);
      return link;
    } catch (error) {
      await link.end();
      throw error;
    }
  } catch (error) {
    throw toPostgresError(error, address);
  }
}

/** Migrates the tables to this version. Returns both versions. Throws STORE_FAILED. */
export async function migratePostgres(
  address: Address,
  all = migrations,
): Promise<{ readonly from: number; readonly to: number }> {
  try {
    const link = await connect(address);
    try {
      return await migrate(link, address.location, all);
    } finally {
      await link.end();
    }
  } catch (error) {
    throw toPostgresError(error, address);
  }
}

/** 0: there are no tables. Rejects with the error of Postgres. */
async function findVersion(link: Link): Promise<number> {
  const [there] = await link.query({ text: look });
  if (there?.['there'] !== true) return 0;
  const [row] = await link.query({ text: 'SELECT version FROM signalbox.layout' });
  return numberOf(row ?? { version: null }, 'version');
}

/** Reads the catalogue, because to_regclass() may return what the session knew before it waited for the lock. */
const look = `SELECT EXISTS (
  SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'signalbox' AND c.relname = 'layout') AS there`;

/**
 * Creates missing tables. Rejects with STORE_FAILED and changes nothing for another version, because older programs may
 * be using it.
 */
async function requireTables(link: Link, location: string, all = migrations): Promise<void> {
  const known = all.length;
  const found = (await findVersion(link)) || (await migrate(link, location, all)).to;
  if (found === known) return;
  if (found > known) throw newerError(location, found, known);
  throw new RuntimeError(
    'STORE_FAILED',
    `the state store ${location} has version ${found}, but this Signalbox needs version ${known}`,
    { hint: 'Stop all older Signalbox processes that use it, and run `signalbox store migrate`.' },
  );
}

/** Migrates in one transaction. Rejects with STORE_FAILED for a newer version. */
async function migrate(
  link: Link,
  location: string,
  all = migrations,
): Promise<{ readonly from: number; readonly to: number }> {
  return await transact(link, async () => {
    await link.query({ text: 'SET LOCAL statement_timeout = 0' });
    await link.query({ text: `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})` });
    const from = await findVersion(link);
    if (from > all.length) throw newerError(location, from, all.length);
    for (const statements of all.slice(from)) await link.query({ text: statements });
    if (from < all.length) await link.query({ text: `UPDATE signalbox.layout SET version = ${all.length}` });
    return { from, to: all.length };
  });
}

/** "SGBX", as in a SQLite store. */
const MIGRATION_LOCK = 0x53474258;

function newerError(location: string, found: number, known: number): RuntimeError {
  return new RuntimeError(
    'STORE_FAILED',
    `the state store ${location} has version ${found}, but this Signalbox supports version ${known}`,
    { hint: 'A newer Signalbox wrote it: use that version, or another database.' },
  );
}

export interface PostgresState {
  readonly version: number;
  readonly knownVersion: number;
  readonly waiting: { readonly calls: number; readonly runs: number };
  /** How far the server's clock is ahead of this one, in ms. */
  readonly aheadMs: number;
}

export async function inspectPostgres(address: Address): Promise<PostgresState> {
  try {
    const link = await connect(address);
    try {
      const version = await findVersion(link);
      const waiting = version === migrations.length ? await countWaiting(link) : { calls: 0, runs: 0 };
      return { version, knownVersion: migrations.length, waiting, aheadMs: await compareClocks(link) };
    } finally {
      await link.end();
    }
  } catch (error) {
    throw toPostgresError(error, address);
  }
}

async function countWaiting(link: Link): Promise<PostgresState['waiting']> {
  const [row = {}] = await link.query({
    text: `SELECT (SELECT count(*) FROM signalbox.pendings WHERE ruling IS NULL) AS calls,
      (SELECT count(*) FROM signalbox.runs WHERE status IN ('queued', 'running', 'pending')) AS runs`,
  });
  return { calls: numberOf(row, 'calls'), runs: numberOf(row, 'runs') };
}

async function compareClocks(link: Link): Promise<number> {
  const askedAt = Date.now();
  const [row = {}] = await link.query({
    text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  });
  return numberOf(row, 'now') - Math.round((askedAt + Date.now()) / 2);
}
