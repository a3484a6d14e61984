import type { HostEnv } from '../binding/env.ts';
import type { StateStoreConfig } from '../config/config.ts';
import { readAddress } from '../store/postgres/connection/address.ts';
import type { Dispatcher } from './dispatcher.ts';
import { openPgBoss } from './pg-boss.ts';

/** Brings jobs to the workers of a store in Postgres. Connects to nothing yet. What keeps workers from being told is reported. Throws STORE_FAILED. */
export async function openDispatcher(
  store: Extract<StateStoreConfig, { readonly type: 'postgres' }>,
  env: HostEnv,
  report: (error: unknown) => void,
): Promise<Dispatcher> {
  if (store.restate !== undefined) {
    const { openRestate } = await import('./restate.ts');
    return openRestate(store.restate, report);
  }
  return openPgBoss(readAddress(store.urlEnv, env), report);
}
