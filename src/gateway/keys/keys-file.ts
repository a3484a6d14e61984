import { dirname, join } from 'node:path';
import type { StateStoreConfig } from '../../config/config.ts';
import { memoryFile } from '../../store/sqlite/connection.ts';
import { unusableStoreError } from '../../store/store-rules.ts';

/** The file of keys that belongs to a state store. Throws STORE_FAILED. */
export function keysFileOf(store: Exclude<StateStoreConfig, { type: 'postgres' }>): string {
  switch (store.type) {
    case 'memory':
      return memoryFile;
    case 'sqlite':
      return join(dirname(store.file), 'keys.db');
    case 'refused':
      throw unusableStoreError(store.reason);
  }
}
