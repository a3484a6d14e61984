import type { StateStoreConfig } from '../config/config.ts';
import { type HostEnv, hostEnv } from '../process/env.ts';
import { memoryFile } from './sqlite/connection.ts';
import { openSqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { unusableStoreError } from './store-rules.ts';

/** `env` has the address of a Postgres store. Throws STORE_FAILED. */
export async function openStore(config: StateStoreConfig, env: HostEnv = hostEnv()): Promise<Store> {
  switch (config.type) {
    case 'memory':
      return await openSqliteStore(memoryFile);
    case 'sqlite':
      return await openSqliteStore(config.file);
    case 'postgres': {
      // Other stores load no code of Postgres.
      const { readAddress } = await import('./postgres/connection/address.ts');
      const { openPostgresStore } = await import('./postgres-store.ts');
      return await openPostgresStore(readAddress(config.urlEnv, env));
    }
    case 'refused':
      throw unusableStoreError(config.reason);
  }
}
