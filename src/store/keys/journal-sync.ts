import { realpathSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Has what was committed written to the disk soon, without anybody who waits for it. */
export interface JournalSync {
  /** Something was committed. */
  touch(): void;
  /** Waits for a sync that is under way. Never rejects. */
  close(): Promise<void>;
}

/** Syncs the journal of a database within about a second of each commit, on a thread of the system's pool. */
export function createJournalSync(file: string): JournalSync {
  const journal = `${realpathSync(file)}-wal`;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  return {
    touch: () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        running = running.then(() => sync(journal));
      }, SYNC_AFTER_MS).unref();
    },
    close: async () => {
      clearTimeout(timer);
      await running;
    },
  };
}

const SYNC_AFTER_MS = 1000;

/** Never rejects: whoever closes the database removes its journal, and a disk that fails shows it to the next commit. */
async function sync(journal: string): Promise<void> {
  try {
    const handle = await open(journal, 'r');
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
  } catch {
    // As above.
  }
}
