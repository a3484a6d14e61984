import { dirname, join } from 'node:path';
import type { StateStoreConfig } from '../../config/config.ts';
import { memoryFile } from '../../store/sqlite/connection.ts';
import { notInPostgresError, unusableStoreError } from '../../store/store-rules.ts';

/** The database of keys that belongs to a state store. Throws STORE_FAILED. */
export function keysFileOf(store: StateStoreConfig): string {
  switch (store.type) {
    case 'memory':
      return memoryFile;
    case 'sqlite':
      return join(dirname(store.file), 'keys.db');
    case 'postgres':
      throw notInPostgresError('keys of a gateway');
    case 'refused':
      throw unusableStoreError(store.reason);
  }
}
