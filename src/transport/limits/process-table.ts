import { readdirSync, readFileSync } from 'node:fs';

/** One process, as /proc shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** When it began, in clock ticks since the start of the system: with the number, it is nobody else's. */
  readonly startedAt: number;
  readonly isOver: boolean;
  readonly threads: number;
  /** Its computing and that of its children that have ended and were waited for. */
  readonly cpuSeconds: number;
  /** Pages in memory, also those that it shares. */
  readonly residentPages: number;
}

/** All processes of this machine, by number. */
export function readProcessTable(): ReadonlyMap<number, ProcessRow> {
  const rows = new Map<number, ProcessRow>();
  for (const name of readdirSync('/proc')) {
    const row = /^\d/.test(name) ? readProcess(Number(name)) : undefined;
    if (row !== undefined) rows.set(row.pid, row);
  }
  return rows;
}

/** One process; undefined when there is none of that number. */
export function readProcess(pid: number): ProcessRow | undefined {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Source: proc_pid_stat(5); the name, in which anything may stand, ends with the last parenthesis. */
function parseStat(pid: number, stat: string): ProcessRow {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (field: number) => Number(fields[field - 3]) || 0;
  return {
    pid,
    parent: at(4),
    group: at(5),
    startedAt: at(22),
    isOver: fields[0] === 'Z' || fields[0] === 'X',
    threads: at(20),
    cpuSeconds: (at(14) + at(15) + at(16) + at(17)) / TICKS_PER_SECOND,
    residentPages: at(24),
  };
}

/** Source: USER_HZ, which Linux shows to programs on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

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
