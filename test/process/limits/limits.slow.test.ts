import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Binding } from '../../../src/process/binding.ts';
import { bind, launchers } from '../harness.ts';
import { hasGroups, modes, openGreedy, ways } from './held.ts';

function withScratch(): Binding['env'] {
  const folder = mkdtempSync(join(tmpdir(), 'scratch-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { ...bind('greedy').env, SCRATCH: folder };
}

const cases = [
  { title: 'allocates 4 GB', limits: { memoryMb: 256 }, args: { memory: 4096 }, limit: 'memory_mb' },
  { title: 'reserves 4 GB', limits: { memoryMb: 256 }, args: { reserve: 4096 }, limit: 'memory_mb' },
  {
    title: 'spreads 600 MB over sessions',
    limits: { memoryMb: 256 },
    args: { spread: 200 },
    limit: 'memory_mb',
  },
  { title: 'forks 10,000 times', limits: { processes: 20 }, args: { processes: 10_000 }, limit: 'processes' },
  { title: 'starts 1,000 threads', limits: { processes: 20 }, args: { threads: 1000 }, limit: 'processes' },
  { title: 'computes for an hour', limits: { cpuSeconds: 1 }, args: { cpu: 3600 }, limit: 'cpu_seconds' },
  { title: 'ignores SIGXCPU', limits: { cpuSeconds: 1 }, args: { stubborn: 3600 }, limit: 'cpu_seconds' },
  { title: 'writes 10 GB', limits: { fileSizeMb: 4 }, args: { disk: 10_240 }, limit: 'file_size_mb' },
  { title: 'opens 10,000 files', limits: { openFiles: 64 }, args: { files: 10_000 }, limit: 'open_files' },
] as const;

const linuxOnly = describe.skipIf(process.platform !== 'linux');

/** The limits that differ by kind of process. */
const perMode = {
  oneshot: cases,
  server: cases.filter(isCheap),
  waiting: cases.filter(isCheap),
  forked: cases.filter(isCheap),
};

function isCheap({ title }: (typeof cases)[number]): boolean {
  return /allocates|forks|opens/.test(title);
}

/** A supervisor samples, so it can miss short-lived threads. */
const isSeen = (title: string, way: string) => way === 'control groups' || !title.includes('threads');

linuxOnly.each(ways)('held by $way', ({ way, findGroups }) => {
  describe.each(['oneshot', 'server', 'waiting', 'forked'] as const)('as %s', (mode) => {
    const seen = perMode[mode].filter(({ title }) => isSeen(title, way));
    test.each(seen)(
      'a process that $title is stopped with its code [DS-LIM-01 DS-LIM-02 DS-LIM-05]',
      async ({ limits, args, limit }) => {
        const opened = await openGreedy({ ...modes[mode], limits, env: withScratch() }, { findGroups });
        const value = Object.values(limits)[0];
        expect(await opened.fault(args)).toMatchObject({ code: 'LIMIT_EXCEEDED', details: { limit, value } });
        expect(await opened.call({ echo: mode })).toContain(`"${mode}"`);
      },
    );
  });

  test('a process that handles a refused resource is answered [DS-LIM-03]', async () => {
    const opened = await openGreedy({ limits: { openFiles: 64, memoryMb: 256 } }, { findGroups });
    expect(await opened.call({ files: 10_000, cope: true })).toBe('"refused"\n');
    expect(await opened.call({ reserve: 4096, cope: true })).toBe('"refused"\n');
  });
});

test.runIf(hasGroups)('a fork that is refused is answered as the process decides', async () => {
  const { call } = await openGreedy({ limits: { processes: 20 } }, {});
  expect(await call({ processes: 10_000, cope: true })).toBe('"refused"\n');
});

linuxOnly.each(launchers)('with the %s launcher', (launcher) => {
  test('all requests in flight of a server fail together, and it is restarted [DS-LIM-04@server]', async () => {
    const opened = await openGreedy({ ...modes.server, limits: { cpuSeconds: 1 } }, { launcher });
    const faults = await Promise.all([opened.fault({ cpu: 3600 }), opened.fault({ echo: 1 })]);
    expect([faults[0].code, faults[1].code]).toEqual(['LIMIT_EXCEEDED', 'LIMIT_EXCEEDED']);
    expect(await opened.call({ echo: 2 })).toBe('2');
  });

  test('a process within all its limits behaves like one without', async () => {
    const limits = { memoryMb: 512, cpuSeconds: 60, openFiles: 256, processes: 64, fileSizeMb: 8 };
    const opened = await openGreedy({ limits, nice: 3 }, { launcher });
    expect(await opened.call({ memory: 32 })).toBe('32\n');
  });
});
