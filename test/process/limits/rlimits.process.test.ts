import { getPriority } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { Binding } from '../../../src/process/binding.ts';
import { bind, launchers, open } from '../harness.ts';

const shown = 'for each in f d t n; do echo "$each $(ulimit -S -$each) $(ulimit -H -$each)"; done; nice';

describe.each(launchers)('with the %s launcher', (launcher) => {
  const run = async (script: string, overrides: Partial<Binding>) => {
    const { call } = await open(bind('/bin/sh', { args: ['-c', script], ...overrides }), { launcher });
    return await call();
  };

  test('a process and its children have its limits and its lower priority', async () => {
    const limits = { memoryMb: 100, cpuSeconds: 7, openFiles: 64, fileSizeMb: 3 };
    const own = [
      'f 6144 6144',
      `d ${1124 * 1024} ${1124 * 1024}`,
      't 7 9',
      'n 64 64',
      `${getPriority() + 5}`,
      '',
    ].join('\n');
    expect(await run(shown, { limits, nice: 5 })).toBe(own);
    expect(await run(`/bin/sh -c '${shown}'`, { limits, nice: 5 })).toBe(own);
  });

  test('a stricter existing limit stays', async () => {
    const inner = `/bin/sh -c 'ulimit -n'`;
    expect(await run(`ulimit -n 40; ${inner}`, { limits: { openFiles: 64 } })).toBe('40\n');
  });

  test('arguments and environment equal those of a process without limits [DS-LIM-06]', async () => {
    const args = ['-c', 'printf "%s|" "$0" "$@"; env | sort', 'zero', 'a b', '', '"$HOME"', "it's"];
    const bare = bind('/bin/sh', { args, env: { PATH: '/usr/bin:/bin', SHLVL: '7' } });
    const told = await Promise.all(
      [null, { openFiles: 64 }].map(async (limits) => (await open({ ...bare, limits }, { launcher })).call()),
    );
    expect(told[1]).toBe(told[0]);
  });

  test('a silent failure after a child used up the CPU time names the limit', {
    retry: 3,
  }, async () => {
    const silent = `/bin/sh -c 'while :; do :; done' 2>/dev/null || exit 3`;
    await expect(run(silent, { limits: { cpuSeconds: 1 } })).rejects.toMatchObject({
      ...{ code: 'LIMIT_EXCEEDED', details: { limit: 'cpu_seconds', exit_code: 3 } },
    });
    expect(await run('exit 3', { limits: { cpuSeconds: 1 } })).toBe('');
  });
});
