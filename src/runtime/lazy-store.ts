import { type Once, once } from '../base/time/once.ts';
import type { StateStoreConfig } from '../config/config.ts';
import { type HostEnv, hostEnv } from '../process/env.ts';
import type { ResultStore } from '../store/result-store.ts';
import type { Store } from '../store/store.ts';

/** A store that is opened when it is first needed. `open` throws STORE_FAILED; a failure is not remembered. */
export interface Lazy<Opened> extends Once<Opened> {
  /** Closes it, if it was opened. Never rejects. */
  close(): Promise<void>;
}

export type LazyStore = Lazy<Store>;

/** The state store, as `wrap` gives it; `env` has the address of one in Postgres. */
export function lazyStore(
  config: StateStoreConfig,
  wrap: (store: Store) => Store | Promise<Store> = (store) => store,
  env: HostEnv = hostEnv(),
): LazyStore {
  return lazy(async () => {
    const { openStore } = await import('../store/open-store.ts');
    const opened = await openStore(config, env);
    try {
      return await wrap(opened);
    } catch (error) {
      await opened.close();
      throw error;
    }
  });
}

/** The result store of suites, with the state store; `env` has the address of one in Postgres. */
export function lazyResults(config: StateStoreConfig, env: HostEnv = hostEnv()): Lazy<ResultStore> {
  return lazy(async () => {
    const { openResultStore } = await import('../store/open-result-store.ts');
    return await openResultStore(config, env);
  });
}

function lazy<Opened extends { close(): unknown }>(load: () => Promise<Opened>): Lazy<Opened> {
  const opening = once(load);
  return { ...opening, close: async () => void (await (await opening.opened())?.close()) };
}
