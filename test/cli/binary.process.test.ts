import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callThatWaits, fixture, run, workspace } from './command-line.ts';

// What the program passes from its process to main(): arguments, folder, environment, streams, user, and the exit code.
const cwd = workspace(
  `
tools:
  echo: {exec: {command: ${fixture('echo-args')}, env: [ASKED_FOR]}}
  noisy: {exec: {command: ./noisy.sh}}
  refund: {exec: {command: ${fixture('pending.sh')}}}
`,
  {
    'noisy.sh': '#!/bin/sh\necho one >&2\necho \'{"error": "no"}\'\n',
    'desk/runtime.yaml': 'kind: Nothing\n',
  },
);

test.concurrent.for([
  { title: 'a call that is answered', args: ['tool', 'call', 'echo'], code: 0 },
  { title: 'arguments on stdin', args: ['tool', 'call', 'echo', '--args', '-'], code: 0 },
  { title: 'a call that fails', args: ['tool', 'call', 'noisy', '--log-level', 'silent'], code: 1 },
  { title: 'a file of another folder', args: ['validate', join('desk', 'runtime.yaml')], code: 2 },
  { title: 'no command', args: [], code: 2 },
  { title: 'help', args: ['tool', '--help'], code: 0 },
])('$title: the program prints and does what main() does', async ({ args, code }, { expect }) => {
  const its = { cwd, stdin: '{"id": 7}', env: { ASKED_FOR: 'a secret' } };
  const asProcess = await run(args, { ...its, binary: true });
  expect(asProcess).toEqual({ code, stdout: expect.any(String), stderr: expect.any(String) });
  expect(asProcess).toEqual(await run(args, its));
});

test('a waiting call exits with 3, and its decider is recorded by account name', async () => {
  expect(await run('tool call refund', { cwd, binary: true })).toMatchObject({ code: 3 });
  const { id } = await callThatWaits(cwd, 'refund');
  const { code, stdout } = await run(`pending reject ${id} --reason no`, { cwd, binary: true });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `rejected: ${id} (tool "refund") by ${userInfo().username}\n`,
  });
});
