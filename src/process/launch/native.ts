import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { availableParallelism, constants } from 'node:os';
import threads from 'node:worker_threads';
import { ShortLivedMap } from '../../base/short-lived.ts';
import { createSlots, type Slots } from '../../base/time/async.ts';
import type { ExitStatus, LaunchedProcess, Launcher, LaunchListener, LaunchRequest } from './launch.ts';
import {
  errorName,
  F_GETPIPE_SZ,
  type Libc,
  O_CLOEXEC,
  requireLibc,
  STRUCT_BYTES,
  WNOHANG,
} from './system/libc.ts';
import { createOutputReader, keepNodeAlive, type OutputReader, type Outputs } from './system/outputs.ts';

/** posix_spawn avoids the cost of fork in a large Node. Returns undefined except on Linux with glibc. */
export function createNativeLauncher(inBackground = threads.isMainThread): Launcher | undefined {
  const parts = findNativeParts();
  if (parts === undefined) return undefined;
  const native = {
    ...parts,
    slots: createSlots(MAX_STARTS),
    spawner: createSpawner(parts, { inBackground }),
  };
  return (request, watch) => launch(native, request, watch);
}

/** One less than libuv's thread count, so that file and name lookups continue while executables load. */
const MAX_STARTS = 3;

export function findNativeParts(): NativeParts | undefined {
  if (process.platform !== 'linux') return undefined;
  shared ??= openShared();
  return shared;
}

interface NativeParts {
  readonly libc: Libc;
  readonly actions: ReturnType<typeof createActions>;
  readonly exits: Exits;
  readonly reader: OutputReader;
}

let shared: NativeParts | undefined;

