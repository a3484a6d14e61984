import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { findExecutable } from '../../base/files/executable.ts';
import { isFile, tryReadHead } from '../../base/files/interpreter.ts';
import { trackWork } from '../../base/time/async.ts';
import { sleep, waitForSettled } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import { createPool } from '../pool.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from '../process.ts';

/** Processes of one entry that were started ahead of their calls and wait for a request on stdin. */
interface Spares {
  /**
   * Hands the request to one of them, which nobody else gets and which was started from the files as they are now;
   * undefined when there is none, or none that lived to read it. Rejects with what `requireStart` throws.
   */
  serve(request: Uint8Array, requireStart?: () => void): Promise<WatchedProcess | undefined>;
  fill(): void;
  close(): Promise<void>;
}

/** When waiting processes have to go; tests bring their own. */
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

/** Keeps `binding.spares` processes waiting, from the first `fill` on. One that ends while it waits is no failure. */
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
    if (unfit.length > 0) note(`let ${unfit.length} waiting processes go: ${reason}`);
  };
  const retireUnfit = () => {
    if (waiting.size === 0) return;
    const { text } = stampOf(binding);
    retireWhere(({ stamp }) => stamp !== text, 'their files have changed');
    retireWhere(({ startedAt }) => performance.now() - startedAt >= limits.maxAgeMs, 'they are old');
  };
  const onEnd = (spare: Spare) => {
    if (!waiting.has(spare)) return;
    retire(spare);
    note(`process ${spare.process.pid} ended before it was asked`);
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
      // The next call starts one itself, and tells what is wrong.
      backOff.recordDeath(stamp);
      return undefined;
    }
  };
  const fillUp = async () => {
    while (!closing.signal.aborted && waiting.size < binding.spares) {
      if (!limits.hasRoom()) return retireWhere(() => true, 'memory is short');
      await sleep(backOff.delayMs(), closing.signal);
      if (!backOff.admits(await settledStamp(binding))) return;
      await inStartGate(startOne);
    }
  };
  const refill = inBackground(fillUp);
  const sweep = () => {
    retireUnfit();
    if (!limits.hasRoom()) retireWhere(() => true, 'memory is short');
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
  'it ends before it is asked, so none is kept ready until its files change: `warm` is for programs that wait for stdin first';

/** It has been asked nothing, so it has nothing to finish; the end of its stdin would look like an empty request. */
async function endSpare(process: WatchedProcess): Promise<void> {
  process.keepAlive(true);
  process.killGroup();
  await waitForSettled(process.ended, KILL_WAIT_MS);
  process.release();
}

const KILL_WAIT_MS = 5_000;

/** Runs the work at most once at a time, a turn of the event loop after it is begun: what is under way comes first. */
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

/**
 * Whether there is memory for processes that only wait: at least a tenth of what this process may use at most (by its control
 * group, where there is one), or 512 MiB, is free.
 */
function hasMemoryToSpare(): boolean {
  const allowed = process.constrainedMemory();
  const total = allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
  return process.availableMemory() >= Math.min(total / 10, FLOOR_BYTES);
}

const FLOOR_BYTES = 512 * 1024 * 1024;

/**
 * Writes the whole request to a process that waits for it, and ends its stdin. False when the process had ended before it could
 * have read a byte of it, so that another one may be asked in its place.
 */
async function deliver(request: Uint8Array, { stdin, ended }: WatchedProcess): Promise<boolean> {
  if (stdin === null) return false;
  // So little goes into an empty pipe whole or not at all: a write that fails has handed nothing over.
  const written = await write(stdin, request.subarray(0, ATOMIC_BYTES));
  if (written) {
    stdin.end(request.subarray(ATOMIC_BYTES));
    return true;
  }
  // A process that lives has closed its stdin, which is its right: it answers without the request.
  return !(await waitForSettled(ended, REAP_MS));
}

/** Source: PIPE_BUF of <limits.h>, the same on Linux and macOS or less than what a pipe there holds. */
const ATOMIC_BYTES = 512;
/** The end of a process whose stdin is gone is known by then. */
const REAP_MS = 200;

function write(stdin: Writable, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    stdin.write(bytes, (error) => resolve(error === null || error === undefined));
  });
}

/** At most half of the cores start processes ahead of calls, for all entries together: calls that run come first. */
const gate = createPool(Math.max(1, Math.floor(availableParallelism() / 2)));

