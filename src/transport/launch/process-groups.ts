import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitForSettled } from '../../time/deadline.ts';
import type { LaunchListener } from './launch.ts';
import { watcherScript } from './watcher-script.ts';

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

/**
 * A small shell process that ends the process groups that this process leaves running, even when it is
 * killed.
 */
interface Watcher {
  /** A process is about to start; `stdout` is how /proc shows what it alone will have there. */
  starting(stdout: string): void;
  /** What was about to start is this group; null when it could not be started. */
  started(group: number | null): void;
  /** The group is not to be ended any more. */
  ended(group: number): void;
  /** Ends the watcher, and with it whatever it still watches. Never rejects. */
  close(): Promise<void>;
}

/**
 * Starts a watcher, which does not keep this process alive, holds none of its descriptors and is in a group
 * and session of its own. `onLost` is called once, with the reason, when the watcher ended without `close`.
 */
export function startWatcher(onLost: (reason: string) => void): Watcher {
  let isEnded = false;
  const reportLoss = (reason: string) => {
    if (isEnded) return;
    isEnded = true;
    onLost(reason);
  };
  const child = spawnShell(reportLoss);
  const writeLine = (line: string) => {
    if (!isEnded) child?.stdin?.write(line);
  };
  return {
    starting: (stdout) => writeLine(`? ${stdout}\n`),
    started: (group) => writeLine(group === null ? '+\n' : `+ ${group}\n`),
    ended: (group) => writeLine(`- ${group}\n`),
    close: async () => {
      if (isEnded || child === undefined) return;
      isEnded = true;
      // Keeps this process alive until the watcher has ended.
      child.ref();
      child.stdin?.end();
      await waitForSettled(once(child, 'exit'), ENDS_WITHIN_MS);
      child.unref();
    },
  };
}

const ENDS_WITHIN_MS = 2_000;

function spawnShell(reportLoss: (reason: string) => void): ChildProcess | undefined {
  try {
    const child = spawn('/bin/sh', ['-c', watcherScript, 'signalbox-watcher'], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      // A session of its own: what ends the group or the terminal of this process must not end it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.once('error', ({ message }) => reportLoss(message));
    child.once('exit', (code, signal) => reportLoss(`it ended with ${signal ?? code}`));
    child.stdin.on('error', ({ message }) => reportLoss(message));
    child.unref();
    unref(child.stdin);
    return child;
  } catch (error) {
    // What the system refuses outright. Later, since nobody has the watcher yet.
    queueMicrotask(() => reportLoss(error instanceof Error ? error.message : String(error)));
    return undefined;
  }
}

/** Node's types know a child's stdin as a stream only. */
function unref(stream: object): void {
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
}
