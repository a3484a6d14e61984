import { readdirSync, readFileSync } from 'node:fs';

/** The resources of this process at one moment, and its totals so far. */
export interface Sample {
  /** Seconds since the start. */
  readonly seconds: number;
  readonly rssMb: number;
  /** Measured after a garbage collection if `--expose-gc` is set. */
  readonly heapMb: number;
  readonly descriptors: number;
  /** Child processes that are running or not yet reaped. */
  readonly children: number;
  /** Child processes that have exited and are not yet reaped. */
  readonly zombies: number;
  /** Handles that keep the event loop alive. */
  readonly handles: number;
  readonly calls: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly kills: number;
}

interface Child {
  readonly pid: number;
  readonly state: string;
  readonly command: string;
}

/** Samples this process. Descriptors and children are 0 without /proc. */
export function lookAtSelf(): Omit<Sample, 'seconds' | 'calls' | 'errors' | 'kills'> {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const children = listChildren();
  return {
    rssMb: rss / 1_048_576,
    heapMb: heapUsed / 1_048_576,
    descriptors: list('/proc/self/fd').length,
    children: children.length,
    zombies: children.filter(({ state }) => state === 'Z').length,
    handles: process.getActiveResourcesInfo().length,
  };
}

/** Lists the children of every thread, because /proc assigns a child to the thread that started it. */
export function listChildren(): Child[] {
  return list('/proc/self/task')
    .flatMap((thread) => read(`/proc/self/task/${thread}/children`).split(' '))
    .filter((pid) => pid !== '')
    .map((pid) => ({
      pid: Number(pid),
      state: /\) (\S)/u.exec(read(`/proc/${pid}/stat`))?.[1] ?? 'gone',
      command: read(`/proc/${pid}/cmdline`),
    }));
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
