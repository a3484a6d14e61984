import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openGroupMaker } from '../../../src/process/limits/cgroup.ts';
import { until } from '../harness.ts';
import { hasGroups } from './held.ts';

/** The folder of a new group in each hierarchy. */
async function makeFolders(): Promise<readonly string[]> {
  const group = (await openGroupMaker())?.make({ memoryMb: 64, processes: 4 });
  const folders = group?.joins.map((file) => dirname(file)) ?? [];
  group?.release();
  return folders;
}

function groupsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('signalbox-limits-'));
}

test.runIf(hasGroups)(
  'the next process removes groups of a killed owner, and keeps those of living ones [DS-LIM-09]',
  async () => {
    const places = (await makeFolders()).map((folder) => dirname(folder));
    expect(places).not.toEqual([]);
    const module = join(import.meta.dirname, '../../../src/process/limits/cgroup.ts');
    const script = `const { openGroupMaker } = await import(${JSON.stringify(module)});
    (await openGroupMaker()).make({ memoryMb: 64, processes: 4 });
    process.kill(process.pid, 'SIGKILL');`;
    const { signal, pid } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect(signal).toBe('SIGKILL');
    const living = (await openGroupMaker())?.make({ memoryMb: 64, processes: 4 });
    const names = living?.joins.map((file) => dirname(file)) ?? [];
    // Other running tests have groups too.
    const left = places.flatMap(groupsIn).filter((name) => name.startsWith(`signalbox-limits-${pid}.`));
    expect(left).toEqual([]);
    expect(names.every((folder) => groupsIn(dirname(folder)).includes(folder.split('/').at(-1) ?? ''))).toBe(
      true,
    );
    living?.release();
    await until(
      () => !places.flatMap(groupsIn).some((name) => name.includes(`-${process.pid}.`)),
      'end of groups',
    );
  },
);

test.runIf(hasGroups)('a group with a process is removed when the process has ended', async () => {
  const group = (await openGroupMaker())?.make({ processes: 4 });
  const [procs = ''] = group?.joins ?? [];
  execFileSync('/bin/sh', ['-c', `echo 0 >'${procs}'; sleep 0.3 >/dev/null 2>&1 &`]);
  group?.release();
  expect(groupsIn(dirname(dirname(procs)))).toContain(dirname(procs).split('/').at(-1));
  await until(
    () => !groupsIn(dirname(dirname(procs))).includes(dirname(procs).split('/').at(-1) ?? ''),
    'end of it',
  );
});

test('without permission for groups there is none', async () => {
  const folders = [join(import.meta.dirname, 'nowhere'), '/proc'];
  expect(await openGroupMaker([{ version: 1, controllers: ['pids'], folders }])).toBeUndefined();
});
