import type { StateStoreConfig } from '../config/config.ts';
import type { ResultStore } from '../store/result-store.ts';
import type { Store } from '../store/store.ts';

/** Something that is opened when it is first needed. */
export interface Lazy<Opened> {
  /** Throws STORE_FAILED; a failure is not remembered. */
  open(): Promise<Opened>;
  /** Never rejects. */
  close(): Promise<void>;
}

export type LazyStore = Lazy<Store>;

export function lazyStore(config: StateStoreConfig): LazyStore {
  return lazy(async () => {
    const { openStore } = await import('../store/open-store.ts');
    return await openStore(config);
  });
}

/** The result store of suites, beside the state store, opened on first use. */
export function lazyResults(config: StateStoreConfig): Lazy<ResultStore> {
  return lazy(async () => {
    const { openResultStore } = await import('../store/open-result-store.ts');
    return await openResultStore(config);
  });
}

function lazy<Opened extends { close(): unknown }>(start: () => Promise<Opened>): Lazy<Opened> {
  let opening: Promise<Opened> | undefined;
  return {
    open: () => {
      opening ??= start().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    close: async () => {
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };
}
