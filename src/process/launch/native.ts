import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import threads from 'node:worker_threads';
import { createSlots, type Slots } from '../../base/time/slots.ts';
import type { ExitStatus, LaunchedProcess, Launcher, LaunchListener, LaunchRequest } from './launch.ts';
import { createExits, type Exits } from './system/exits.ts';
import { errorName, F_GETPIPE_SZ, type Libc, O_CLOEXEC, requireLibc } from './system/libc.ts';
import { createOutputReader, type OutputReader, type Outputs } from './system/outputs.ts';
import { createSpawner, type Spawner } from './system/posix-spawn.ts';
import { keepNodeAlive } from './system/stream-output.ts';

/**
 * Starts processes with posix_spawn, through koffi: true pipes, a group of their own and no copy of this
 * process's page tables, which is what makes fork slow in a large Node. Linux with glibc, in every thread;
 * undefined elsewhere. `inBackground`: on another thread, so that the event loop goes on meanwhile.
 */
export function createNativeLauncher(inBackground = threads.isMainThread): Launcher | undefined {
  const parts = findNativeParts();
  if (parts === undefined) return undefined;
  const { libc } = parts;
  const native = {
    ...parts,
    slots: createSlots(MAX_STARTS),
    spawner: createSpawner(libc, { inBackground }),
  };
  return (request, watch) => launch(native, request, watch);
}

/** One less than libuv has threads, so that files and names are still read while executables load slowly. */
const MAX_STARTS = 3;

/** What all launchers of a thread have in common; undefined where there can be none. */
export function findNativeParts(): NativeParts | undefined {
  if (process.platform !== 'linux') return undefined;
  shared ??= openShared();
  return shared;
}

interface NativeParts {
  readonly libc: Libc;
  readonly exits: Exits;
  readonly reader: OutputReader;
}

let shared: NativeParts | undefined;

function openShared(): NativeParts | undefined {
  const libc = requireLibc();
  return libc && { libc, exits: createExits(libc), reader: createOutputReader(libc) };
}

interface Native extends NativeParts {
  readonly slots: Slots;
  readonly spawner: Spawner;
}

async function launch(
  native: Native,
  request: LaunchRequest,
  watch: LaunchListener | undefined,
): Promise<LaunchedProcess> {
  const { slots } = native;
  await slots.take();
  try {
    return await start(native, request, watch);
  } finally {
    slots.release();
  }
}

async function start(
  native: Native,
  request: LaunchRequest,
  watch: LaunchListener | undefined,
): Promise<LaunchedProcess> {
  const { libc, spawner } = native;
  const [stdin, stdout, stderr] = openPipes(libc);
  const isWritten = writeInput(libc, stdin.write, request.input);
  let started: ReturnType<LaunchListener['starting']> | undefined;
  try {
    started = watch?.starting(`pipe:[${fstatSync(stdout.write).ino}]`);
    const { descriptors = [] } = request;
    const pid = await spawner.spawn(request, [stdin.read, stdout.write, stderr.write, ...descriptors]);
    started?.(pid);
    const outputs = native.reader.open(stdout.read, stderr.read);
    const ended = whenEnded(native, pid, outputs);
    const input = isWritten ? null : openStdin(stdin.write, request.input);
    return {
      ...{ pid, ended, stdin: input, ...outputs },
      keepAlive: (keeps) => {
        native.exits.keepAlive(pid, keeps);
        keepNodeAlive(input, keeps);
        for (const output of [outputs.stdout, outputs.stderr]) output.keepAlive(keeps);
      },
    };
  } catch (error) {
    started?.(null);
    closeAll(libc, [...(isWritten ? [] : [stdin.write]), stdout.read, stderr.read]);
    throw error;
  } finally {
    closeAll(libc, [stdin.read, stdout.write, stderr.write]);
  }
}

function whenEnded({ exits, reader }: Native, pid: number, outputs: Outputs): Promise<ExitStatus> {
  return new Promise((resolve) => {
    exits.watch(pid, (end) => {
      reader.settle(outputs);
      resolve(end);
    });
  });
}

interface Pipe {
  readonly read: number;
  readonly write: number;
}

/** Pipes for stdin, stdout and stderr. Throws when the system has none left. */
export function openPipes(libc: Libc): [Pipe, Pipe, Pipe] {
  const stdin = openPipe(libc);
  const stdout = openPipe(libc, stdin);
  return [stdin, stdout, openPipe(libc, stdin, stdout)];
}

// Larger than what is used: memory of up to 64 bytes may move.
const ends = new Int32Array(new ArrayBuffer(128), 0, 2);

function openPipe(libc: Libc, ...opened: readonly Pipe[]): Pipe {
  if (libc.pipe2(ends, O_CLOEXEC) !== 0) {
    const reason = errorName(libc.errno());
    closeAll(
      libc,
      opened.flatMap(({ read, write }) => [read, write]),
    );
    throw new Error(`no pipe could be made (${reason})`);
  }
  const [read = -1, write = -1] = ends;
  return { read, write };
}

/** A pipe holds at least one page, so this much never blocks. */
const PAGE_BYTES = 4096;

/** Puts the whole input into the pipe, before anybody reads it, and closes the pipe, if it fits in; else does nothing. */
export function writeInput(libc: Libc, fd: number, input: Uint8Array | null): boolean {
  if (input === null) return false;
  if (input.length > PAGE_BYTES && input.length > libc.fcntl(fd, F_GETPIPE_SZ)) return false;
  if (input.length > 0) libc.write(fd, input, input.length);
  libc.close(fd);
  return true;
}

/** The writing end of a stdin as a stream, with its input. */
export function openStdin(fd: number, input: Uint8Array | null): Socket {
  const stream = new Socket({ fd, readable: false, writable: true });
  // A child that does not read is no fault of the call.
  stream.on('error', () => {});
  if (input !== null) stream.end(input);
  return stream;
}

/** Closes descriptors. */
export function closeAll(libc: Libc, fds: readonly number[]): void {
  for (const fd of fds) libc.close(fd);
}