function openShared(): NativeParts | undefined {
  const libc = requireLibc();
  if (libc === undefined) return undefined;
  const reader = createOutputReader(libc);
  return { libc, reader, exits: createExits(libc), actions: createActions(libc) };
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
    const spawned = await spawner.spawn(request, [stdin.read, stdout.write, stderr.write, ...descriptors]);
    const { pid } = spawned;
    started?.(pid);
    const outputs = native.reader.open(stdout.read, stderr.read);
    const ended = whenEnded(native, spawned, outputs);
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

function whenEnded({ exits, reader }: Native, spawned: Spawned, outputs: Outputs): Promise<ExitStatus> {
  return new Promise((resolve) => {
    exits.watch(spawned, (end) => {
      reader.settle(outputs);
      resolve(end);
    });
  });
}

interface Pipe {
  readonly read: number;
  readonly write: number;
}

export function openPipes(libc: Libc): [Pipe, Pipe, Pipe] {
  const stdin = openPipe(libc);
  const stdout = openPipe(libc, stdin);
  return [stdin, stdout, openPipe(libc, stdin, stdout)];
}

// Larger than needed, since V8 may move buffers of up to 64 bytes.
const ends = new Int32Array(new ArrayBuffer(128), 0, 2);

function openPipe(libc: Libc, ...opened: readonly Pipe[]): Pipe {
  if (libc.pipe2(ends, O_CLOEXEC) !== 0) {
    const reason = errorName(libc.errno());
    closeAll(
      libc,
      opened.flatMap(({ read, write }) => [read, write]),
    );
    throw new Error(`a pipe could not be created (${reason})`);
  }
  const [read = -1, write = -1] = ends;
  return { read, write };
}

/** A pipe holds at least one page, so a write of this size never blocks. */
const PAGE_BYTES = 4096;

export function writeInput(libc: Libc, fd: number, input: Uint8Array | null): boolean {
  if (input === null) return false;
  if (input.length > PAGE_BYTES && input.length > libc.fcntl(fd, F_GETPIPE_SZ)) return false;
  if (input.length > 0) libc.write(fd, input, input.length);
  libc.close(fd);
  return true;
}

export function openStdin(fd: number, input: Uint8Array | null): Socket {
  const stream = new Socket({ fd, readable: false, writable: true });
  // A child that does not read its stdin is not an error.
  stream.on('error', () => {});
  if (input !== null) stream.end(input);
  return stream;
}

export function closeAll(libc: Libc, fds: readonly number[]): void {
  for (const fd of fds) libc.close(fd);
}

/** Waits for each pid, so that it never reaps Node's own children. */
interface Exits {
  watch(spawned: Spawned, onEnd: (ended: ExitStatus) => void): void;
  keepAlive(pid: number, keeps: boolean): void;
  look(): void;
}

function createExits(libc: Libc): Exits {
  const listeners = new ShortLivedMap<number, (ended: ExitStatus) => void>();
  const needed = new Set<number>();
  const status = new Int32Array(new ArrayBuffer(STATUS_BYTES));
  const lookAt = (pid: number) => {
    const onEnd = listeners.get(pid);
    if (onEnd === undefined) return;
    const reaped: number = libc.waitpid(pid, status, WNOHANG);
    if (reaped === 0) return;
    listeners.delete(pid);
    keepAlive(pid, false);
    // -1: another party reaped it. The exit status is unknown and must not count as success.
    onEnd(reaped === pid ? decodeStatus(status[0] ?? 0) : { exitCode: -1, signal: null });
  };
  const look = () => {
    for (const pid of listeners.keys()) lookAt(pid);
  };
  let heartbeat: NodeJS.Timeout | undefined;
  const keepAlive = (pid: number, keeps: boolean) => {
    if (keeps && listeners.has(pid)) needed.add(pid);
    else needed.delete(pid);
    // A signal listener does not keep Node alive, so a timer does.
    if (needed.size > 0) heartbeat?.ref();
    else heartbeat?.unref();
  };
  const begin = () => {
    if (threads.isMainThread) process.on('SIGCHLD', look);
    return setInterval(look, threads.isMainThread ? HEARTBEAT_MS : POLL_MS);
  };
  return {
    watch: ({ pid, isThisTurn }, onEnd) => {
      listeners.set(pid, onEnd);
      // The event loop has not yet handled a SIGCHLD of a process that was started in this turn.
      if (!isThisTurn || heartbeat === undefined || !threads.isMainThread) setImmediate(lookAt, pid);
      heartbeat ??= begin();
      keepAlive(pid, true);
    },
    keepAlive,
    look,
  };
}

const HEARTBEAT_MS = 1000;
/** Only the main thread receives signals; other threads poll. */
const POLL_MS = 5;
const STATUS_BYTES = 128;

/** Source: WIFEXITED, WEXITSTATUS and WTERMSIG of <sys/wait.h>. */
function decodeStatus(status: number): ExitStatus {
  const signal = status & 0x7f;
  return signal === 0
    ? { exitCode: (status >> 8) & 0xff, signal: null }
    : { exitCode: null, signal: signalName(signal) };
}

export function signalName(number: number): string {
  const known = Object.entries(constants.signals).find(([, value]) => value === number);
  return known?.[0] ?? `signal ${number}`;
}

interface Spawner {
  spawn(request: LaunchRequest, standard: readonly number[]): Promise<Spawned>;
}

interface Spawned {
  readonly pid: number;
  readonly isThisTurn: boolean;
}

/** `inBackground` may use libuv threads, since posix_spawn blocks until the child executes its program. */
function createSpawner(
  { libc, actions }: NativeParts,
  { inBackground }: { readonly inBackground: boolean },
): Spawner {
  const texts = createTexts(libc);
  const idle: Int32Array[] = [];
  const turn = createTurn();
  return {
    spawn: async (request, standard) => {
      const program = texts.program(request);
      const isHere = !inBackground || (hasOneCore && turn.mayStart(program));
      if (isHere && inBackground) await turn.take();
      // Larger than needed, since V8 may move buffers of up to 64 bytes.
      const pid = idle.pop() ?? new Int32Array(new ArrayBuffer(128));
      const envp = texts.envp(request);
      const taken = actions.take(standard, request.cwd);
      const args = [pid, program.path, taken.memory, libc.attributes, program.argv, envp];
      try {
        const error: number = isHere
          ? turn.start(program, () => libc.spawn(...args))
          : await callInBackground(libc, args);
        if (error !== 0) throw new Error(errorName(error));
        if (!isHere) program.hasStarted = true;
        return { pid: pid[0] ?? 0, isThisTurn: isHere };
      } finally {
        actions.release(taken);
        idle.push(pid);
      }
    },
  };
}

/** Other threads would only compete for the core. */
const hasOneCore = availableParallelism() === 1;

/** Bounds the time for which starts block the event loop. A file system may make each start of a program slow. */
function createTurn() {
  let blockedMs = 0;
  let next: Promise<void> | undefined;
  const begin = (resolve: () => void) => {
    blockedMs = 0;
    next = undefined;
    resolve();
  };
  return {
    mayStart: ({ hasStarted, isSlowUntil }: Program) => hasStarted && performance.now() >= isSlowUntil,
    /** Resolves in a turn that has time for a start. */
    take: async () => {
      while (blockedMs >= TURN_MS) await next;
    },
    start: (program: Program, spawn: () => number): number => {
      const startedAt = performance.now();
      const error = spawn();
      const endedAt = performance.now();
      const ms = endedAt - startedAt;
      if (ms > SLOW_MS) program.isSlowUntil = endedAt + ms * SLOW_FACTOR;
      next ??= new Promise((resolve) => setImmediate(begin, resolve));
      blockedMs += ms;
      return error;
    },
  };
}

const TURN_MS = 2;
/** Longer than a busy core lets a start wait, as a rule. */
const SLOW_MS = 10;
const SLOW_FACTOR = 20;

interface Actions {
  readonly memory: Buffer;
  users: number;
  isKept: boolean;
}

/** Keeps file actions, which posix_spawn only reads: the same descriptors return with nearly every start. */
function createActions(libc: Libc) {
  const kept = new Map<string, Actions>();
  const destroyUnused = ({ memory, users, isKept }: Actions) => {
    if (users === 0 && !isKept) libc.actionsDestroy(memory);
  };
  const dropAll = () => {
    for (const actions of kept.values()) {
      actions.isKept = false;
      destroyUnused(actions);
    }
    kept.clear();
  };
  const make = (key: string, standard: readonly number[], cwd: string): Actions => {
    // The end of another thread would leave what libc has allocated.
    const made = { memory: Buffer.allocUnsafeSlow(STRUCT_BYTES), users: 0, isKept: threads.isMainThread };
    fillActions(libc, made.memory, standard, cwd);
    if (kept.size >= MAX_ACTIONS) dropAll();
    if (made.isKept) kept.set(key, made);
    return made;
  };
  return {
    take: (standard: readonly number[], cwd: string): Actions => {
      const key = `${standard.join()} ${cwd}`;
      const actions = kept.get(key) ?? make(key, standard, cwd);
      actions.users += 1;
      return actions;
    },
    release: (actions: Actions) => {
      actions.users -= 1;
      destroyUnused(actions);
    },
  };
}

const MAX_ACTIONS = 256;

function fillActions(libc: Libc, actions: Buffer, standard: readonly number[], cwd: string): void {
  libc.actionsInit(actions);
  for (const [target, fd] of standard.entries()) libc.addDup2(actions, fd, target);
  // Our own descriptors are close-on-exec; inherited ones may not be.
  libc.addCloseFrom?.(actions, standard.length);
  libc.addChdir(actions, cwd);
}

const pointedTo = new Set<readonly unknown[]>();

function callInBackground(libc: Libc, args: readonly unknown[]): Promise<number> {
  pointedTo.add(args);
  return new Promise<number>((resolve, reject) => {
    libc.spawn.async(...args, (fault: unknown, error: number) => {
      pointedTo.delete(args);
      if (fault === null) resolve(error);
      else reject(fault);
    });
  });
}

interface Program {
  readonly command: string;
  readonly path: Buffer;
  readonly argv: Buffer;
  /** A first start may hang, such as on a dead network mount, so it runs in the background. */
  hasStarted: boolean;
  isSlowUntil: number;
}

function createTexts(libc: Libc) {
  const programs = new WeakMap<readonly string[], Program>();
  const envps = new WeakMap<LaunchRequest['env'], Buffer>();
  return {
    program: ({ command, args }: LaunchRequest): Program => {
      const known = programs.get(args);
      if (known?.command === command) return known;
      const program = {
        command,
        path: Buffer.from(`${command}\0`),
        argv: encodeStrings(libc, [command, ...args]),
        hasStarted: false,
        isSlowUntil: 0,
      };
      programs.set(args, program);
      return program;
    },
    envp: ({ env }: LaunchRequest): Buffer => {
      const known = envps.get(env);
      if (known !== undefined) return known;
      const envp = encodeStrings(
        libc,
        Object.entries(env).map(([name, value]) => `${name}=${value}`),
      );
      envps.set(env, envp);
      return envp;
    },
  };
}

/** An `argv` or `envp` in one buffer that points into itself. */
function encodeStrings({ addressOf, pointerBytes }: Libc, texts: readonly string[]): Buffer {
  const strings = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const tableBytes = (texts.length + 1) * pointerBytes;
  // Not from Node's pool, whose slices may be unaligned.
  const list = Buffer.allocUnsafeSlow(tableBytes + strings.length);
  strings.copy(list, tableBytes);
  const table = tableOf(list, texts.length + 1, pointerBytes);
  let next = addressOf(list) + BigInt(tableBytes);
  for (const [index, text] of texts.entries()) {
    table(index, next);
    next += BigInt(Buffer.byteLength(text) + 1);
  }
  table(texts.length, 0n);
  return list;
}

function tableOf({ buffer, byteOffset }: Buffer, length: number, pointerBytes: number) {
  if (pointerBytes === 8) {
    const wide = new BigUint64Array(buffer, byteOffset, length);
    return (index: number, address: bigint) => {
      wide[index] = address;
    };
  }
  const narrow = new Uint32Array(buffer, byteOffset, length);
  return (index: number, address: bigint) => {
    narrow[index] = Number(address);
  };
}

export type LauncherName = 'auto' | 'native' | 'portable';

/** `auto` is the native launcher where it works, else the portable one. */
export async function openLauncher(name: LauncherName): Promise<Launcher> {
  if (name === 'portable') return await openPortableLauncher();
  const native = createNativeLauncher();
  if (native === undefined && name === 'native') {
    throw new Error('the native launcher needs Linux with glibc and the package koffi');
  }
  return native ?? (await openPortableLauncher());
}

/** Loaded on demand: execa is the largest library to load. */
async function openPortableLauncher(): Promise<Launcher> {
  const { createPortableLauncher } = await import('./portable.ts');
  return createPortableLauncher();
}
