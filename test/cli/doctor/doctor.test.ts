import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Check } from '../../../src/runtime/runtime.ts';
import { config, folderOf, run, runJson } from '../command-line.ts';

// Ten thousand entries take a while on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const marks = '#!/bin/sh\necho ran >> "$(dirname "$0")/MARK"\n';

interface Found {
  readonly code: number | null;
  readonly checks: readonly Check[];
}

async function doctor(cwd: string, ...args: string[]): Promise<Found> {
  const { code, stdout, stderr } = await run(['doctor', ...args, '--json'], {
    cwd,
    env: { DOCTOR_KEY: 'k-123456789' },
  });
  expect(stderr).toBe('');
  const document: { checks: Check[]; errors: number; warnings: number } = JSON.parse(stdout);
  const count = (status: string) => document.checks.filter((check) => check.status === status).length;
  expect(document).toMatchObject({ errors: count('error'), warnings: count('warning') });
  return { code, checks: document.checks };
}

/** The findings of a check, as `status subject: message`. */
const told = (checks: readonly Check[], name: string) =>
  checks
    .filter(({ check }) => check === name)
    .map(({ status, subject, message }) => `${status} ${subject}: ${message}`);

test('a good config has no error, and none of its commands is started [DS-DOCTOR-01 DS-DOCTOR-02]', async () => {
  const cwd = folderOf({
    'runtime.yaml': config(`gateway: {listen: "127.0.0.1:0"}
tools:
  greet: {exec: {command: ./mark.sh, env: [DOCTOR_KEY]}}
evals:
  tone: {command: sh, args: [./mark.sh]}
  forked: {command: ./forked.py, runtime: fork}
hooks:
  guard: {command: ./mark.sh, hook: provider}
  plugin: {dialect: chibi, command: ./mark.sh}
`),
    'mark.sh': marks,
    'forked.py': '#!/usr/bin/env python3\n',
  });
  const { code, checks } = await doctor(cwd);
  expect(checks.filter(({ status }) => status === 'error')).toEqual([]);
  expect(code).toBe(0);
  expect(told(checks, 'config')).toEqual(['ok runtime.yaml: is valid']);
  expect(told(checks, 'command').map((each) => each.split(':')[0])).toEqual([
    ...['ok tool greet', 'ok eval tone', 'ok eval forked', 'ok hook guard', 'ok hook plugin'],
  ]);
  expect(told(checks, 'script')).toEqual([`ok eval tone: ${join(cwd, 'mark.sh')}`]);
  expect(told(checks, 'fork')).toEqual(['ok eval forked: forks python3']);
  expect(told(checks, 'state store')[0]).toContain('does not exist yet');
  expect(checks.find(({ subject }) => subject === 'hook guard')).toMatchObject({
    file: 'runtime.yaml',
    line: 12,
  });
  expect(readdirSync(cwd).toSorted()).toEqual(['forked.py', 'mark.sh', 'runtime.yaml']);
});

test('doctor reports commands that cannot start with their place and the next step [DS-DOCTOR-03]', async () => {
  const cwd = folderOf({
    'runtime.yaml': config(`tools:
  gone: {exec: {command: ./gone.sh}}
  closed: {exec: {command: ./closed.sh}}
  odd: {exec: {command: ./odd.sh}}
  scriptless: {exec: {command: python3, args: [./none.py], env: [NO_SUCH_VARIABLE]}}
  nowhere: {exec: {command: sh, cwd: ./nowhere}}
`),
    'odd.sh': '#!/no/such/interpreter\n',
  });
  writeFileSync(join(cwd, 'closed.sh'), '#!/bin/sh\n', { mode: 0o600 });
  const { code, checks } = await doctor(cwd);
  expect(code).toBe(1);
  const errors = checks.filter(({ status }) => status === 'error');
  expect(errors.map(({ check, subject, line, column }) => [check, subject, line, column])).toEqual([
    ...[
      ['command', 'tool gone', 6, 28],
      ['command', 'tool closed', 7, 30],
      ['command', 'tool odd', 8, 27],
    ],
    ...[
      ['script', 'tool scriptless', 9, 34],
      ['command', 'tool nowhere', 10, 31],
    ],
  ]);
  expect(errors.every(({ hint, file }) => hint !== null && file === 'runtime.yaml')).toBe(true);
  expect(told(checks, 'env')).toEqual(['warning tool scriptless: the environment has no NO_SUCH_VARIABLE']);
  const shown = await run('doctor', { cwd });
  expect(shown.code).toBe(1);
  expect(shown.stdout).toContain('runtime.yaml:6:28');
  expect(shown.stdout).toMatch(/5 errors, \d+ warnings?, \d+ ok\n$/);
  // Paths are never wrapped.
  const wide = shown.stdout.split('\n').filter((line) => line.length > 80 && !line.includes(cwd));
  expect(wide).toEqual([]);
});

