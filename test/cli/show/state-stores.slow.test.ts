import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { callThatWaits, config, fixture, folderOf, run, runJson } from '../command-line.ts';

const spec = config(`tools: {refund: {exec: {command: ${fixture('pending.sh')}}}}\n`);

async function projects() {
  const folder = folderOf({ 'a/runtime.yaml': spec, 'b/c/runtime.yaml': spec });
  const [a, c] = await Promise.all([
    callThatWaits(join(folder, 'a'), 'refund'),
    callThatWaits(join(folder, 'b/c'), 'refund'),
  ]);
  return { folder, a, c };
}

test.concurrent('without a config here, an id finds its store in the folders below', async ({ expect }) => {
  const { folder, a, c } = await projects();
  const shown = await runJson(['pending', 'show', a.id], { cwd: folder });
  expect(shown).toMatchObject({ code: 0, document: { id: a.id, run_id: a.runId } });
  expect(await run(['pending', 'approve', c.id.slice(0, 16)], { cwd: folder })).toMatchObject({
    code: 0,
    stderr: `reading b/c/.signalbox/state.db, the store of b/c/runtime.yaml\nresume:   signalbox runs resume ${c.runId} --config b/c/runtime.yaml\n`,
  });
  const resumed = await runJson(['runs', 'resume', c.runId, '--log-level', 'silent'], { cwd: folder });
  expect(resumed).toMatchObject({ code: 0, document: { status: 'completed' } });
});

test.concurrent('without a config here, lists cover all stores below', async ({ expect }) => {
  const { folder, a, c } = await projects();
  const [pending, runs, people] = await Promise.all([
    runJson('pending list', { cwd: folder }),
    runJson('runs list --limit 2', { cwd: folder }),
    run('pending list', { cwd: folder }),
  ]);
  expect(pending.document).toMatchObject({ pending: [{ id: a.id }, { id: c.id }] });
  expect(runs.document).toEqual({
    runs: expect.arrayContaining([
      expect.objectContaining({ run_id: a.runId }),
      expect.objectContaining({ run_id: c.runId }),
    ]),
  });
  expect(people.stdout.split('\n')).toEqual([
    expect.stringMatching(/^CALL +RUN +TOOL +STATUS +ASKED +CONFIG +QUESTION$/),
    expect.stringMatching(`^${a.id.slice(0, 16)} .* a/runtime.yaml `),
    expect.stringMatching(`^${c.id.slice(0, 16)} .* b/c/runtime.yaml `),
    '',
  ]);
});

test.concurrent('a config that is here or given is used alone', async ({ expect }) => {
  const { folder, a, c } = await projects();
  const here = await runJson(['pending', 'show', c.id], { cwd: join(folder, 'a') });
  const given = await runJson(['pending', 'show', c.id, '--config', 'a/runtime.yaml'], { cwd: folder });
  const list = await runJson('pending list --config a/runtime.yaml', { cwd: folder });
  expect([here, given]).toMatchObject([
    { code: 2, document: { error: { code: 'RUN_UNKNOWN' } } },
    { code: 2, document: { error: { code: 'RUN_UNKNOWN' } } },
  ]);
  expect(list.document).toMatchObject({ pending: [{ id: a.id }] });
});

test.concurrent('an id that no store below knows is unknown', async ({ expect }) => {
  const { folder } = await projects();
  const ran = await runJson('pending show pending_0123456789abcdef', { cwd: folder });
  expect(ran).toMatchObject({ code: 2, document: { error: { code: 'RUN_UNKNOWN' } } });
});

test.concurrent('where there is neither config nor store, the missing config is reported', async ({
  expect,
}) => {
  const ran = await Promise.all(
    [
      ['pending', 'list'],
      ['runs', 'show', 'run_1234'],
    ].map((args) => runJson(args, { cwd: folderOf({}) })),
  );
  const missing = { code: 2, document: { error: { code: 'FILE_UNREADABLE' } } };
  expect(ran).toMatchObject([missing, missing]);
});

test.concurrent('a moved project is found in its new place', async ({ expect }) => {
  const { folder, a } = await projects();
  renameSync(join(folder, 'a'), join(folder, 'moved'));
  expect(await runJson(['pending', 'approve', a.id], { cwd: folder })).toMatchObject({
    code: 0,
    document: { status: 'approved' },
  });
});

