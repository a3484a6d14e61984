import { readFileSync } from 'node:fs';

/** A process or thread as /proc describes it; unknown values are 0. */
export interface ProcessStat {
  readonly parent: number;
  readonly group: number;
  /** Start time in clock ticks since boot; with the pid it identifies the process. */
  readonly startedAt: number;
  readonly isRunnable: boolean;
  readonly isOver: boolean;
  readonly threads: number;
  /** Includes its children that have ended and were waited for. */
  readonly cpuSeconds: number;
  /** Excludes its children. */
  readonly ownCpuSeconds: number;
  /** Includes shared pages. */
  readonly residentPages: number;
}

/** Source: proc_pid_stat(5). The name may contain any character and ends at the last parenthesis. */
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

/** Source: USER_HZ, which is the same on every Linux architecture that Node supports. */
const TICKS_PER_SECOND = 100;

export function readProcess(pid: number): ProcessStat | undefined {
  try {
    return readStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}