/**
 * Runs `start` when it is its turn among all starts ahead of calls. The turn lasts until the process that was started sleeps,
 * which it does once it waits for its request.
 */
async function inStartGate(start: () => Promise<number | undefined>): Promise<void> {
  await gate.add(async () => {
    const pid = await start();
    if (pid !== undefined) await whenAsleep(pid);
  });
}

const LOOK_MS = 5;
/** What is still busy after this long is no start any more. */
const LONGEST_MS = 1_000;

async function whenAsleep(pid: number): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  do await sleep(LOOK_MS);
  while (isBusy(pid) && performance.now() < until);
}

/** Source: proc_pid_stat(5): the state follows the name, which stands in parentheses. False where there is no /proc. */
function isBusy(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^[RD]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** The state of the files that a process is started from. */
interface Stamp {
  /** Differs after any change of them. */
  readonly text: string;
  /** Some of them changed so lately that the next change may leave the same time. */
  readonly isSettling: boolean;
}

/**
 * The state of the program, of the files that its arguments name, and of the files in the folders of those of them that are
 * scripts, two folders deep. Data that programs write beside themselves (databases, logs) does not count.
 */
export function stampOf({
  command,
  args,
  cwd,
  env,
}: Pick<Binding, 'command' | 'args' | 'cwd' | 'env'>): Stamp {
  const program = findExecutable(command, cwd, env['PATH'] ?? '');
  const path = program.found ? program.path : command;
  const leading = program.found ? (program.leading ?? []) : [];
  const named = [...leading, ...args].map((arg) => resolve(cwd, arg)).filter(isFile);
  const scripts = command.includes('/') && isScript(path) ? [path, ...named] : named;
  const folders = [...new Set(scripts.map((script) => dirname(script)))];
  const found = new Map<string, Stats>();
  for (const file of [path, ...named]) addStats(found, file);
  for (const folder of folders) addFolder(found, folder, MAX_DEPTH);
  let newestMs = 0;
  let text = '';
  for (const [file, { ino, size, mtimeMs, ctimeMs }] of found) {
    newestMs = Math.max(newestMs, mtimeMs, ctimeMs);
    text += `${file}\0${ino} ${size} ${mtimeMs} ${ctimeMs}\n`;
  }
  const ageMs = Date.now() - newestMs;
  return { text, isSettling: ageMs >= 0 && ageMs < TICK_MS };
}

/** The state of the files, once it is sure that a later change would show in it. */
export async function settledStamp(files: Parameters<typeof stampOf>[0]): Promise<string> {
  const stamp = stampOf(files);
  if (!stamp.isSettling) return stamp.text;
  await sleep(TICK_MS);
  return stampOf(files).text;
}

/** Times of files are those of the system's clock tick, which has at most 10 ms; twice that, for comfort. */
const TICK_MS = 20;

const MAX_DEPTH = 2;
/** A folder with more files than this is looked at no further: so many are data. */
const MAX_FILES = 500;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['__pycache__', 'node_modules']);
const DATA = /\.(?:log|tmp|pyc|(?:db|sqlite3?)(?:-wal|-shm|-journal)?)$/;

function isScript(path: string): boolean {
  return tryReadHead(path)?.subarray(0, 2).toString() === '#!';
}

function addFolder(found: Map<string, Stats>, folder: string, depth: number): void {
  for (const { entry, path } of listFolder(folder)) {
    if (found.size >= MAX_FILES) return;
    if (!entry.isDirectory()) addStats(found, path);
    else if (depth > 0) addFolder(found, path, depth - 1);
  }
}

function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.') && !SKIPPED_FOLDERS.has(name) && !DATA.test(name))
      .map((entry) => ({ entry, path: join(folder, entry.name) }));
  } catch {
    return []; // A folder that cannot be listed: its scripts are known by name.
  }
}

function addStats(found: Map<string, Stats>, path: string): void {
  const stats = tryStat(path);
  if (stats !== undefined) found.set(path, stats);
}

function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // A link to itself, say: nobody can run it or read it either.
  }
}

/** Decides whether and when a process may be started ahead of its call, where earlier ones ended before they were asked. */
interface BackOff {
  /** False for files from which too many in a row have ended unasked. */
  admits(stamp: string): boolean;
  /** Milliseconds to wait before the next start. */
  delayMs(): number;
  recordDeath(stamp: string): boolean;
  recordTaken(): void;
}

/** Starts at once after the first death, then 100 ms, doubling; gives up after the fifth in a row, until the files change. */
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