test.concurrent('an id that a copied store knows too needs --config', async ({ expect }) => {
  const { folder, a } = await projects();
  cpSync(join(folder, 'a'), join(folder, 'copy'), { recursive: true });
  const unclear = await runJson(['pending', 'approve', a.id], { cwd: folder });
  expect(unclear).toMatchObject({
    code: 2,
    document: {
      error: {
        code: 'USAGE',
        hint: expect.stringContaining(`--config ${join(folder, 'copy/runtime.yaml')}`),
      },
    },
  });
  const clear = await runJson(['pending', 'approve', a.id, '--config', 'copy/runtime.yaml'], { cwd: folder });
  expect(clear).toMatchObject({ code: 0, document: { status: 'approved' } });
});

test.concurrent('a store whose config is missing is omitted from lists, and named', async ({ expect }) => {
  const { folder, a, c } = await projects();
  renameSync(join(folder, 'a/runtime.yaml'), join(folder, 'a/other.yaml'));
  const { stdout, stderr } = await run('pending list --json', { cwd: folder });
  expect(JSON.parse(stdout)).toMatchObject({ pending: [{ id: c.id }] });
  expect(stderr).toContain(join(folder, 'a/.signalbox/state.db'));
  const ran = await runJson(['pending', 'show', a.id], { cwd: folder });
  expect(ran).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
});

test.concurrent('runs prune does not choose among several stores', async ({ expect }) => {
  const { folder } = await projects();
  const ran = await runJson('runs prune', { cwd: folder });
  expect(ran).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
});

test.concurrent('node_modules and hidden folders are not searched for projects', async ({ expect }) => {
  const folder = folderOf({ 'node_modules/x/runtime.yaml': spec, '.cache/y/runtime.yaml': spec });
  await Promise.all(
    ['node_modules/x', '.cache/y'].map((each) => callThatWaits(join(folder, each), 'refund')),
  );
  const ran = await runJson('pending list', { cwd: folder });
  expect(ran).toMatchObject({ code: 2, document: { error: { code: 'FILE_UNREADABLE' } } });
});

test.concurrent('without a config here, suite runs are found in the folders below like pipeline runs', async ({
  expect,
}) => {
  const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: NAME}
spec:
  runtime: ./runtime.yaml
  cases: [{id: one, text: yes}]
  case: {id: "\${case.id}", content: "\${case.text}"}
  evals: [{id: said, type: contains, params: {patterns: ["yes"]}}]
`;
  const folder = folderOf({
    'a/runtime.yaml': spec,
    'a/one.suite.yaml': suite.replace('NAME', 'one'),
    'b/c/runtime.yaml': spec,
    'b/c/two.suite.yaml': suite.replace('NAME', 'two'),
  });
  for (const [place, name] of [
    ['a', 'one'],
    ['b/c', 'two'],
  ]) {
    const cwd = join(folder, place ?? '');
    expect(await run(['eval', 'run', `${name}.suite.yaml`, '--quiet'], { cwd })).toMatchObject({ code: 0 });
  }
  const list = await runJson('eval list', { cwd: folder });
  expect(list).toMatchObject({ code: 0, document: { runs: [{ suite: 'two' }, { suite: 'one' }] } });
  const { runs } = list.document as { runs: { id: string }[] };
  const first = runs[1]?.id ?? '';
  expect(await runJson('eval list --limit 1', { cwd: folder })).toMatchObject({
    document: { runs: [{ suite: 'two' }] },
  });
  for (const [given, name] of [
    [first, 'one'],
    [first.slice(0, 8), 'one'],
    ['last', 'two'],
    ['last~1', 'one'],
  ]) {
    const shown = await runJson(['eval', 'show', given ?? ''], { cwd: folder });
    expect(shown).toMatchObject({ code: 0, document: { suite: name } });
  }
  expect(await runJson('eval prune --older-than 0s', { cwd: folder })).toMatchObject({
    code: 2,
    document: { error: { code: 'USAGE', message: 'several state stores are in or below this folder' } },
  });
  expect(await runJson('eval show nosuch', { cwd: folder })).toMatchObject({
    code: 2,
    document: { error: { code: 'RUN_UNKNOWN' } },
  });
});
