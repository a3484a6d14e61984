import { constants } from 'node:os';
import threads from 'node:worker_threads';
import type { ExitStatus } from '../launch.ts';
import { type Libc, WNOHANG } from './libc.ts';

/** Learns how processes end that Node knows nothing of. It waits for each by its number, so that Node's own are left to it. */
export interface Exits {
  /** Calls `onEnd` once, in a later turn of the event loop, when the process has ended. */
  watch(pid: number, onEnd: (ended: ExitStatus) => void): void;
  /** Whether the process keeps Node alive while it lives, as it does until this is called. */
  keepAlive(pid: number, keeps: boolean): void;
  /** Looks now, rather than at the next signal. */
  look(): void;
}

/** Watches the processes that this thread starts. */
export function createExits(libc: Libc): Exits {
  const listeners = new Map<number, (ended: ExitStatus) => void>();
  /** Those whose lives keep Node alive. */
  const needed = new Set<number>();
  const status = new Int32Array(new ArrayBuffer(STATUS_BYTES));
  const lookAt = (pid: number) => {
    const onEnd = listeners.get(pid);
    if (onEnd === undefined) return;
    const reaped: number = libc.waitpid(pid, status, WNOHANG);
    if (reaped === 0) return;
    listeners.delete(pid);
    keepAlive(pid, false);
    // -1 means that somebody else reaped it: how it ended is then unknown, and must not pass for success.
    onEnd(reaped === pid ? decodeStatus(status[0] ?? 0) : { exitCode: -1, signal: null });
  };
  const look = () => {
    for (const pid of listeners.keys()) lookAt(pid);
  };
  let heartbeat: NodeJS.Timeout | undefined;
  const keepAlive = (pid: number, keeps: boolean) => {
    if (keeps && listeners.has(pid)) needed.add(pid);
    else needed.delete(pid);
    // A signal listener does not keep Node alive, and a process that somebody waits for must.
    if (needed.size > 0) heartbeat?.ref();
    else heartbeat?.unref();
  };
  const begin = () => {
    if (threads.isMainThread) process.on('SIGCHLD', look);
    return setInterval(look, threads.isMainThread ? HEARTBEAT_MS : POLL_MS);
  };
  return {
    watch: (pid, onEnd) => {
      listeners.set(pid, onEnd);
      heartbeat ??= begin();
      keepAlive(pid, true);
      // It may have ended, and its signal may have come, before anybody knew its number.
      setImmediate(lookAt, pid);
    },
    keepAlive,
    look,
  };
}

const HEARTBEAT_MS = 1000;
/** Signals reach the main thread only; another has to look. */
const POLL_MS = 5;
/** More than the four that are used, since memory of up to 64 bytes may move. */
const STATUS_BYTES = 128;

/** Source: WIFEXITED, WEXITSTATUS and WTERMSIG of <sys/wait.h>. */
function decodeStatus(status: number): ExitStatus {
  const signal = status & 0x7f;
  return signal === 0
    ? { exitCode: (status >> 8) & 0xff, signal: null }
    : { exitCode: null, signal: signalName(signal) };
}

function signalName(number: number): string {
  const known = Object.entries(constants.signals).find(([, value]) => value === number);
  return known?.[0] ?? `signal ${number}`;
}
