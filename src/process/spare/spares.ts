import { lstatSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { createExecutableFinder, isUnchanged } from '../../base/files/executable.ts';
import { tryReadHead } from '../../base/files/interpreter.ts';
import { trackWork } from '../../base/time/async.ts';
import { sleep, waitForSettled } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import { createPool } from '../pool.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from '../process.ts';

interface Spares {
  /** Returns undefined if no waiting process could read the request. Rejects with the error of `requireStart`. */
  serve(request: Uint8Array, requireStart?: () => void): Promise<WatchedProcess | undefined>;
  fill(): void;
  close(): Promise<void>;
}

export interface SpareLimits {
  readonly hasRoom: () => boolean;
  readonly maxAgeMs: number;
  readonly sweepMs: number;
}

const usualLimits: SpareLimits = { hasRoom: hasMemoryToSpare, maxAgeMs: 5 * 60_000, sweepMs: 10_000 };

interface Spare {
  readonly process: WatchedProcess;
  readonly stamp: string;
  readonly startedAt: number;
}

/** A process that ends while it waits is not an error. */
export function openSpares(
  binding: Binding,
  context: ProcessContext,
  limits: SpareLimits = usualLimits,
): Spares {
  const waiting = new Set<Spare>();
  const backOff = createBackOff();
  const closing = new AbortController();
  const ending = trackWork();
  const note = (message: string, level: 'debug' | 'warn' = 'debug') =>
    context.emit({ type: 'note', name: binding.name, level, message });

  const retire = (spare: Spare) => {
    waiting.delete(spare);
    ending.add(endSpare(spare.process));
  };
  const retireWhere = (isUnfit: (spare: Spare) => boolean, reason: string) => {
    const unfit = [...waiting].filter(isUnfit);
    for (const spare of unfit) retire(spare);
    if (unfit.length > 0) note(`ended ${unfit.length} waiting processes: ${reason}`);
  };
  const retireUnfit = () => {
    if (waiting.size === 0) return;
    const { text } = stampOf(binding);
    retireWhere(({ stamp }) => stamp !== text, 'their files have changed');
    retireWhere(({ startedAt }) => performance.now() - startedAt >= limits.maxAgeMs, 'they are too old');
  };
  const onEnd = (spare: Spare) => {
    if (!waiting.has(spare)) return;
    retire(spare);
    note(`process ${spare.process.pid} ended before it received a request`);
    if (backOff.recordDeath(spare.stamp)) note(endsUnasked, 'warn');
    refill.begin();
  };
  const startOne = async (): Promise<number | undefined> => {
    const stamp = await settledStamp(binding);
    if (closing.signal.aborted || !backOff.admits(stamp)) return undefined;
    try {
      const process = await startProcess(binding, context, null);
      process.keepAlive(false);
      const spare = { process, stamp, startedAt: performance.now() };
      waiting.add(spare);
      void process.ended.then(() => onEnd(spare));
      if (closing.signal.aborted) retire(spare);
      return process.pid;
    } catch {
      // The next call starts a process itself and reports the error.
      backOff.recordDeath(stamp);
      return undefined;
    }
  };
  const fillUp = async () => {
    while (!closing.signal.aborted && waiting.size < binding.spares) {
      if (!limits.hasRoom()) return retireWhere(() => true, 'memory is low');
      await sleep(backOff.delayMs(), closing.signal);
      if (!backOff.admits(await settledStamp(binding))) return;
      await inStartGate(startOne);
    }
  };
  const refill = inBackground(fillUp);
  const sweep = () => {
    retireUnfit();
    if (!limits.hasRoom()) retireWhere(() => true, 'memory is low');
    refill.begin();
  };
  let sweeper: NodeJS.Timeout | undefined;
  return {
    serve: async (request, requireStart) => {
      retireUnfit();
      for (const spare of waiting) {
        requireStart?.();
        waiting.delete(spare);
        spare.process.keepAlive(true);
        if (await deliver(request, spare.process)) {
          backOff.recordTaken();
          return spare.process;
        }
        retire(spare);
      }
      return undefined;
    },
    fill: () => {
      if (closing.signal.aborted) return;
      sweeper ??= setInterval(sweep, limits.sweepMs).unref();
      refill.begin();
    },
    close: async () => {
      closing.abort();
      clearInterval(sweeper);
      retireWhere(() => true, 'the runtime is closed');
      await refill.ended();
      await ending.ended();
    },
  };
}

const endsUnasked =
  'it ends before it receives a request, so none is kept ready until its files change: `warm` is for programs that wait for stdin first';

/** An idle process has nothing to finish, and it would take the end of stdin for an empty request. */
async function endSpare(process: WatchedProcess): Promise<void> {
  process.keepAlive(true);
  process.killGroup();
  await waitForSettled(process.ended, KILL_WAIT_MS);
  process.release();
}

const KILL_WAIT_MS = 5_000;

/** Runs the work once at a time, one turn later, so that current work comes first. */
function inBackground(work: () => Promise<void>) {
  let running: Promise<void> | undefined;
  return {
    begin: () => {
      running ??= new Promise<void>((resolve) => setImmediate(resolve)).then(work).finally(() => {
        running = undefined;
      });
    },
    ended: async () => await running,
  };
}

/** Whether a tenth of the usable memory, or 512 MiB if that is less, is free. */
export function hasMemoryToSpare(): boolean {
  const allowed = process.constrainedMemory();
  const total = allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
  return process.availableMemory() >= Math.min(total / 10, FLOOR_BYTES);
}

const FLOOR_BYTES = 512 * 1024 * 1024;

/** Returns false if the process ended before it could read a byte, so that another can serve the request. */
async function deliver(request: Uint8Array, { stdin, ended }: WatchedProcess): Promise<boolean> {
  if (stdin === null) return false;
  // A write this small is atomic in an empty pipe: a failed one delivered nothing.
  const written = await write(stdin, request.subarray(0, ATOMIC_BYTES));
  if (written) {
    stdin.end(request.subarray(ATOMIC_BYTES));
    return true;
  }
  // A living process may close its stdin and answer without the request.
  return !(await waitForSettled(ended, REAP_MS));
}

/** Source: PIPE_BUF of <limits.h>. On Linux and macOS it is at least this. */
const ATOMIC_BYTES = 512;
/** The end of a process is known within this time after its stdin closes. */
const REAP_MS = 200;

function write(stdin: Writable, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    stdin.write(bytes, (error) => resolve(error === null || error === undefined));
  });
}

