import { describe, expect, test } from 'vitest';
import { config, folderOf, run, runJson, suite } from './command-line.ts';

const cwd = folderOf({
  'runtime.yaml': config('concurrency: 1\n'),
  'demo.suite.yaml': suite(
    'cases: [{content: a}]\nevals: [{id: e, type: contains, params: {patterns: [a]}}]\n',
  ),
});

test.concurrent.for([
  {
    args: ['run', 'demo.suite.yaml', '--timeout', '5'],
    says: '--timeout must be a duration such as 30s or 2m, not 5\nhint: Name the unit: 5s or 5m.\n',
  },
  {
    args: ['run', 'demo.suite.yaml', '--timeout', 'soon'],
    says: '--timeout must be a duration such as 30s or 2m, not soon\nhint: Write it like 500ms, 30s or 2m.\n',
  },
  {
    args: ['call', 'contains', '--content', 'a', '--params', '{"pattern": "a"}'],
    says: 'hint: did you mean `patterns`?\n',
  },
])('a wrong eval command line shows the correct one: $args', async ({ args, says }, { expect }) => {
  const { code, stdout, stderr } = await run(['eval', ...args], { cwd });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(says);
});

test('--json and a reporter that has no file cannot share stdout, and the message names both', async () => {
  const args = [
    'eval',
    'run',
    'demo.suite.yaml',
    '--json',
    '--reporter',
    'markdown=a.md',
    '--reporter',
    'csv',
  ];
  const { code, document } = await runJson(args, { cwd });
  expect(code).toBe(2);
  expect(document).toEqual({
    error: {
      code: 'USAGE',
      message: '--json and --reporter csv would both write to stdout',
      hint: 'Write --reporter csv=FILE, or leave out one of them.',
    },
  });
});

describe('without a config, commands on stored runs say that they need one', () => {
  const hint = 'The state store of a config has its runs: name the config with --config FILE.';

  test.concurrent.for(['list', 'prune', 'show last', 'html last', 'diff last~1 last'])(
    'eval %s',
    async (line, { expect }) => {
      const { code, stderr } = await run(`eval ${line}`, { cwd: folderOf({}) });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`runtime.yaml does not exist\nhint: ${hint}\n`),
      ]);
    },
  );

  test('an existing config is not named as the reason', async () => {
    const broken = folderOf({ 'runtime.yaml': config('concurrency: 0\n') });
    const { stderr } = await run('eval list', { cwd: broken });
    expect(stderr).toContain('concurrency: must be at least 1');
    expect(stderr).not.toContain(hint);
  });
});
