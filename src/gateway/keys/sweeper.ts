import type { KeysDatabase } from '../../store/keys/keys-database.ts';
import { settleDead } from './settle.ts';

/** Ends the calls of processes that are gone, now and then. */
export interface Sweeper {
  /** Waits for a sweep that is under way. Never rejects. */
  stop(): Promise<void>;
}

export interface SweeperOptions {
  /** The mark of this process, once it has one. */
  readonly own: () => Promise<string | undefined>;
  /** Done before each further sweep. Never rejects. */
  readonly beside: () => Promise<void>;
}

/** Sweeps at once, and then every second. Rejects with STORE_FAILED when the first sweep fails. */
export async function startSweeper(
  database: KeysDatabase,
  { own, beside }: SweeperOptions,
): Promise<Sweeper> {
  await sweep(database, undefined);
  let running: Promise<void> | undefined;
  const run = async () => {
    await beside();
    // A database that cannot be used says so to the calls.
    await sweep(database, await own()).catch(() => {});
    running = undefined;
  };
  const timer = setInterval(() => {
    running ??= run();
  }, EVERY_MS).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

const EVERY_MS = 1000;

async function sweep(database: KeysDatabase, own: string | undefined): Promise<void> {
  const { leases } = database.tables;
  const owners = await database.read(leases.owners);
  if (owners.every((owner) => owner === own)) return;
  await database.change(() => settleDead(database.tables, database.liveOwners()));
}
