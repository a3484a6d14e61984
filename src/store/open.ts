import type { StateStoreConfig } from '../config/config.ts';
import { RuntimeError } from '../errors.ts';
import { createMemoryStore } from './memory.ts';
import { openSqliteStore } from './sqlite.ts';
import type { Store } from './store.ts';

/** The store that a config declares, ready to be written. Throws STORE_FAILED. */
export async function openStore(config: StateStoreConfig): Promise<Store> {
  switch (config.type) {
    case 'memory':
      return createMemoryStore();
    case 'sqlite':
      return await openSqliteStore(config.file);
    case 'refused':
      throw new RuntimeError('STORE_FAILED', config.reason, {
        hint: 'Correct spec.state_store; `type: sqlite` and `type: memory` can be used.',
      });
  }
}
