import { toRuntimeError } from '../../base/errors.ts';
import { once } from '../../base/time/once.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import type { HostEnv } from '../../process/env.ts';
import { readAddress } from '../../store/postgres/connection/address.ts';
import type { Announce } from '../../store/shared-work.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';

/** The dispatcher of a store that has one, which is opened when it is first needed. */
export interface LazyDispatcher {
  /** Undefined where the store knows no workers. Rejects with STORE_FAILED. */
  open(): Promise<Dispatcher | undefined>;
  readonly announce: Announce;
  /** Never rejects. */
  close(): Promise<void>;
}

export function lazyDispatcher(
  store: StateStoreConfig,
  env: HostEnv,
  warn: (message: string) => void,
): LazyDispatcher {
  let hasWarned = false;
  const report = (error: unknown) => {
    // A sweep tells of them later; it is said once, and not for each.
    if (!hasWarned) warn(`workers were not told of a run at once: ${toRuntimeError(error).message}`);
    hasWarned = true;
  };
  const opening = once(async () => {
    if (store.type !== 'postgres') return undefined;
    const { openPgBoss } = await import('../dispatch/pg-boss.ts');
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
