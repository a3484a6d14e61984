import type { StateStoreConfig } from './config/config.ts';
import type { Store } from './store/store.ts';

/** A store that is opened when it is first needed. */
export interface LazyStore {
  /** Throws STORE_FAILED; a failure is not remembered. */
  open(): Promise<Store>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function lazyStore(config: StateStoreConfig): LazyStore {
  let opening: Promise<Store> | undefined;
  const open = async () => {
    const { openStore } = await import('./store/open.ts');
    return await openStore(config);
  };
  return {
    open: () => {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    close: async () => {
      const store = await opening?.catch(() => undefined);
      await store?.close();
    },
  };
}
