import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { fixture, pipeline, run, runJson, start, until, workspace } from './command-line.ts';

const silent = ['--log-level', 'silent'];

const spec = `
state_store: {type: memory}
tools:
  refund: {exec: {command: ${fixture('pending.sh')}}}
  hang: {exec: {command: ./hang.sh}}
`;

const desk = () =>
  workspace(spec, {
    'hang.sh': '#!/bin/sh\ntouch begun\nsleep 30\n',
    'hang.yaml': pipeline('steps: [{id: only, tool: hang}]\n'),
    'refund.yaml': pipeline('steps: [{id: only, tool: refund}]\n'),
  });

const lost = (instead: string) =>
  `the state store is memory: what waits here ends with this process, and nobody else can decide it
hint: Set spec.state_store to {type: sqlite}, or ${instead}.
`;

const pauses = [
  { args: ['run', 'refund.yaml'], told: lost('decide at once with --interactive') },
  { args: ['tool', 'call', 'refund'], told: lost('approve at once with --approve') },
];

test.concurrent.for(pauses)(
  'with a memory store, $args.0 suggests no command that cannot work',
  async ({ args, told }, { expect }) => {
    const folder = desk();
    const people = await run([...args, ...silent], { cwd: folder });
    const programs = await runJson([...args, ...silent], { cwd: folder });
    expect({ code: people.code, stdout: people.stdout }).toEqual({ code: 3, stdout: '' });
    expect(people.stderr).toContain('pending: Refund 250 EUR? (requires_approval)\n');
    expect(people.stderr.slice(people.stderr.indexOf('the state store'))).toBe(told);
    expect(people.stderr).not.toMatch(/signalbox (?:pending|runs)/);
    expect(programs).toMatchObject({ code: 3, document: { status: 'pending' }, stderr: told });
  },
);

test.concurrent('with a memory store, --wait is refused before anything runs', async ({ expect }) => {
  const folder = desk();
  const ran = await runJson('run hang.yaml --wait --log-level silent', { cwd: folder });
  expect(ran).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
  expect(existsSync(join(folder, 'begun'))).toBe(false);
});

test.concurrent('with a memory store, an interrupted run is over', async ({ expect }) => {
  const folder = desk();
  const { child, ran } = start(['run', 'hang.yaml', ...silent], { cwd: folder });
  await until(() => existsSync(join(folder, 'begun')));
  child.kill('SIGINT');
  const { code, stderr } = await ran;
  expect(code).toBe(130);
  expect(stderr).toMatch(/\nhint: The state store is memory, .* Start it again\.\n$/);
  expect(stderr).not.toContain('runs resume');
});