/** At most half of the cores start spares, across all entries, so that running calls come first. */
const gate = createPool(Math.max(1, Math.floor(availableParallelism() / 2)));

/** The turn lasts until the process sleeps, which it does when it waits for its request. */
async function inStartGate(start: () => Promise<number | undefined>): Promise<void> {
  await gate.add(async () => {
    const pid = await start();
    if (pid !== undefined) await whenAsleep(pid);
  });
}

const LOOK_MS = 5;
const LONGEST_MS = 1_000;

async function whenAsleep(pid: number): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  do await sleep(LOOK_MS);
  while (isBusy(pid) && performance.now() < until);
}

/** Source: proc_pid_stat(5): the state follows the name in parentheses. False without /proc. */
function isBusy(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^[RD]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

type Files = Pick<Binding, 'command' | 'args' | 'cwd' | 'env'>;

const findExecutable = createExecutableFinder();

interface Stamp {
  readonly text: string;
  /** A file changed so recently that another change may keep the same timestamp. */
  readonly isSettling: boolean;
  /** Some files are not in the text. */
  readonly isCut: boolean;
}

interface Reach {
  readonly depth: number;
  readonly files: number;
  readonly skips: (name: string) => boolean;
  /** Whether folders in the arguments count, and the working directory if the arguments name no file. */
  readonly isWide: boolean;
}

/** Covers the program, files in its arguments, and the folders of scripts as far as `reach`, without data files. */
export function stampOf({ command, args, cwd, env }: Files, reach: Reach = nearReach, stat = tryStat): Stamp {
  const program = findExecutable(command, cwd, env['PATH'] ?? '');
  const path = program.found ? program.path : command;
  const leading = program.found ? (program.leading ?? []) : [];
  const words = [...leading, ...args].map((arg) => resolve(cwd, arg));
  const named = words.filter((word) => stat(word)?.isFile());
  const found = new Map<string, Stats>();
  const walk = { ...reach, found, stat, seen: new Set<string>() };
  for (const file of [path, ...named]) addStats(walk, file);
  const scripts = command.includes('/') && isScript(path) ? [path, ...named] : named;
  const isFolder = (word: string) => stat(word)?.isDirectory();
  const wide = reach.isWide ? [...words.filter(isFolder), ...(scripts.length === 0 ? [cwd] : [])] : [];
  const folders = new Set([...scripts.map((script) => dirname(script)), ...wide]);
  for (const folder of folders) addFolder(walk, folder);
  let newestMs = 0;
  let text = '';
  for (const [file, { ino, size, mtimeMs, ctimeMs }] of found) {
    // Any change sets this time, and no program can set it back.
    newestMs = Math.max(newestMs, ctimeMs);
    text += `${file}\0${ino} ${size} ${mtimeMs} ${ctimeMs}\n`;
  }
  const ageMs = Date.now() - newestMs;
  return { text, isSettling: ageMs >= 0 && ageMs < TICK_MS, isCut: found.size >= reach.files };
}

/** Returns the same as `stampOf`, and searches again only if something that it looked at has changed. */
export function createStamper(files: Files): () => Stamp {
  let last: { readonly stamp: Stamp; readonly program: string; readonly looked: Looked } | undefined;
  const findProgram = () => {
    const program = findExecutable(files.command, files.cwd, files.env['PATH'] ?? '');
    return program.found ? program.path : '';
  };
  return () => {
    const program = findProgram();
    if (last?.program === program && [...last.looked].every(isUnchanged)) return last.stamp;
    const looked: Looked = new Map();
    const startedAt = Date.now();
    const stamp = stampOf(files, nearReach, (path) => {
      if (!looked.has(path)) looked.set(path, tryStat(path));
      return looked.get(path);
    });
    const isSettled = [...looked.values()].every((stats) => startedAt - (stats?.ctimeMs ?? 0) >= TICK_MS);
    last = isSettled ? { stamp, program, looked } : undefined;
    return stamp;
  };
}

type Looked = Map<string, Stats | undefined>;

/** Resolves once any later change would show in the stamp. */
export async function settledStamp(files: Files): Promise<string> {
  const stamp = stampOf(files);
  if (!stamp.isSettling) return stamp.text;
  await sleep(TICK_MS);
  return stampOf(files).text;
}

/** Undefined, which no later state of the file equals, if it may have changed since `sinceMs`. */
export function statBefore(sinceMs: number, path: string): Stats | undefined {
  const stats = tryStat(path);
  const isLate = stats !== undefined && stats.ctimeMs > sinceMs - TICK_MS && stats.ctimeMs <= Date.now();
  return isLate ? undefined : stats;
}

/** File times have the resolution of the clock tick, at most 10 ms; this is twice that. */
const TICK_MS = 20;

const CACHES = ['__pycache__', '.git', '.signalbox'];
const nearFolders: ReadonlySet<string> = new Set(['__pycache__', 'node_modules']);
/** For each start of a process. */
const nearReach: Reach = {
  ...{ depth: 2, files: 500, isWide: false },
  skips: (name) => name.startsWith('.') || nearFolders.has(name),
};
/** For processes that stay, which may have read any file beside their script. */
export const wholeReach: Reach = {
  ...{ depth: Number.POSITIVE_INFINITY, files: 10_000, isWide: true },
  skips: (name) => CACHES.includes(name),
};
const DATA = /\.(?:log|tmp|pyc|(?:db|sqlite3?)(?:-wal|-shm|-journal)?)$/;

function isScript(path: string): boolean {
  return tryReadHead(path)?.subarray(0, 2).toString() === '#!';
}

interface Walk extends Reach {
  readonly found: Map<string, Stats>;
  readonly stat: (path: string) => Stats | undefined;
  /** The folders so far: links to folders are followed if the walk is wide. */
  readonly seen: Set<string>;
}

function addFolder(walk: Walk, folder: string, depth = 0): void {
  const { found, seen, stat } = walk;
  // Before it is listed, so that a later look shows any change of the list.
  stat(folder);
  for (const { entry, path } of listFolder(folder, walk)) {
    if (found.size >= walk.files) return;
    const isLink = walk.isWide && entry.isSymbolicLink();
    const stats = isLink || entry.isDirectory() ? stat(path) : undefined;
    if (stats?.isDirectory() !== true) addStats(walk, path);
    else if (depth < walk.depth) {
      if (isLink) found.set(path, lstatSync(path));
      const id = `${stats.dev} ${stats.ino}`;
      if (!seen.has(id)) {
        seen.add(id);
        addFolder(walk, path, depth + 1);
      }
    }
  }
}

function listFolder(folder: string, { skips }: Reach) {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !skips(name) && !DATA.test(name))
      .map((entry) => ({ entry, path: join(folder, entry.name) }));
  } catch {
    return []; // The folder cannot be listed; its scripts are known by name.
  }
}

function addStats({ found, stat }: Walk, path: string): void {
  const stats = stat(path);
  if (stats !== undefined) found.set(path, stats);
}

function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // For example a link to itself, which cannot be run or read.
  }
}

interface BackOff {
  admits(stamp: string): boolean;
  delayMs(): number;
  recordDeath(stamp: string): boolean;
  recordTaken(): void;
}

/** Restarts at once, then after 100 ms, doubling; gives up after the fifth death until the files change. */
export function createBackOff(): BackOff {
  let deaths = 0;
  let deadStamp = '';
  return {
    admits: (stamp) => {
      if (stamp !== deadStamp) deaths = 0;
      return deaths < MOST_DEATHS;
    },
    delayMs: () => (deaths < 2 || deaths >= MOST_DEATHS ? 0 : FIRST_DELAY_MS * 2 ** (deaths - 2)),
    recordDeath: (stamp) => {
      deaths = stamp === deadStamp ? deaths + 1 : 1;
      deadStamp = stamp;
      return deaths === MOST_DEATHS;
    },
    recordTaken: () => {
      deaths = 0;
    },
  };
}

const FIRST_DELAY_MS = 100;
const MOST_DEATHS = 5;
