import { expect, test } from 'vitest';
import { allOf } from '../process/harness.ts';
import { open } from './open.ts';

const allows = `hooks: {seen: {command: $bin/allow.sh, hook: tool, phases: [after_execution]}}`;

const unseen = [
  {
    title: 'in the place of a reply',
    runs: 'command: $bin/mumbles.sh, args: [stdout]',
    code: 'REPLY_MALFORMED',
    left: {},
  },
  {
    title: 'on stderr before a bad exit',
    runs: 'command: $bin/mumbles.sh, args: [stderr]',
    code: 'PROCESS_EXIT',
    left: { details: { exit_code: 3, signal: null } },
  },
  {
    title: 'as the data of a server’s error',
    runs: 'command: $bin/server, args: [rpc-error], runtime: server',
    code: 'TOOL_ERROR',
    left: {},
  },
];

test.each(unseen)('a tool’s output $title is shown only if no filter was to see it', async (row) => {
  const { code, left } = row;
  const filtered = await open(`tools: {it: {exec: {${row.runs}}}}\n${allows}\n`);
  const free = await open(`tools: {it: {exec: {${row.runs}}}}\n`);
  const document = await filtered.runtime.tools.call('it');
  const error = { code, message: expect.any(String), hint: expect.any(String) };
  expect(document).toEqual({ status: 'failed', error: { ...error, ...left } });
  expect(JSON.stringify(document)).not.toContain('4111');
  const [finished] = allOf(filtered.events, 'call.finished');
  expect(JSON.stringify(finished)).not.toMatch(/4111|it failed|not found/);
  expect(await free.runtime.tools.call('it')).toEqual({
    status: 'failed',
    error: { ...error, details: expect.any(Object) },
  });
});

test('a filter that fails over a result reveals nothing of it', async () => {
  const { runtime } = await open(`
tools: {it: {exec: {command: $bin/echo-args}}}
hooks: {seen: {command: $bin/mumbles.sh, args: [stderr], hook: tool, phases: [after_execution]}}
`);
  expect(await runtime.tools.call('it')).toEqual({
    status: 'denied',
    hook: 'seen',
    reason: 'the hook failed: The process ended with an exit code other than 0.',
    metadata: {},
    error: {
      code: 'PROCESS_EXIT',
      message: 'The process ended with an exit code other than 0.',
      hint: 'Correct the program: its stderr says why.',
    },
  });
});

test('a filter that does not judge the result hides nothing', async () => {
  const { runtime } = await open(`
tools: {it: {exec: {command: $bin/mumbles.sh, args: [stderr]}}}
hooks: {seen: {command: $bin/allow.sh, hook: tool, phases: [before_execution]}}
`);
  expect(await runtime.tools.call('it')).toMatchObject({
    error: { details: { stderr: 'my card is 4111 1111 1111 1111\nit failed\n' } },
  });
});
