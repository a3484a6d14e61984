import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesOf, findSurvivors, textOf } from './leaks.ts';

/** Things that tests could leave behind, by unique names. */
export interface Count {
  readonly processes: readonly string[];
  /** Open descriptors of these processes and of this one. */
  readonly descriptors: readonly string[];
  readonly files: readonly string[];
  readonly others: readonly string[];
}

const SETTLE_MS = 10_000;

function differences(before: Count, after: Count): string[] {
  const added = (kind: keyof Count) => {
    const known = new Set(before[kind]);
    return after[kind].filter((name) => !known.has(name)).map((name) => `${kind}: ${name}`);
  };
  return [...added('processes'), ...added('descriptors'), ...added('files'), ...added('others')];
}

/** Counts the leftovers of a test run with this folder as TMPDIR. Empty without /proc. */
export function countLeft(folder: string): Count {
  const survivors = findSurvivors(folder);
  return {
    processes: survivors.map(({ pid, startTime, command }) => `${pid} (${startTime}) ${command}`),
    descriptors: ['self', ...survivors.map(({ pid }) => pid)].flatMap(openDescriptors),
    files: entriesOf(folder).map((name) => join(folder, name)),
    others: [...mountsIn(folder), ...controlGroups()],
  };
}

/** The differences after everything that is ending has ended. */
export async function settledDifferences(before: Count, folder: string): Promise<string[]> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const found = differences(before, countLeft(folder));
    if (found.length === 0 || performance.now() > deadline) return found;
    await sleep(100);
  }
}

function openDescriptors(pid: number | string): string[] {
  const fds = `/proc/${pid}/fd`;
  return entriesOf(fds).flatMap((fd) => {
    try {
      return [`${pid} ${fd} ${readlinkSync(`${fds}/${fd}`)}`];
    } catch {
      return []; // The descriptor that listed the folder is already closed.
    }
  });
}

function mountsIn(folder: string): string[] {
  return textOf('/proc/self/mounts')
    .split('\n')
    .filter((line) => line.includes(folder));
}

function controlGroups(): string[] {
  const root = '/sys/fs/cgroup';
  return entriesOf(root)
    .flatMap((name) => [name, ...entriesOf(join(root, name)).map((inner) => join(name, inner))])
    .filter((name) => name.includes('signalbox'));
}
