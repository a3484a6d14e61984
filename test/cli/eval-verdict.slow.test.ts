import { expect, test } from 'vitest';
import { callOnTerminal, folderOf } from './command-line.ts';
import { evalRun, failing } from './failing-suite.ts';

test('on a terminal the progress line continues below the first failures', async () => {
  const cwd = folderOf(failing(20_000));
  const typing = await callOnTerminal(evalRun('--reporter', 'csv=all.csv'), { cwd });
  const { code } = await typing.ran;
  const screen = typing.screen();
  expect(code).toBe(1);
  expect(screen.match(/case \d+, says_yes/g)).toHaveLength(10);
  expect(screen).toContain('19990 more failures: ');
  const last = [...screen.matchAll(/(\d+)\/20000 cases|(\d+) cases {2}/g)].at(-1);
  expect(Number(last?.[1] ?? last?.[2])).toBeGreaterThan(1_000);
});
