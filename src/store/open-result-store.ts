import { dirname, join } from 'node:path';
import type { StateStoreConfig } from '../config/config.ts';
import { type HostEnv, hostEnv } from '../process/env.ts';
import type { ResultStore } from './result-store.ts';
import { memoryFile } from './sqlite/connection.ts';
import { openSqliteResults } from './sqlite-result-store.ts';
import { unusableStoreError } from './store-rules.ts';

/**
 * Opens the suite results of a state store: `evals.db` beside it, or the same database, whose address is in `env`.
 * Throws STORE_FAILED.
 */
export async function openResultStore(
  config: StateStoreConfig,
  env: HostEnv = hostEnv(),
): Promise<ResultStore> {
  switch (config.type) {
    case 'memory':
      return await openSqliteResults(memoryFile);
    case 'sqlite':
      return await openSqliteResults(join(dirname(config.file), 'evals.db'));
    case 'postgres': {
      // Other stores load no code of Postgres.
      const { readAddress } = await import('./postgres/connection/address.ts');
      const { openPostgresResults } = await import('./postgres-result-store.ts');
      return await openPostgresResults(readAddress(config.urlEnv, env));
    }
    case 'refused':
      throw unusableStoreError(config.reason);
  }
}