test('doctor reports a broken config and still checks the machine [DS-DOCTOR-04]', async () => {
  const cwd = folderOf({ 'runtime.yaml': config('hooks: {a: {hook: none}}\n') });
  const { code, checks } = await doctor(cwd);
  expect(code).toBe(1);
  expect(
    checks.filter(({ check, status }) => check === 'config' && status === 'error').length,
  ).toBeGreaterThan(0);
  expect(told(checks, 'entries')[0]).toContain('not applicable');
  expect(told(checks, 'node')).toHaveLength(1);
});

test('without a config doctor checks the machine; a named config must exist [DS-DOCTOR-05]', async () => {
  const cwd = folderOf({});
  const { code, checks } = await doctor(cwd);
  expect(code).toBe(0);
  expect(told(checks, 'config')).toEqual(['not applicable runtime.yaml: does not exist']);
  const machine = [
    'signalbox',
    'node',
    'sqlite',
    'temp folder',
    'open files',
    'processes',
    'clock',
    'time zone',
  ];
  expect(checks.map(({ check }) => check)).toEqual(expect.arrayContaining([...machine, 'orphans']));
  expect(existsSync(join(cwd, '.signalbox'))).toBe(false);
  expect((await run('doctor nowhere.yaml', { cwd })).code).toBe(2);
  expect((await run('doctor --config nowhere.yaml', { cwd })).code).toBe(2);
});

test('doctor inspects the state store without changing it [DS-DOCTOR-06]', async () => {
  const cwd = folderOf({
    'runtime.yaml': config(`tools:
  refund: {description: d, exec: {command: ./mark.sh}, approval: {}}
`),
    'mark.sh': marks,
  });
  expect((await run('tool call refund --args {}', { cwd })).code).toBe(3);
  const state = join(cwd, '.signalbox');
  const before = readdirSync(state).toSorted();
  const first = await doctor(cwd);
  expect(readdirSync(state).toSorted()).toEqual(before);
  expect(told(first.checks, 'waiting')[0]).toMatch(/: 1 call for a person, 1 run not ended$/);
  expect(told(first.checks, 'state store')[0]).toMatch(/is intact, version 5 of 5$/);
  expect(told(first.checks, 'state files')).toEqual([]);
  chmodSync(state, 0o755);
  chmodSync(join(state, 'state.db'), 0o644);
  const open = await doctor(cwd);
  expect(open.code).toBe(0);
  expect(open.checks.filter(({ status }) => status === 'warning').map(({ hint }) => hint)).toEqual(
    expect.arrayContaining([`Run \`chmod 700 ${state}\`.`, `Run \`chmod go= ${join(state, 'state.db')}\`.`]),
  );
  writeFileSync(join(state, 'state.db'), 'not a database at all'.repeat(100));
  const damaged = await doctor(cwd);
  expect(damaged.code).toBe(1);
  expect(told(damaged.checks, 'state store')[0]).toMatch(/^error /);
});

test('doctor checks providers, keys and the gateway’s address, and shows no key [DS-DOCTOR-07]', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const cwd = folderOf({
    'runtime.yaml': config(`gateway: {listen: "127.0.0.1:${port}"}
providers:
  - {id: good, type: openai, model: m, credential: {credential_env: DOCTOR_KEY}}
  - {id: bare, type: openai, model: m, credential: {credential_env: NO_SUCH_KEY}}
  - {id: file, type: claude, model: m, credential: {credential_file: ./key}}
  - {id: mock, type: mock, model: m, additional_config: {responses: [{text: hi}]}}
`),
  });
  const { code, checks } = await doctor(cwd);
  server.close();
  expect(code).toBe(1);
  expect(told(checks, 'provider').map((each) => each.split(':')[0])).toEqual([
    ...['ok good', 'error bare', 'error file', 'ok mock'],
  ]);
  expect(told(checks, 'gateway')[0]).toMatch(/^warning .* is taken/);
  expect(JSON.stringify(checks)).not.toContain('k-123456789');
});

