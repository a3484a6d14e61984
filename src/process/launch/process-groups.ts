import { constants } from 'node:os';
import type { LaunchListener } from './launch.ts';
import type { Row } from './system/group-table.ts';
import { loadedLibc } from './system/libc.ts';
import { describeGroup, describeRest, describeStart, startWatcher, type Watcher } from './watcher.ts';

/** Reports starts of processes to this thread's watcher, which is started with the first process. */
export const launchListener: LaunchListener = {
  starting: (stdout) => {
    const watched = watch(describeStart(stdout));
    return (group) => {
      if (group === null) return unwatch(watched);
      running.set(group, watched);
      describe(watched, describeGroup(group));
    };
  },
};

/** Tells that the process which leads the group was taken away, so that its number may soon be another's. */
export function leaderEnded(group: number): void {
  // Later, since most groups are released at once.
  if (leaderless.size === 0) setImmediate(describeLeaderless);
  leaderless.add(group);
}

/** Stops watching the group: it is no longer killed when this process ends. */
export function releaseGroup(group: number): void {
  const watched = running.get(group);
  running.delete(group);
  leaderless.delete(group);
  if (watched !== undefined) unwatch(watched);
}

/** Sends a signal to one process; false when it is gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  return signalGroup(-pid, signal);
}

/** Sends a signal to the whole group; false when the group has no process. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  const libc = loadedLibc();
  // Most groups have nobody left, and an exception takes longer than all else that is done here.
  if (libc !== undefined) return libc.kill(-group, signal === 0 ? 0 : constants.signals[signal]) === 0;
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

/** What must not outlive this process, whatever ends it, as the watcher knows it. */
interface Watched {
  text: string;
  row: Row | undefined;
}

const allWatched = new Set<Watched>();
/** Those of them that have started. */
const running = new Map<number, Watched>();
const leaderless = new Set<number>();
process.on('exit', () => {
  // What these have started in sessions of their own is left to a later start, which finds it by the table.
  if (allWatched.size === 0) watcher?.discard();
  for (const group of running.keys()) signalGroup(group, 'SIGKILL');
});

const lossListeners = new Set<(reason: string) => void>();
let watcher: Watcher | undefined;
let losses = 0;

/** A killed watcher is replaced this many times less one; then there is none. */
const MAX_LOSSES = 3;

function watch(text: string): Watched {
  const current = requireWatcher();
  const watched = { text, row: current?.add(text) };
  allWatched.add(watched);
  return watched;
}

function unwatch(watched: Watched): void {
  allWatched.delete(watched);
  watched.row?.free();
}

function describe(watched: Watched, text: string): void {
  watched.text = text;
  watched.row?.write(text);
}

function describeLeaderless(): void {
  for (const group of leaderless) {
    const watched = running.get(group);
    if (watched !== undefined) describe(watched, describeRest(group));
  }
  leaderless.clear();
}

function requireWatcher(): Watcher | undefined {
  if (watcher !== undefined || losses >= MAX_LOSSES) return watcher;
  const started = startWatcher((reason) => {
    losses += 1;
    if (watcher === started) watcher = undefined;
    if (losses >= MAX_LOSSES) for (const onLost of lossListeners) onLost(reason);
    else if (allWatched.size > 0) requireWatcher();
  });
  watcher = started;
  for (const watched of allWatched) watched.row = started.add(watched.text);
  return watcher;
}
