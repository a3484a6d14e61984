import { once } from '../../base/time/once.ts';
import { openKeysDatabase } from '../../store/keys/keys-database.ts';
import { createBacklog } from './backlog.ts';
import { createKeyRing } from './key-ring.ts';
import { enterCall } from './lease.ts';
import type { KeyLedger } from './ledger.ts';
import { startSweeper } from './sweeper.ts';

/** The keys in a file, and a place among the processes that use it. Rejects with STORE_FAILED. */
export async function openLocalLedger(file: string, now: () => number): Promise<KeyLedger> {
  const database = await openKeysDatabase(file, { commitWaitsFor: 'nothing' });
  try {
    const ring = createKeyRing(database.tables.keys);
    const owner = once(() => database.claimOwner());
    const backlog = createBacklog();
    const sweeper = await startSweeper(database, { own: owner.opened, beside: backlog.flush });
    let count = 0;
    return {
      find: (text) => database.read(() => ring.find(text)),
      hasKeys: () => database.read(ring.hasKeys),
      hookSets: () => database.read(database.tables.keys.hookSets),
      enter: async ({ key }, estimate) => {
        await backlog.requireEmpty();
        count += 1;
        const number = count;
        const call = { database, ring, now, backlog, owner: await owner.open(), number, estimate };
        return await enterCall(call, key.id);
      },
      close: async () => {
        await sweeper.stop();
        await backlog.flush();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
