import { numberOf } from '../sqlite/row.ts';
import type { Address } from './connection/address.ts';
import { connect, type Link } from './connection/client.ts';
import { toPostgresError } from './connection/postgres-error.ts';
import { findVersion, migrations } from './layout/migrations.ts';

/** What a Postgres store is found to be, looked at from outside. */
export interface PostgresState {
  /** Of the tables; 0: there are none. */
  readonly version: number;
  /** The version that this Signalbox needs. */
  readonly knownVersion: number;
  readonly waiting: { readonly calls: number; readonly runs: number };
  /** How far the server's clock is before this one, in ms. */
  readonly aheadMs: number;
}

/** Looks into a Postgres store, and changes nothing in it. Throws STORE_FAILED. */
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

/** As of the middle between the question and the answer. */
async function compareClocks(link: Link): Promise<number> {
  const askedAt = Date.now();
  const [row = {}] = await link.query({
    text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  });
  return numberOf(row, 'now') - Math.round((askedAt + Date.now()) / 2);
}
