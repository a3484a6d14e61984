import type { Watch } from './launch/launch.ts';
import { startWatcher, type Watcher } from './launch/watcher.ts';

/** Tells launchers' news to the watcher of this thread, which is started with the first process. */
export const watch: Watch = {
  starting: (stdout) => {
    requireWatcher()?.starting(stdout);
  },
  started: (group) => {
    if (group !== null) running.add(group);
    requireWatcher()?.started(group);
  },
};

/** From now on the group may live or die as it likes. */
export function letGo(group: number): void {
  if (running.delete(group)) watcher?.ended(group);
}

/** Sends a signal to the whole group; false when nobody is there. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Keeps the watcher until the returned function is called: by whoever may start processes. `onLost` is told when processes
 * would outlive a kill of this one.
 */
export function holdWatcher(onLost: (reason: string) => void): () => Promise<void> {
  holders.add(onLost);
  return async () => {
    if (!holders.delete(onLost) || holders.size > 0) return;
    const last = watcher;
    watcher = undefined;
    await last?.close();
  };
}

/** Groups that must not outlive this process, whatever ends it. */
const running = new Set<number>();
process.on('exit', () => {
  for (const group of running) signalGroup(group, 'SIGKILL');
});

const holders = new Set<(reason: string) => void>();
let watcher: Watcher | undefined;
let losses = 0;

/** One that somebody killed is replaced; where none can live, there is none. */
const MOST_LOSSES = 3;

function requireWatcher(): Watcher | undefined {
  if (watcher !== undefined || losses >= MOST_LOSSES) return watcher;
  const started = startWatcher((reason) => {
    losses += 1;
    if (watcher === started) watcher = undefined;
    if (losses >= MOST_LOSSES) for (const onLost of holders) onLost(reason);
    else if (running.size > 0) requireWatcher();
  });
  watcher = started;
  for (const group of running) started.started(group);
  return watcher;
}
