import { resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { environmentOf } from '../../config/environment/read.ts';
import { requireConfig } from '../../config/load.ts';
import type { HostEnv } from '../../process/env.ts';

export interface MigratedStore {
  readonly store: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Migrates the Postgres store of a RuntimeConfig file to the version of this Signalbox. Throws CONFIG_INVALID,
 * FILE_UNREADABLE, STORE_FAILED, and USAGE for another kind of store.
 */
export async function migrateStore(
  file: string,
  env: HostEnv,
  overlays: readonly string[] = [],
): Promise<MigratedStore> {
  const config = requireConfig(resolve(file), env['PATH'] ?? '', { env, overlays });
  const { stateStore } = config;
  if (stateStore.type !== 'postgres') {
    throw new RuntimeError('USAGE', `the state store of ${file} is not in Postgres`, {
      hint: 'A SQLite store gets its tables when it is opened.',
    });
  }
  const { readAddress } = await import('../../store/postgres/connection/address.ts');
  const { migratePostgres } = await import('../../store/postgres/layout/migrations.ts');
  const address = readAddress(stateStore.urlEnv, environmentOf(config, env));
  return { store: address.location, ...(await migratePostgres(address)) };
}

export interface ResetClock {
  readonly store: string;
  readonly changed: number;
}

/**
 * Sets all stored times that are later than now to now, in the SQLite store of a RuntimeConfig file. Expiry times of
 * calls and ends of waits stay. Throws CONFIG_INVALID, FILE_UNREADABLE, STORE_FAILED, and USAGE for another kind of
 * store.
 */
export async function resetClock(
  file: string,
  env: HostEnv,
  overlays: readonly string[] = [],
): Promise<ResetClock> {
  const { stateStore } = requireConfig(resolve(file), env['PATH'] ?? '', { env, overlays });
  if (stateStore.type !== 'sqlite') {
    throw new RuntimeError('USAGE', `the state store of ${file} is not a file`, {
      hint: 'A store in Postgres uses the clock of its server.',
    });
  }
  const { openDatabase } = await import('../../store/sqlite/database.ts');
  const { resetTimes } = await import('../../store/sqlite/inspect.ts');
  const database = await openDatabase(stateStore.file, WAIT_MS);
  try {
    const changed = await database.write(() => resetTimes(database, Date.now()));
    return { store: database.location, changed };
  } finally {
    await database.close(async () => {});
  }
}

const WAIT_MS = 30_000;
