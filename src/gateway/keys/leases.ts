import type { KeysDatabase } from '../../store/keys/keys-database.ts';
import { once } from '../../time/once.ts';
import type { Lease } from '../call/ports.ts';
import { createBacklog } from './backlog.ts';
import type { KeyRing } from './key-ring.ts';
import { enterCall } from './lease.ts';
import { startSweeper } from './sweeper.ts';

/** The calls of keys that are under way in this process. */
export interface Leases {
  /** Throws RefusedCall and STORE_FAILED. */
  enter(keyId: string): Promise<Lease>;
  /** Counts what has ended. Never rejects. */
  close(): Promise<void>;
}

/** Opens a place among the processes that use the database. Rejects with STORE_FAILED. */
export async function createLeases(
  database: KeysDatabase,
  ring: KeyRing,
  now: () => number,
): Promise<Leases> {
  const owner = once(() => database.claimOwner());
  const backlog = createBacklog(database);
  const sweeper = await startSweeper(database, { own: owner.opened, beside: backlog.flush });
  let count = 0;
  return {
    enter: async (keyId) => {
      await backlog.requireEmpty();
      count += 1;
      const number = count;
      return await enterCall({ database, ring, now, backlog, owner: await owner.open(), number }, keyId);
    },
    close: async () => {
      await sweeper.stop();
      await backlog.flush();
    },
  };
}
