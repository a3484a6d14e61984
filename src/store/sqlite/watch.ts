import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Watch } from '../store.ts';

/** Watches a database for writes of any process: each goes to the journal beside the file. Never throws. */
export function watchDatabase(file: string, tell: () => void): Watch {
  let watcher: FSWatcher | undefined;
  const close = () => {
    watcher?.close();
    watcher = undefined;
  };
  try {
    const real = realpathSync(file);
    const name = basename(real);
    // The folder, because the journal comes and goes. Whoever waits has a timer that keeps the process alive.
    watcher = watch(dirname(real), { persistent: false }, (_what, changed) => {
      if (changed === null || changed.startsWith(name)) tell();
    });
    watcher.on('error', () => {
      close();
      tell();
    });
  } catch {
    // There are only so many watches on a machine, and some file systems have none.
  }
  return { isLive: () => watcher !== undefined, close };
}
