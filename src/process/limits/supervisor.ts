import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessStat, readProcess } from '../../base/files/process-stat.ts';
import { signalGroup, signalProcess } from '../launch/process-groups.ts';
import type { ProcessLimits } from '../process-config.ts';

export interface Supervision {
  reached(): Reached | undefined;
  /** The CPU limit if one of its processes reached it, or may have since the last check. Only explains a failure. */
  sawCpuLimit(): Reached | undefined;
  end(): void;
}

/** Polls the total usage of a process and its descendants, and kills them above a limit. Linux only. */
export function supervise(pid: number, limits: ProcessLimits): Supervision {
  const supervised: Supervised = {
    ...{ pid, limits, family: new Family(pid), reached: undefined },
    ...{ longest: 0, lookedAt: performance.now(), lookAt: performance.now() + firstLookMs(limits) },
  };
  all.set(pid, supervised);
  lookLater();
  return {
    reached: () => supervised.reached,
    sawCpuLimit: () => findCpuLimit(supervised),
    end: () => {
      if (all.get(pid) === supervised) all.delete(pid);
    },
  };
}

interface Supervised {
  readonly pid: number;
  readonly limits: ProcessLimits;
  readonly family: Family;
  lookAt: number;
  reached: Reached | undefined;
  longest: number;
  lookedAt: number;
}

const all = new Map<number, Supervised>();
let timer: NodeJS.Timeout | undefined;
let timerAt = 0;

const LOOK_MS = 25;
const LARGEST_SHARE = 0.1;
/** The time between SIGXCPU and the system's SIGKILL. */
const CPU_GRACE_SECONDS = 1;

/** The shortest time to the limit on all cores. One core counts as two, so that a check precedes the end. */
function cpuTimeLeftMs({ cpuSeconds = Number.POSITIVE_INFINITY }: ProcessLimits, used: number): number {
  return ((cpuSeconds - used) * 1000) / Math.max(2, availableParallelism());
}

function firstLookMs(limits: ProcessLimits): number {
  return hasSizes(limits) ? LOOK_MS : cpuTimeLeftMs(limits, 0);
}

function hasSizes({ memoryMb, processes }: ProcessLimits): boolean {
  return memoryMb !== undefined || processes !== undefined;
}

function lookLater(earliest = 0): void {
  if (all.size === 0) return;
  const next = Math.max(earliest, Math.min(...[...all.values()].map(({ lookAt }) => lookAt)));
  if (timer !== undefined && timerAt <= next) return;
  clearTimeout(timer);
  timerAt = next;
  timer = setTimeout(look, Math.min(Math.max(0, next - performance.now()), LONGEST_MS)).unref();
}

const LONGEST_MS = 60_000;

function look(): void {
  timer = undefined;
  const now = performance.now();
  const due = [...all.values()].filter(({ lookAt }) => lookAt <= now);
  if (due.length > 0) {
    const table = readProcessTable();
    const leaders = new Set(all.keys());
    for (const each of due) lookAfter(each, each.family.members(table, leaders));
  }
  const took = performance.now() - now;
  lookLater(performance.now() + took / LARGEST_SHARE - took);
}

function lookAfter(supervised: Supervised, members: readonly ProcessRow[]): void {
  const { limits } = supervised;
  const cpuSeconds = members.reduce((sum, row) => sum + row.cpuSeconds, 0);
  supervised.reached ??= compare(limits, members, cpuSeconds);
  if (supervised.reached !== undefined) killAll(supervised.pid, members);
  supervised.longest = Math.max(supervised.longest, ...members.map(({ ownCpuSeconds }) => ownCpuSeconds));
  supervised.lookedAt = performance.now();
  const soonMs = hasSizes(limits) || supervised.reached ? LOOK_MS : cpuTimeLeftMs(limits, cpuSeconds);
  supervised.lookAt = performance.now() + Math.max(LOOK_MS, soonMs);
}

function findCpuLimit({ limits, longest, lookedAt }: Supervised): Reached | undefined {
  const most = longest + (performance.now() - lookedAt) / 1000;
  if (most < NEAR * (limits.cpuSeconds ?? Number.POSITIVE_INFINITY)) return undefined;
  return reachedOf(limits, 'cpu_seconds', 'one of its processes was near the limit when it was last checked');
}

/** A busy kernel enforces the limit at 0.75 to 1 of the CPU time in /proc, since it counts ticks. */
const NEAR = 0.75;

