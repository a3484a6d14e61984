import { fstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that outlived what it was started for. */
export interface Survivor {
  readonly pid: number;
  /** In clock ticks since boot; with `pid` it names one process for good. */
  readonly startTime: number;
  readonly command: string;
}

/**
 * Every process that this test file started and that is still there, zombies included: the descendants of
 * this worker, and whatever carries `folder` as TMPDIR, which even a closed environment forwards, so that
 * an orphan is known too. Empty where there is no /proc.
 */
export function findSurvivors(folder: string): Survivor[] {
  const all = listProcesses();
  const family = descendantsOf(process.pid, all);
  return all
    .filter(({ pid }) => pid !== process.pid && (family.has(pid) || isMarked(pid, folder)))
    .filter(({ pid, startTime }) => orphans.get(pid) !== startTime)
    .map(({ pid, startTime, name }) => ({ pid, startTime, command: commandOf(pid) || `${name} (zombie)` }));
}

/**
 * Lets `pid` outlive its call: for a process that a script put into a session of its own, on purpose. The
 * test that says so also ends it.
 */
export function expectOrphan(pid: number): void {
  const found = listProcesses().find((candidate) => candidate.pid === pid);
  if (found === undefined) throw new Error(`no process ${pid} is there to be expected`);
  orphans.set(pid, found.startTime);
}

/** The pipes, FIFOs and sockets this worker holds open, such as `pipe:[4711]`. Empty where there is no /proc. */
export function openPipes(): string[] {
  return entriesOf('/proc/self/fd')
    .map(Number)
    .flatMap((fd) => {
      try {
        const stat = fstatSync(fd);
        return stat.isFIFO() || stat.isSocket() ? [readlinkSync(`/proc/self/fd/${fd}`)] : [];
      } catch {
        return []; // The descriptor that listed the folder is closed by now.
      }
    });
}

/** Asks `find` until it finds nothing or `timeoutMs` is over; what it found last. */
export async function settle<T>(find: () => T[], timeoutMs: number): Promise<T[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = find();
    if (found.length === 0 || performance.now() > deadline) return found;
    await sleep(20);
  }
}

interface Process {
  readonly pid: number;
  readonly ppid: number;
  readonly startTime: number;
  readonly name: string;
}

const orphans = new Map<number, number>();

function listProcesses(): Process[] {
  return entriesOf('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(textOf(`/proc/${entry}/stat`)) ?? [];
      if (name === undefined || rest === undefined) return [];
      // proc_pid_stat(5): after the name stand the state, the parent and, nineteenth from there, the start.
      const fields = rest.split(' ');
      return [{ pid: Number(entry), ppid: Number(fields[1]), startTime: Number(fields[19]), name }];
    });
}

function descendantsOf(ancestor: number, all: readonly Process[]): Set<number> {
  const family = new Set([ancestor]);
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const { pid, ppid } of all) if (family.has(ppid)) family.add(pid);
  }
  return family;
}

function isMarked(pid: number, folder: string): boolean {
  return textOf(`/proc/${pid}/environ`).split('\0').includes(`TMPDIR=${folder}`);
}

function commandOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
}

/** What a file of /proc says; nothing when the process has just ended, or belongs to somebody else. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Nothing when it is not there, or nobody may list it. */
export function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
