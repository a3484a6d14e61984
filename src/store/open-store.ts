import type { StateStoreConfig } from '../config/config.ts';
import { memoryFile } from './sqlite/connection.ts';
import { openSqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { unusableStoreError } from './store-rules.ts';

/** The store that a config declares, ready to be written. Throws STORE_FAILED. */
export async function openStore(config: StateStoreConfig): Promise<Store> {
  switch (config.type) {
    case 'memory':
      return await openSqliteStore(memoryFile);
    case 'sqlite':
      return await openSqliteStore(config.file);
    case 'refused':
      throw unusableStoreError(config.reason);
  }
}
