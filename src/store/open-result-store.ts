import { dirname, join } from 'node:path';
import type { StateStoreConfig } from '../config/config.ts';
import type { ResultStore } from './result-store.ts';
import { memoryFile } from './sqlite/connection.ts';
import { openSqliteResults } from './sqlite-result-store.ts';
import { notInPostgresError, unusableStoreError } from './store-rules.ts';

/** The results of suites that belong to a state store: in `evals.db` beside it. Throws STORE_FAILED. */
export async function openResultStore(config: StateStoreConfig): Promise<ResultStore> {
  switch (config.type) {
    case 'memory':
      return await openSqliteResults(memoryFile);
    case 'sqlite':
      return await openSqliteResults(join(dirname(config.file), 'evals.db'));
    case 'postgres':
      throw notInPostgresError('results of suites and of hooks in shadow mode');
    case 'refused':
      throw unusableStoreError(config.reason);
  }
}
