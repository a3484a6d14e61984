import { join } from 'node:path';
import { test } from 'vitest';
import { openAdmission } from '../../src/gateway/keys/admission.ts';
import { run, runJson, workspace } from './command-line.ts';

const spec = `
providers:
  - {id: main, type: mock, model: small, additional_config: {responses: [{text: hello}]}}
hooks:
  guard: {command: ./allow.sh, hook: provider, phases: [before_call]}
tools:
  read_file: {exec: {command: ./allow.sh}}
  send: {exec: {command: ./allow.sh}}
gateway:
  hooks: {strict: [guard]}
`;
const files = { 'allow.sh': '#!/bin/sh\necho \'{"allow": true}\'\n' };

async function callerOf(folder: string, key: string) {
  const store = { type: 'sqlite', file: join(folder, '.signalbox/state.db') } as const;
  const hookSets = new Map([['strict', ['guard']]]);
  const admission = await openAdmission({ store, env: {}, hookSets, isKeyRequired: true });
  try {
    return await admission.authenticate(key);
  } finally {
    await admission.close();
  }
}

test.concurrent('create prints only the key on stdout, once; list, show and revoke never do', async ({
  expect,
}) => {
  const cwd = workspace(spec, files);
  const created = await run('keys create team --budget-month 2.5', { cwd });
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sbx_[0-9A-Za-z]{49}\n$/) });
  const key = created.stdout.trim();
  expect(await callerOf(cwd, key)).toMatchObject({ name: 'team', hooks: undefined });
  const later = [
    await run('keys list', { cwd }),
    await run('keys list --all --json', { cwd }),
    await run('keys show team', { cwd }),
    await run('keys show team --json', { cwd }),
    await run('keys revoke team', { cwd }),
    await run('keys list', { cwd }),
  ];
  expect(later.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(JSON.stringify([later, created.stderr])).not.toContain(key.slice(8));
  expect(later[2]?.stdout).toContain('at most $2.5 a month');
  expect(later[2]?.stdout).toMatch(/^secret +sbx_\S+ until the key ends$/m);
  expect(later[5]?.stdout).toBe('');
  await expect(callerOf(cwd, key)).rejects.toMatchObject({ refusal: { status: 401 } });
});

test.concurrent('create --json prints every member, and the key', async ({ expect }) => {
  const cwd = workspace(spec, files);
  const limits = ['--requests-per-minute', '60', '--tokens-per-minute', '10000', '--concurrent', '4'];
  const rights = [
    '--models',
    'small',
    '--hooks',
    'strict',
    '--expires',
    '2999-01-31',
    '--budget-day',
    '0.05',
  ];
  const { code, document } = await runJson(['keys', 'create', 'ci', ...limits, ...rights], { cwd });
  expect(code).toBe(0);
  expect(document).toMatchObject({
    ...{ name: 'ci', status: 'active', models: ['small'], hooks: 'strict' },
    ...{ requests_per_minute: 60, tokens_per_minute: 10_000, concurrent: 4 },
    budget: { day: 0.05, month: null, total: null },
    expires_at: '2999-01-31T00:00:00.000Z',
    key: expect.stringMatching(/^sbx_/),
    secrets: [{ begins: expect.stringMatching(/^sbx_.{4}…$/), expires_at: null }],
  });
  const rotated = await runJson('keys rotate ci --grace 1h', { cwd });
  expect(rotated.document).toMatchObject({
    secrets: [{ expires_at: expect.any(String) }, { expires_at: null }],
  });
  expect(await callerOf(cwd, Object(rotated.document).key)).toMatchObject({ hooks: ['guard'] });
});

test.concurrent.for([
  ['a name that is taken', ['create', 'team']],
  ['a model that the config does not have', ['create', 'x', '--models', 'small,smal']],
  ['a hook set that the config does not have', ['create', 'x', '--hooks', 'lax']],
  ['no tools at all', ['create', 'x', '--tools', ' , ']],
  ['a tool that the config does not have', ['create', 'x', '--tools', 'read_*,raed_*']],
  ['a role that does not exist', ['create', 'x', '--role', 'owner']],
  ['a limit of a key that may call no models', ['create', 'x', '--role', 'admin', '--concurrent', '4']],
  ['hooks of a key that may call no models', ['create', 'x', '--tools', 'send', '--hooks', 'strict']],
  ['no models at all', ['create', 'x', '--models', ',']],
  ['a limit of nothing', ['create', 'x', '--concurrent', '0']],
  ['a part of a request', ['create', 'x', '--requests-per-minute', '1.5']],
  ['a negative budget', ['create', 'x', '--budget-day', '-1']],
  ['a budget that is no number', ['create', 'x', '--budget-day', '1e3']],
  ['a day that has gone', ['create', 'x', '--expires', '2020-01-01']],
  ['a day that is none', ['create', 'x', '--expires', '2999-02-31x']],
  ['a name of one of our texts', ['create', 'key_1']],
  ['a name with a line end', ['create', 'a\nb']],
  ['a grace that is no duration', ['rotate', 'team', '--grace', 'soon']],
  ['a key that nobody has', ['show', 'nobody']],
] as const)('%s is refused with exit code 2', async ([, args], { expect }) => {
  const cwd = workspace(spec, files);
  await run('keys create team', { cwd });
  const { code, stderr } = await run(['keys', ...args], { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(/\[(USAGE|KEY_UNKNOWN)\]/);
  const { document } = await runJson('keys list --all', { cwd });
  expect(document).toMatchObject({ keys: [{ name: 'team' }] });
});

test.concurrent('a key is limited to a role and to tools, and list and show print them', async ({
  expect,
}) => {
  const cwd = workspace(spec, files);
  const agent = await runJson(['keys', 'create', 'agent', '--tools', 'read_*, send'], { cwd });
  expect(agent.document).toMatchObject({
    models: [],
    role: null,
    tools: ['read_*', 'send'],
    scopes: ['tools:call'],
  });
  await run('keys create mara --role approver', { cwd });
  await run('keys create root --role admin --models small --concurrent 2', { cwd });
  const { stdout } = await run('keys list', { cwd });
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(1).join('|'))).toEqual([
    'NAME|STATUS|MODELS|HOOKS|TOOLS|ROLE|EXPIRES',
    'agent|active|none|all|read_*, send|none|never',
    'mara|active|none|all|none|approver|never',
    'root|active|small|all|all|admin|never',
    '',
  ]);
  expect((await runJson('keys list', { cwd })).document).toMatchObject({
    keys: [
      { tools: ['read_*', 'send'] },
      { role: 'approver', scopes: ['pendings:read', 'pendings:decide', 'runs:read', 'evals:rate'] },
      {},
    ],
  });
  expect((await run('keys show agent', { cwd })).stdout).toMatch(
    /models +none\nhooks +all\ntools +read_\*, send\nrole +none/,
  );
});

test.concurrent('a key given in place of its name is not repeated', async ({ expect }) => {
  const cwd = workspace(spec, files);
  const { stdout } = await run('keys create team', { cwd });
  for (const command of ['show', 'revoke', 'rotate', 'create']) {
    const ran = await run(['keys', command, stdout.trim()], { cwd });
    expect(ran.code).toBe(2);
    expect(JSON.stringify(ran)).not.toContain(stdout.slice(8, 40));
  }
});

test.concurrent('keys need a persistent state store', async ({ expect }) => {
  const cwd = workspace(`${spec}state_store: {type: memory}\n`, files);
  expect(await run('keys create team', { cwd })).toMatchObject({ code: 2, stdout: '' });
});
