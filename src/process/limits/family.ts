import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessStat, readProcess } from '../../base/files/process-stat.ts';

/** The processes that one process has started, directly or not, itself included. */
export class Family {
  readonly #leader: number;
  /** Everyone who was ever seen, by when he began. */
  readonly #known = new Map<number, number>();

  constructor(leader: number) {
    this.#leader = leader;
  }

  /**
   * Those who live, by the table as it is now: the leader, its group, descendants of these, and who was one of them once. Who
   * leaves the group and loses his parent before he is looked at is missed. `others` lead families of their own.
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

/**
 * Whether a process, or one that it has started, computes rather than waits: it is runnable nearly each time that it is looked
 * at, for a quarter of a second. False where there is no /proc.
 */
export async function isComputing(pid: number): Promise<boolean> {
  const family = new Family(pid);
  let runnable = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await sleep(LOOK_MS);
    const table = tryReadTable();
    if (family.members(table, new Set()).some(({ isRunnable }) => isRunnable)) runnable += 1;
  }
  return runnable >= LOOKS - 1;
}

const LOOKS = 6;
const LOOK_MS = 50;

function tryReadTable(): ReadonlyMap<number, ProcessRow> {
  try {
    return readProcessTable();
  } catch {
    return new Map();
  }
}

/** One process, as /proc shows it. */
export interface ProcessRow extends ProcessStat {
  readonly pid: number;
}

/** All processes of this machine, by number. */
export function readProcessTable(): ReadonlyMap<number, ProcessRow> {
  const rows = new Map<number, ProcessRow>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const stat = /^\d/.test(name) ? readProcess(pid) : undefined;
    if (stat !== undefined) rows.set(pid, { pid, ...stat });
  }
  return rows;
}

/** Bytes in memory of a process, in which what is shared counts in parts; undefined where that cannot be read. */
export function readSharedOutBytes(pid: number): number | undefined {
  try {
    const [, kib] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

let knownPageBytes: number | undefined;

/** The size of a page of this machine's memory. */
export function pageBytes(): number {
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
