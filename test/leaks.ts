import { fstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that outlived its purpose. */
export interface Survivor {
  readonly pid: number;
  /** In clock ticks since boot. With `pid` it identifies a process uniquely. */
  readonly startTime: number;
  readonly command: string;
}

/**
 * Leftover processes of this test file, zombies included: descendants of this worker and processes with `folder` as
 * TMPDIR. Even a closed environment forwards TMPDIR, so orphans are found too. Empty without /proc.
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
 * Allows `pid` to outlive its call, for a process that a script deliberately put into another session. The test must
 * end it.
 */
export function expectOrphan(pid: number): void {
  const found = listProcesses().find((candidate) => candidate.pid === pid);
  if (found === undefined) throw new Error(`no process ${pid} is there to be expected`);
  orphans.set(pid, found.startTime);
}

/** The open pipes, FIFOs and sockets of this worker, such as `pipe:[4711]`. Empty without /proc. */
export function openPipes(): string[] {
  return entriesOf('/proc/self/fd')
    .map(Number)
    .flatMap((fd) => {
      try {
        const stat = fstatSync(fd);
        return stat.isFIFO() || stat.isSocket() ? [readlinkSync(`/proc/self/fd/${fd}`)] : [];
      } catch {
        return []; // The descriptor that listed the folder is already closed.
      }
    });
}

/** Polls `find` until it returns nothing or `timeoutMs` is over. Returns its last result. */
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
      // proc_pid_stat(5): the name is followed by the state, the parent and, 19 fields after the state, the start time.
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

/** The text of a /proc file; empty if the process has ended or belongs to another user. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Empty if the folder is missing or unreadable. */
export function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
