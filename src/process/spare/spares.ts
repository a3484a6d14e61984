import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import type { Writable } from 'node:stream';
import { sleep, waitForSettled } from '../../base/time/deadline.ts';
import { trackWork } from '../../base/time/work.ts';
import type { Binding } from '../binding.ts';
import { createPool } from '../pool.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from '../process.ts';
import { createBackOff } from './back-off.ts';
import { settledStamp, stampOf } from './stamp.ts';

/** Processes of one entry that were started ahead of their calls and wait for a request on stdin. */
interface Spares {
  /**
   * Hands the request to one of them, which nobody else gets and which was started from the files as they are now;
   * undefined when there is none, or none that lived to read it. Rejects with what `requireStart` throws.
   */
  serve(request: Uint8Array, requireStart?: () => void): Promise<WatchedProcess | undefined>;
  /** Starts in the background what is missing, one after another. */
  fill(): void;
  /** Kills all that wait, with their groups. Never rejects. */
  close(): Promise<void>;
}

/** When waiting processes have to go; tests bring their own. */
export interface SpareLimits {
  readonly hasRoom: () => boolean;
  readonly maxAgeMs: number;
  /** How often what waits is looked at, without a call. */
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