test('doctor checks ten thousand entries and reports them in a few lines [DS-DOCTOR-08]', async () => {
  const tools = Array.from({ length: 10_000 }, (_, index) => `  t${index}: {exec: {command: ./mark.sh}}\n`);
  const cwd = folderOf({ 'runtime.yaml': config(`tools:\n${tools.join('')}`), 'mark.sh': marks });
  const { code, stdout } = await run('doctor', { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('10000 of them');
  expect(stdout.split('\n').length).toBeLessThan(60);
  expect(existsSync(join(cwd, 'MARK'))).toBe(false);
});

test('a state folder that cannot be created is an error [DS-DOCTOR-06]', async () => {
  const cwd = folderOf({
    'runtime.yaml': config('state_store: {type: sqlite, path: ./runtime.yaml/state.db}\n'),
  });
  const { document } = await runJson('doctor', { cwd });
  expect(document).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining({ check: 'state folder', status: 'error' })]),
  });
});

test('doctor tries the sandboxes of entries, as at load, and reports where they are declared [DS-DOCTOR-09]', async () => {
  const cwd = folderOf({
    'runtime.yaml': config(`sandboxes:
  handed: {mode: command, command: sh, args: ["./mark.sh"]}
  absent: {mode: command, command: no-such-client}
  foreign: {mode: no_such_mode}
  unused: {mode: command, command: no-such-client}
  open: {mode: direct}
tools:
  greet: {exec: {command: ./mark.sh, sandbox: handed}}
  other: {exec: {command: ./mark.sh, sandbox: absent}}
  alien: {exec: {command: ./mark.sh, sandbox: foreign}}
  plain: {exec: {command: ./mark.sh, sandbox: open}}
`),
    'mark.sh': marks,
  });
  const { code, checks } = await doctor(cwd);
  expect(code).toBe(1);
  expect(told(checks, 'sandbox')).toEqual([
    expect.stringMatching(/^ok handed: passes its commands to \S*\/sh, which doctor does not start$/),
    expect.stringMatching(/^error absent: .*no-such-client/),
    expect.stringMatching(/^error foreign: .*no_such_mode/),
  ]);
  const [, absent] = checks.filter(({ check }) => check === 'sandbox');
  expect(absent).toMatchObject({ file: expect.stringMatching(/runtime\.yaml$/), hint: expect.any(String) });
  expect(readdirSync(cwd)).not.toContain('MARK');
});

test.skipIf(process.platform !== 'linux')(
  'a folder that a sandbox would expose whole is an error before anything runs [DS-DOCTOR-09]',
  async () => {
    const cwd = folderOf({
      'runtime.yaml': config(`state_store: {path: ./state.db}
sandboxes: {box: {mode: bubblewrap}}
tools: {greet: {exec: {command: ./mark.sh, sandbox: box}}}
`),
      'mark.sh': marks,
    });
    const [check] = told((await doctor(cwd)).checks, 'sandbox');
    expect(check).toMatch(/^error box: (.* keeps its state$|.*bwrap|.*bubblewrap)/);
  },
);

test.skipIf(process.platform !== 'linux')(
  'doctor reports how limits are enforced, and its trial leaves nothing behind [DS-DOCTOR-10]',
  async () => {
    const cwd = folderOf({
      'runtime.yaml': config(
        'tools: {greet: {exec: {command: ./mark.sh, limits: {memory_mb: 64, processes: 4}}}}',
      ),
      'mark.sh': marks,
    });
    const [check] = told((await doctor(cwd)).checks, 'limits');
    const folders = /control groups in (\S+)(?: and (\S+))?$/.exec(check ?? '')?.slice(1) ?? [];
    expect(check).toMatch(/^ok : enforced by rlimits(, and by control groups in \/| and by watching)/);
    const own = folders.flatMap((folder) => (folder === undefined ? [] : readdirSync(folder)));
    expect(own.filter((name) => name.startsWith(`signalbox-limits-${process.pid}`))).toEqual([]);
  },
);
