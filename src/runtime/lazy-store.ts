import { toRuntimeError } from '../base/errors.ts';
import { type Once, once } from '../base/time/async.ts';
import type { StateStoreConfig } from '../config/config.ts';
import { type HostEnv, hostEnv } from '../process/env.ts';
import type { DecisionStore } from '../store/decision-store.ts';
import { readAddress } from '../store/postgres/connection/address.ts';
import type { ResultStore } from '../store/result-store.ts';
import type { Announce } from '../store/shared-work.ts';
import type { Store } from '../store/store.ts';
import type { Dispatcher } from './dispatch/dispatcher.ts';

/** A store that opens on first use. `open` throws STORE_FAILED; the next call tries again. */
export interface Lazy<Opened> extends Once<Opened> {
  close(): Promise<void>;
}

export type LazyStore = Lazy<Store>;

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

export function lazyResults(config: StateStoreConfig, env: HostEnv = hostEnv()): Lazy<ResultStore> {
  return lazy(async () => {
    const { openResultStore } = await import('../store/open-result-store.ts');
    return await openResultStore(config, env);
  });
}

export interface LazyDecisions extends Pick<Lazy<DecisionStore>, 'open' | 'close'> {
  /** Undefined if nothing was recorded yet. Throws STORE_FAILED. */
  find(): Promise<DecisionStore | undefined>;
  /** Closes a store that failed, so that the next `open` opens it again. Never rejects. */
  reopen(): Promise<void>;
}

export function lazyDecisions(config: StateStoreConfig, env: HostEnv): LazyDecisions {
  const load = async () => await import('../store/open-decisions.ts');
  const openNew = () => lazy(async () => await (await load()).openDecisions(config, env));
  let current = openNew();
  return {
    open: () => current.open(),
    find: async () => {
      const isOpen = (await current.opened()) !== undefined;
      return isOpen || (await load()).mayHaveDecisions(config) ? await current.open() : undefined;
    },
    reopen: async () => {
      const failed = current;
      current = openNew();
      await failed.close();
    },
    close: () => current.close(),
  };
}

function lazy<Opened extends { close(): unknown }>(load: () => Promise<Opened>): Lazy<Opened> {
  const opening = once(load);
  return { ...opening, close: async () => void (await (await opening.opened())?.close()) };
}

export interface LazyDispatcher {
  open(): Promise<Dispatcher | undefined>;
  readonly announce: Announce;
  close(): Promise<void>;
}

export function lazyDispatcher(
  store: StateStoreConfig,
  env: HostEnv,
  warn: (message: string) => void,
): LazyDispatcher {
  let hasWarned = false;
  const report = (error: unknown) => {
    if (!hasWarned) warn(`workers were not notified of a run at once: ${toRuntimeError(error).message}`);
    hasWarned = true;
  };
  const opening = once(async () => {
    if (store.type !== 'postgres') return undefined;
    const { openPgBoss } = await import('./dispatch/pg-boss.ts');
    return openPgBoss(readAddress(store.urlEnv, env), report);
  });
  return {
    open: opening.open,
    announce: async (jobs, transaction) => {
      try {
        return (await (await opening.open())?.announce(jobs, transaction)) ?? false;
      } catch (error) {
        report(error);
        return false;
      }
    },
    close: async () => await (await opening.opened())?.close(),
  };
}
