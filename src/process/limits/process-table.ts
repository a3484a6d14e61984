import { readdirSync, readFileSync } from 'node:fs';
import { type ProcessStat, readProcess } from '../../base/files/process-stat.ts';

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
