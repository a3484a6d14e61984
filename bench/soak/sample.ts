import { readdirSync, readFileSync } from 'node:fs';

/** What this process holds at one moment, and what it has done so far. */
export interface Sample {
  /** Since the beginning. */
  readonly seconds: number;
  readonly rssMb: number;
  /** After a collection, where `--expose-gc` allows one. */
  readonly heapMb: number;
  readonly descriptors: number;
  /** Processes that were started and are not ended, or not waited for. */
  readonly children: number;
  /** Of these the ended ones. */
  readonly zombies: number;
  /** What keeps the event loop busy. */
  readonly handles: number;
  readonly calls: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly kills: number;
}

/** A child of this process. */
interface Child {
  readonly pid: number;
  readonly state: string;
  readonly command: string;
}

/** What this process holds now. Descriptors and children are 0 where there is no /proc. */
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

/** Children of every thread, because whichever thread starts a process is its parent in /proc. */
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