function compare(
  limits: ProcessLimits,
  members: readonly ProcessRow[],
  cpuSeconds: number,
): Reached | undefined {
  const { memoryMb = Number.POSITIVE_INFINITY, processes = Number.POSITIVE_INFINITY } = limits;
  const count = members.reduce((sum, { threads }) => sum + threads, 0);
  if (count > processes) return reachedOf(limits, 'processes', `it had ${count} processes and threads`);
  const mebibytes = memoryOf(members, memoryMb);
  if (mebibytes > memoryMb) return reachedOf(limits, 'memory_mb', `it used ${Math.round(mebibytes)} MiB`);
  if (cpuTimeLeftMs(limits, cpuSeconds - CPU_GRACE_SECONDS) > 0) return undefined;
  return reachedOf(
    limits,
    'cpu_seconds',
    `all its processes together used ${cpuSeconds} seconds of CPU time`,
  );
}

/** In MiB. Shared memory is counted once, which costs more, only where the simple sum exceeds `enough`. */
function memoryOf(members: readonly ProcessRow[], enough: number): number {
  const resident = members.map(({ residentPages }) => residentPages * pageBytes());
  const sum = (bytes: readonly number[]) => bytes.reduce((total, each) => total + each, 0) / 2 ** 20;
  if (sum(resident) <= enough) return sum(resident);
  return sum(members.map(({ pid }, at) => readSharedOutBytes(pid) ?? resident[at] ?? 0));
}

function killAll(leader: number, members: readonly ProcessRow[]): void {
  signalGroup(leader, 'SIGKILL');
  for (const { pid, group, startedAt } of members) {
    if (group !== leader && readProcess(pid)?.startedAt === startedAt) signalProcess(pid, 'SIGKILL');
  }
}

export type LimitName = 'memory_mb' | 'cpu_seconds' | 'open_files' | 'processes' | 'file_size_mb';

export interface Reached {
  readonly limit: LimitName;
  readonly value: number;
  readonly seen: string;
}

export function reachedOf(limits: ProcessLimits, limit: LimitName, seen: string): Reached | undefined {
  const value = limits[memberOf[limit]];
  return value === undefined ? undefined : { limit, value, seen };
}

const memberOf = {
  memory_mb: 'memoryMb',
  cpu_seconds: 'cpuSeconds',
  open_files: 'openFiles',
  processes: 'processes',
  file_size_mb: 'fileSizeMb',
} as const satisfies Record<LimitName, keyof ProcessLimits>;

class Family {
  readonly #leader: number;
  readonly #known = new Map<number, number>();

  constructor(leader: number) {
    this.#leader = leader;
  }

  /**
   * Misses a process that leaves the group and loses its parent between two checks. `others` lead families of their
   * own.
   */
  members(table: ReadonlyMap<number, ProcessRow>, others: ReadonlySet<number>): readonly ProcessRow[] {
    const children = Map.groupBy(table.values(), ({ parent }) => parent);
    const found = new Map<number, ProcessRow>();
    const add = (row: ProcessRow) => {
      if (found.has(row.pid) || (row.pid !== this.#leader && others.has(row.pid))) return;
      found.set(row.pid, row);
      for (const child of children.get(row.pid) ?? []) add(child);
    };
    for (const row of table.values()) {
      if (row.group === this.#leader || this.#known.get(row.pid) === row.startedAt) add(row);
    }
    this.#known.clear();
    for (const { pid, startedAt } of found.values()) this.#known.set(pid, startedAt);
    return [...found.values()].filter(({ isOver }) => !isOver);
  }
}

/** Whether it or a descendant is runnable in nearly every sample of a quarter of a second. False without /proc. */
export async function isComputing(pid: number): Promise<boolean> {
  const family = new Family(pid);
  let runnable = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await sleep(LOOKS_APART_MS);
    const table = tryReadTable();
    if (family.members(table, new Set()).some(({ isRunnable }) => isRunnable)) runnable += 1;
  }
  return runnable >= LOOKS - 1;
}

const LOOKS = 6;
const LOOKS_APART_MS = 50;

function tryReadTable(): ReadonlyMap<number, ProcessRow> {
  try {
    return readProcessTable();
  } catch {
    return new Map();
  }
}

interface ProcessRow extends ProcessStat {
  readonly pid: number;
}

function readProcessTable(): ReadonlyMap<number, ProcessRow> {
  const rows = new Map<number, ProcessRow>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const stat = /^\d/.test(name) ? readProcess(pid) : undefined;
    if (stat !== undefined) rows.set(pid, { pid, ...stat });
  }
  return rows;
}

/** The proportional set size, in bytes; undefined if it cannot be read. */
function readSharedOutBytes(pid: number): number | undefined {
  try {
    const [, kib] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

let knownPageBytes: number | undefined;

function pageBytes(): number {
  knownPageBytes ??= readPageBytes();
  return knownPageBytes;
}

function readPageBytes(): number {
  try {
    const [, kib] = /^KernelPageSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/smaps', 'utf8')) ?? [];
    return Number(kib ?? 4) * 1024;
  } catch {
    return 4096;
  }
}
