import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesOf, findSurvivors, textOf } from './leaks.ts';

/** What tests could leave behind, each thing by a name that it alone has. */
export interface Count {
  readonly processes: readonly string[];
  /** Open descriptors of these processes and of this one. */
  readonly descriptors: readonly string[];
  /** Temporary files. */
  readonly files: readonly string[];
  /** Mounts and control groups. */
  readonly others: readonly string[];
}

const SETTLE_MS = 10_000;

/** What is there and was not there before. */
function differences(before: Count, after: Count): string[] {
  const added = (kind: keyof Count) => {
    const known = new Set(before[kind]);
    return after[kind].filter((name) => !known.has(name)).map((name) => `${kind}: ${name}`);
  };
  return [...added('processes'), ...added('descriptors'), ...added('files'), ...added('others')];
}

/** Counts what belongs to a run of tests whose TMPDIR is that folder. Nothing where there is no /proc. */
export function countLeft(folder: string): Count {
  const survivors = findSurvivors(folder);
  return {
    processes: survivors.map(({ pid, startTime, command }) => `${pid} (${startTime}) ${command}`),
    descriptors: ['self', ...survivors.map(({ pid }) => pid)].flatMap(openDescriptors),
    files: entriesOf(folder).map((name) => join(folder, name)),
    others: [...mountsIn(folder), ...controlGroups()],
  };
}

/** What is there and was not there before, once what is about to end has ended. */
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
      return []; // The descriptor that listed the folder is closed by now.
    }
  });
}

function mountsIn(folder: string): string[] {
  return textOf('/proc/self/mounts')
    .split('\n')
    .filter((line) => line.includes(folder));
}

/** Those that are named after us, at most two folders deep. */
function controlGroups(): string[] {
  const root = '/sys/fs/cgroup';
  return entriesOf(root)
    .flatMap((name) => [name, ...entriesOf(join(root, name)).map((inner) => join(name, inner))])
    .filter((name) => name.includes('signalbox'));
}
