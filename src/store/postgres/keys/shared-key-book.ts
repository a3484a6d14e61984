import type { KeyRecord, UsageRecord } from '../../keys/key.ts';
import type { KeyBook, KeyChanges, KeyEntry } from '../../keys/key-book.ts';
import {
  keyColumns,
  keyOfRow,
  PREFIX_LENGTH,
  rowOfKey,
  secretColumns,
  secretOfRow,
} from '../../keys/key-table.ts';
import { noUsage, usageOfRow } from '../../keys/usage-table.ts';
import { DamagedError, decodeRow, encodeText, numberOf, type Row } from '../../sqlite/row.ts';
import type { Address } from '../connection/address.ts';
import type { Link } from '../connection/client.ts';
import { toPostgresError } from '../connection/postgres-error.ts';
import { transact } from '../connection/session.ts';
import { openFunctionCaller } from '../function-caller.ts';

/** The keys in a database that all replicas share. Throws STORE_FAILED. */
export async function openSharedKeyBook(address: Address): Promise<KeyBook> {
  const caller = await openFunctionCaller(address);
  const run = async <Result>(work: (link: Link) => Promise<Result>): Promise<Result> => {
    try {
      return await caller.run(work);
    } catch (error) {
      throw toPostgresError(error, address);
    }
  };
  return {
    location: caller.location,
    list: () =>
      run(async (link) => {
        const keys = await link.query({
          text: `SELECT ${keyColumns} FROM signalbox.gateway_keys ORDER BY seq`,
        });
        const secrets = (
          await link.query({ text: `SELECT ${secretColumns} FROM signalbox.gateway_secrets ORDER BY seq` })
        ).map((row) => secretOfRow(decodeRow(row)));
        const byKey = Map.groupBy(secrets, ({ keyId }) => keyId);
        return keys.map(toKey).map((key) => ({ key, secrets: byKey.get(key.id) ?? [] }));
      }),
    find: (which) => run((link) => find(link, which)),
    usageOf: (id, periods) => run((link) => usageOf(link, id, periods)),
    change: async (which, plan) => {
      let made: { readonly id: string; readonly changes: KeyChanges } | undefined;
      return await run((link) =>
        transact(link, async () => {
          // One after another, so that no name is given twice.
          await link.query({ text: `SELECT pg_advisory_xact_lock(${KEYS_LOCK})` });
          // What was made already, and its answer was lost with the connection, is there.
          if (made === undefined || !(await isMade(link, made.changes))) {
            const found = await find(link, which);
            const changes = plan(found);
            made = { changes, id: changes.key?.id ?? found?.key.id ?? '' };
            await makeChanges(link, made.id, changes);
          }
          const changed = await find(link, made.id);
          if (changed === undefined) throw new DamagedError('a key that was changed is not there');
          return changed;
        }),
      );
    },
    close: caller.close,
  };
}

/** "SGBK", as in a file of keys. */
const KEYS_LOCK = 0x5347424b;

function toKey(row: Row): KeyRecord {
  return keyOfRow(decodeRow(row));
}

async function find(link: Link, which: string): Promise<KeyEntry | undefined> {
  const [row] = await link.query({
    text: `SELECT ${keyColumns} FROM signalbox.gateway_keys WHERE id = $1 OR name = $1
      ORDER BY id = $1 DESC, revoked_at IS NULL DESC, seq DESC LIMIT 1`,
    values: [encodeText(which)],
  });
  if (row === undefined) return undefined;
  const key = toKey(row);
  const secrets = await link.query({
    text: `SELECT ${secretColumns} FROM signalbox.gateway_secrets WHERE key = $1 ORDER BY seq`,
    values: [key.id],
  });
  return { key, secrets: secrets.map((secret) => secretOfRow(decodeRow(secret))) };
}

async function usageOf(link: Link, id: string, periods: readonly string[]) {
  const [held = { calls: 0 }] = await link.query({
    text: 'SELECT calls FROM signalbox.gateway_held WHERE key = $1',
    values: [id],
  });
  const rows = await link.query({
    text: 'SELECT * FROM signalbox.gateway_usage WHERE key = $1',
    values: [id],
  });
  const used = new Map(rows.map((row): [string, UsageRecord] => [String(row['period']), usageOfRow(row)]));
  return {
    calls: numberOf(held, 'calls'),
    usage: periods.map((period) => used.get(period) ?? { period, ...noUsage }),
  };
}

async function isMade(link: Link, { secret }: KeyChanges): Promise<boolean> {
  if (secret === undefined) return false;
  const rows = await link.query({
    text: 'SELECT 1 AS is_there FROM signalbox.gateway_secrets WHERE hash = $1',
    values: [secret.hash],
  });
  return rows.length > 0;
}

async function makeChanges(
  link: Link,
  id: string,
  { key, revokedAt, ended = [], secret }: KeyChanges,
): Promise<void> {
  if (key !== undefined) {
    await insert(link, 'gateway_keys', rowOfKey(key));
    await insert(link, 'gateway_held', { key: key.id, calls: 0, cost: 0 });
  }
  if (revokedAt !== undefined) {
    const text = 'UPDATE signalbox.gateway_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL';
    await link.query({ text, values: [id, revokedAt] });
  }
  for (const { hash, at } of ended) {
    const text =
      'UPDATE signalbox.gateway_secrets SET expires_at = $2 WHERE hash = $1 AND (expires_at IS NULL OR expires_at > $2)';
    await link.query({ text, values: [hash, at] });
  }
  if (secret !== undefined) {
    const { keyId, hash, hint, createdAt, expiresAt } = secret;
    const row = { key: keyId, hash, hint, created_at: createdAt, expires_at: expiresAt };
    await insert(link, 'gateway_secrets', { ...row, prefix: hash.slice(0, PREFIX_LENGTH) });
  }
}

async function insert(
  link: Link,
  table: string,
  row: Readonly<Record<string, string | number | null>>,
): Promise<void> {
  const names = Object.keys(row);
  const places = names.map((_, index) => `$${index + 1}`);
  await link.query({
    text: `INSERT INTO signalbox.${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
    values: Object.values(row).map((value) => (typeof value === 'string' ? encodeText(value) : value)),
  });
}
