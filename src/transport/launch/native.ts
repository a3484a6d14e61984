import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import type { ExitStatus, LaunchedProcess, Launcher, LaunchListener, LaunchRequest } from './launch.ts';
import { errorName, type Libc, loadLibc, O_CLOEXEC, STRUCT_BYTES, WNOHANG } from './libc.ts';

/**
 * Starts processes with posix_spawn, through koffi: true pipes, a group of their own and no copy of this
 * process's page tables, which is what makes fork slow in a large Node. Linux with glibc, in every thread;
 * undefined elsewhere.
 */
export function createNativeLauncher(): Launcher | undefined {
  if (process.platform !== 'linux') return undefined;
  const libc = loadLibc();
  return libc && ((request, watch) => launch(libc, request, watch));
}

async function launch(
  libc: Libc,
  request: LaunchRequest,
  watch: LaunchListener | undefined,
): Promise<LaunchedProcess> {
  const stdin = openPipe(libc);
  const stdout = openPipe(libc, stdin);
  const stderr = openPipe(libc, stdin, stdout);
  let pid: number;
  let started: ReturnType<LaunchListener['starting']> | undefined;
  // Before the start: a child may be quick to end.
  const children = watchChildren(libc);
  try {
    started = watch?.starting(`pipe:[${fstatSync(stdout.write).ino}]`);
    pid = spawn(libc, request, [stdin.read, stdout.write, stderr.write]);
    started?.(pid);
  } catch (error) {
    started?.(null);
    closeAll(libc, [stdin.write, stdout.read, stderr.read]);
    throw error;
  } finally {
    closeAll(libc, [stdin.read, stdout.write, stderr.write]);
  }
  const ended = children.whenEnded(pid);
  return {
    pid,
    ended,
    stdin: openStdin(libc, stdin.write, request.input),
    stdout: new Socket({ fd: stdout.read, readable: true, writable: false }),
    stderr: new Socket({ fd: stderr.read, readable: true, writable: false }),
  };
}

interface Pipe {
  readonly read: number;
  readonly write: number;
}

function openPipe(libc: Libc, ...opened: readonly Pipe[]): Pipe {
  const ends: number[] = [0, 0];
  if (libc.pipe2(ends, O_CLOEXEC) !== 0) {
    const fds = opened.flatMap(({ read, write }) => [read, write]);
    const reason = errorName(libc.errno());
    closeAll(libc, fds);
    throw new Error(`no pipe could be made (${reason})`);
  }
  const [read = -1, write = -1] = ends;
  return { read, write };
}

function spawn(libc: Libc, request: LaunchRequest, standard: readonly number[]): number {
  const { command, args, cwd, env } = request;
  const actions = Buffer.alloc(STRUCT_BYTES);
  libc.actionsInit(actions);
  try {
    for (const [target, fd] of standard.entries()) libc.addDup2(actions, fd, target);
    // Ours close by themselves; those that this process was started with do not.
    libc.addCloseFrom?.(actions, standard.length);
    libc.addChdir(actions, cwd);
    const pid: number[] = [0];
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const error: number = libc.spawn(
      pid,
      command,
      actions,
      libc.attributes,
      [command, ...args, null],
      [...variables, null],
    );
    if (error !== 0 || pid[0] === undefined) throw new Error(errorName(error));
    return pid[0];
  } finally {
    libc.actionsDestroy(actions);
  }
}

/** A pipe holds at least one page, so this much never blocks. */
const PIPE_BYTES = 4096;

function openStdin(libc: Libc, fd: number, input: Uint8Array | null): Socket | null {
  if (input !== null && input.length <= PIPE_BYTES) {
    try {
      writeSync(fd, input);
    } catch {
      // The child closed its stdin already, which is its right.
    }
    libc.close(fd);
    return null;
  }
  const stream = new Socket({ fd, readable: false, writable: true });
  // A child that does not read is no fault of the call.
  stream.on('error', () => {});
  if (input !== null) stream.end(input);
  return stream;
}

const HEARTBEAT_MS = 1000;
/** Signals reach the main thread only; another has to look. */
const POLL_MS = 5;

const exitListeners = new Map<number, (ended: ExitStatus) => void>();
let heartbeat: NodeJS.Timeout | undefined;

function watchChildren(libc: Libc): { whenEnded(pid: number): Promise<ExitStatus> } {
  if (heartbeat === undefined) {
    const reap = () => reapEnded(libc);
    if (isMainThread) process.on('SIGCHLD', reap);
    heartbeat = setInterval(reap, isMainThread ? HEARTBEAT_MS : POLL_MS).unref();
  }
  const beat = heartbeat;
  return {
    whenEnded: (pid) => {
      // A signal listener does not keep Node alive, and a living child must.
      beat.ref();
      return new Promise((resolve) => exitListeners.set(pid, resolve));
    },
  };
}

function reapEnded(libc: Libc): void {
  for (const [pid, resolve] of exitListeners) {
    const status: number[] = [0];
    const reaped: number = libc.waitpid(pid, status, WNOHANG);
    if (reaped === 0) continue;
    exitListeners.delete(pid);
    // -1 means that somebody else reaped it: how it ended is then unknown, and must not pass for success.
    resolve(reaped === pid ? decodeStatus(status[0] ?? 0) : { exitCode: -1, signal: null });
  }
  if (exitListeners.size === 0) heartbeat?.unref();
}

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

function closeAll(libc: Libc, fds: readonly number[]): void {
  for (const fd of fds) libc.close(fd);
}
