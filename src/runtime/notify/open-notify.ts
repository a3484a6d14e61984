import { identityOf } from '../../config/overlay/identity.ts';
import type { Emit } from '../../contract/event.ts';
import type { ProcessContext } from '../../process/process.ts';
import type { Store } from '../../store/store.ts';
import type { LoadedRuntime } from '../stages/load.ts';
import type { Deliverer } from './deliverer.ts';

/** Who is told what happens to runs, over the store of a runtime. */
export interface Notify {
  /** The store, whose runs are told of from now on. Throws STORE_FAILED. */
  wrap(store: Store, emit: Emit): Promise<Store>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Nothing of it is loaded where nobody is to be told. */
export function openNotify({ config, host, launch, scrubber }: LoadedRuntime): Notify {
  let deliverer: Deliverer | undefined;
  return {
    wrap: async (store, emit) => {
      if (config.notify === undefined) {
        await store.outbox.setRules(identityOf(config), []);
        return store;
      }
      const { openTargets, rulesOf } = await import('./target.ts');
      const { openDeliverer } = await import('./deliverer.ts');
      const { notifyingStore } = await import('./notifying-store.ts');
      const process: ProcessContext = { launch, emit, scrubber };
      const targets = openTargets(config, { host, process });
      scrubber.add(targets.flatMap(({ secrets }) => secrets));
      await store.outbox.setRules(identityOf(config), rulesOf(targets));
      deliverer = openDeliverer({ store, targets, emit, redact: scrubber.storedText });
      const { kick } = deliverer;
      kick();
      return notifyingStore(store, kick);
    },
    close: async () => await deliverer?.close(),
  };
}
