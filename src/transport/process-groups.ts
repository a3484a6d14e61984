import type { LaunchListener } from './launch/launch.ts';
import { startWatcher, type Watcher } from './launch/watcher.ts';

/** Reports starts of processes to this thread's watcher, which is started with the first process. */
export const launchListener: LaunchListener = {
  starting: (stdout) => {
    requireWatcher()?.starting(stdout);
  },
  started: (group) => {
    if (group !== null) running.add(group);
    requireWatcher()?.started(group);
  },
};

/** Stops watching the group: it is no longer killed when this process ends. */
export function releaseGroup(group: number): void {
  if (running.delete(group)) watcher?.ended(group);
}

/** Sends a signal to the whole group; false when the group has no process. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Keeps the watcher running until the returned function is called. `onLost` is called with the reason when
 * there is no watcher any more, so that processes would outlive a kill of this one.
 */
export function acquireWatcher(onLost: (reason: string) => void): () => Promise<void> {
  lossListeners.add(onLost);
  return async () => {
    if (!lossListeners.delete(onLost) || lossListeners.size > 0) return;
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

const lossListeners = new Set<(reason: string) => void>();
let watcher: Watcher | undefined;
let losses = 0;

/** A killed watcher is replaced this many times less one; then there is none. */
const MAX_LOSSES = 3;

function requireWatcher(): Watcher | undefined {
  if (watcher !== undefined || losses >= MAX_LOSSES) return watcher;
  const started = startWatcher((reason) => {
    losses += 1;
    if (watcher === started) watcher = undefined;
    if (losses >= MAX_LOSSES) for (const onLost of lossListeners) onLost(reason);
    else if (running.size > 0) requireWatcher();
  });
  watcher = started;
  for (const group of running) started.started(group);
  return watcher;
}
