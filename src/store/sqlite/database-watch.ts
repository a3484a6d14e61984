import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { StoreWatch } from '../store.ts';

/** Watches a database for writes of any process: each goes to the journal beside the file. Never throws. */
export function watchDatabase(file: string, onChange: () => void): StoreWatch {
  let watcher: FSWatcher | undefined;
  const close = () => {
    watcher?.close();
    watcher = undefined;
  };
  try {
    const real = realpathSync(file);
    const name = basename(real);
    // The folder, because the journal comes and goes. Callers keep the process alive with a timer.
    watcher = watch(dirname(real), { persistent: false }, (_what, changed) => {
      if (changed === null || changed.startsWith(name)) onChange();
    });
    watcher.on('error', () => {
      close();
      onChange();
    });
  } catch {
    // There are only so many watches on a machine, and some file systems have none.
  }
  return { isLive: () => watcher !== undefined, close };
}

/** Watches of a database that nobody but this process writes to, and what calls all of them. */
export function createLocalWatches() {
  const listeners = new Set<() => void>();
  return {
    notify: () => {
      for (const onChange of listeners) onChange();
    },
    watch: (onChange: () => void): StoreWatch => {
      listeners.add(onChange);
      return { isLive: () => true, close: () => listeners.delete(onChange) };
    },
  };
}
