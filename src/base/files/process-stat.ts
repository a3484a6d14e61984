import { readFileSync } from 'node:fs';

/** What /proc says of a process or a thread; 0 where it does not say. */
export interface ProcessStat {
  readonly parent: number;
  readonly group: number;
  /** When it began, in clock ticks since the start of the system: with the number, it is nobody else's. */
  readonly startedAt: number;
  /** It computes, or waits for a processor and nothing else. */
  readonly isRunnable: boolean;
  /** A zombie, which only its parent can take away. */
  readonly isOver: boolean;
  readonly threads: number;
  /** Its computing and that of its children that have ended and were waited for. */
  readonly cpuSeconds: number;
  /** Its own computing alone. */
  readonly ownCpuSeconds: number;
  /** Pages in memory, also those that it shares. */
  readonly residentPages: number;
}

/** Reads a `stat` file. Source: proc_pid_stat(5); the name, in which anything may stand, ends with the last parenthesis. */
export function readStat(stat: string): ProcessStat {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (field: number) => Number(fields[field - 3]) || 0;
  return {
    parent: at(4),
    group: at(5),
    startedAt: at(22),
    isRunnable: fields[0] === 'R',
    isOver: fields[0] === 'Z' || fields[0] === 'X',
    threads: at(20),
    cpuSeconds: (at(14) + at(15) + at(16) + at(17)) / TICKS_PER_SECOND,
    ownCpuSeconds: (at(14) + at(15)) / TICKS_PER_SECOND,
    residentPages: at(24),
  };
}

/** Source: USER_HZ, which Linux shows to programs on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** The process of that number; undefined when there is none. */
export function readProcess(pid: number): ProcessStat | undefined {
  try {
    return readStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}
