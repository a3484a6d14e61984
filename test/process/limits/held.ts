import { readdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { Binding } from '../../../src/process/binding.ts';
import { findHierarchies, openGroupMaker } from '../../../src/process/limits/cgroup.ts';
import type { FindGroups } from '../../../src/process/limits/hold.ts';
import { bind, isRunning, type Opened, type OpenOptions, open, until } from '../harness.ts';

const maker = await openGroupMaker();

/** Whether this machine allows control groups. */
export const hasGroups = maker !== undefined;

/** Limits on several processes, enforced by control groups or without them. */
export const ways: readonly { readonly way: string; readonly findGroups: FindGroups | undefined }[] = [
  { way: 'a supervisor', findGroups: async () => undefined },
  ...(hasGroups ? [{ way: 'control groups', findGroups: undefined }] : []),
];

export const modes = {
  oneshot: {},
  waiting: { spares: 1 },
  forked: { isForked: true },
  server: { mode: 'server', args: ['server'] },
} as const satisfies Record<string, Partial<Binding>>;

/** Opens `greedy`. After the test, no process or control group may be left. */
export async function openGreedy(overrides: Partial<Binding>, options: OpenOptions): Promise<Opened> {
  const pids: number[] = [];
  const onEvent = (event: RuntimeEvent) => {
    if (event.type === 'process.started') pids.push(event.pid);
  };
  // Registered first, so it runs last.
  onTestFinished(async () => {
    await until(() => !pids.some(isRunning), 'end of all processes');
    await until(() => ownGroups().length === 0, 'end of all control groups');
  });
  return await open(bind('greedy', { timeoutMs: 100_000, ...overrides }), { ...options, onEvent });
}

function ownGroups(): string[] {
  return findHierarchies()
    .flatMap(({ folders }) => folders)
    .flatMap((folder) => readdirSync(folder))
    .filter((name) => name.startsWith(`signalbox-limits-${process.pid}.`));
}
