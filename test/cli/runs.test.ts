import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { fixture, pipeline, run, runJson, runOf, start, until, workspace } from './command-line.ts';

const silent = ['--log-level', 'silent'];

const spec = `
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  lost: {exec: {command: ${fixture('error-text.sh')}}}
  refund: {exec: {command: ${fixture('pending.sh')}}}
  hang: {exec: {command: ./hang.sh}}
`;

const files = {
  'hang.sh': '#!/bin/sh\ntouch begun\nsleep 30\n',
  'hang.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, tool: hang}]\n'),
  'desk.yaml': pipeline(`
runtime: ./runtime.yaml
steps:
  - {id: first, tool: echo, args: {n: "\${input.n}"}}
  - {id: back, tool: refund}
output: done
`),
  'echo.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, tool: echo}]\n'),
  'lost.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, tool: lost}]\n'),
};

interface Begun {
  readonly folder: string;
  readonly runId: string;
}

async function begin(file: string, folder = workspace(spec, files)): Promise<Begun> {
  return { folder, runId: await runOf(folder, file, { n: 1 }) };
}

test.concurrent('runs list shows runs newest first, and filters by status and limit', async ({ expect }) => {
  const { folder, runId: completed } = await begin('echo.yaml');
  const { runId: failed } = await begin('lost.yaml', folder);
  const { runId: pending } = await begin('desk.yaml', folder);
  const people = await run('runs list', { cwd: folder });
  expect(people.stdout.split('\n')).toEqual([
    expect.stringMatching(/^RUN +STARTED +STATUS +KIND +NAME$/),
    expect.stringMatching(`^${pending.slice(0, 12)}  \\d{4}-.*Z  pending \\(1 to decide\\)  pipeline  desk$`),
    expect.stringMatching(`^${failed.slice(0, 12)}  \\d{4}-.*Z  failed                 pipeline  desk$`),
    expect.stringMatching(`^${completed.slice(0, 12)}  \\d{4}-.*Z  completed              pipeline  desk$`),
    '',
  ]);
  const lists = await Promise.all(
    [
      ['--limit', '1'],
      ['--status', 'failed'],
      ['--status', 'cancelled'],
    ].map(async (more) => {
      const { document } = await runJson(['runs', 'list', ...more], { cwd: folder });
      return document;
    }),
  );
  expect(lists).toEqual([
    { runs: [expect.objectContaining({ run_id: pending, status: 'pending', pending: 1 })], next: '3' },
    {
      runs: [
        {
          run_id: failed,
          kind: 'pipeline',
          name: 'desk',
          file: join(folder, 'lost.yaml'),
          status: 'failed',
          created_at: expect.any(String),
          updated_at: expect.any(String),
          pending: 0,
        },
      ],
    },
    { runs: [] },
  ]);
});

test.concurrent('run --id starts once, --label is stored, and runs list filters and pages by it', async ({
  expect,
}) => {
  const folder = workspace(spec, files);
  const start = (id: string, shop: string, input = '{"n": 1}') =>
    runJson(['run', 'echo.yaml', '--id', id, '--label', `shop=${shop}`, '--input', input], { cwd: folder });
  const first = await start('a-1', 'berlin');
  expect(first).toMatchObject({ code: 0, document: { run_id: 'a-1', status: 'completed' } });
  expect(await start('a-1', 'berlin')).toEqual(first);
  expect(await start('a-1', 'berlin', '{"n": 2}')).toMatchObject({
    code: 2,
    document: { error: { code: 'RUN_ID_TAKEN' } },
  });
  for (const [id, shop] of [
    ['a-2', 'oslo'],
    ['a-3', 'berlin'],
  ] as const)
    await start(id, shop);
  const list = async (...more: string[]) =>
    (await runJson(['runs', 'list', ...more], { cwd: folder })).document;
  const page = await list('--label', 'shop=berlin', '--limit', '1', '--pipeline', 'desk', '--since', '1h');
  expect(page).toEqual({
    runs: [expect.objectContaining({ run_id: 'a-3', labels: { shop: 'berlin' } })],
    next: '3',
  });
  const rest = await list('--label', 'shop=berlin', '--limit', '1', '--after', '3');
  expect(rest).toEqual({ runs: [expect.objectContaining({ run_id: 'a-1' })] });
  expect(await list('--until', '2020-01-31')).toEqual({ runs: [] });
  const people = await run('runs list --limit 2', { cwd: folder });
  expect(people.stdout.split('\n')[1]).toMatch(/^a-3 .*desk {2}shop=berlin$/);
  expect(people.stderr).toBe('there are more: --after 2\n');
});

test.concurrent('an earlier run that is still in progress is reported', async ({ expect }) => {
  const folder = workspace(spec, files);
  const { child, ran } = start(['run', 'hang.yaml', '--id', 'slow', ...silent], { cwd: folder });
  await until(() => existsSync(join(folder, 'begun')));
  const again = await run('run hang.yaml --id slow --log-level silent', { cwd: folder });
  expect(again).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^running: slow was started before/),
  });
  child.kill('SIGINT');
  await ran;
});

const wrong = [
  ['list', '--limit', '1', '--after', 'x'],
  ['list', '--since', 'yesterday'],
  ['list', '--label', 'shop'],
  ['list', '--label', 'a=1', '--label', 'a=2'],
  ['list', '--limit', '0'],
  ['list', '--limit', '1.5'],
  ['list', '--limit', 'all'],
  ['list', '--status', 'lost'],
  ['prune', '--older-than', 'ever'],
  ['prune', '--older-than', '-3d'],
  ['prune', '--older-than', '0'],
];

test.concurrent.for(wrong.map((args) => ({ args, title: args.join(' ') })))(
  'runs $title exits 2',
  async ({ args }, { expect }) => {
    const ran = await runJson(['runs', ...args], { cwd: workspace(spec) });
    expect(ran).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
  },
);

test.concurrent('runs show prints what happened when, and what can be done', async ({ expect }) => {
  const { folder, runId } = await begin('desk.yaml');
  const { code, stdout } = await run(['runs', 'show', runId.slice(0, 12)], { cwd: folder });
  expect(code).toBe(0);
  const [head = '', timeline = '', waits = '', next = '', ...steps] = stdout.split('\n\n');
  expect(head).toBe(
    `run       ${runId}\npipeline  desk (${join(folder, 'desk.yaml')})\nstatus    pending\ninput     {"n":1}`,
  );
  const time = '\\d{4}-[^ ]*Z +\\+[\\d.]+ m?s';
  const rows = timeline.split('\n').map((row) => row.replace(new RegExp(`^${time} +`), ''));
  expect(rows).toEqual([
    expect.stringMatching(/^started +desk$/),
    expect.stringMatching(/^step began +first\/call$/),
    expect.stringMatching(/^step ended +first\/call +[\d.]+ m?s$/),
    expect.stringMatching(/^step ended +first +ok$/),
    expect.stringMatching(/^step began +back\/call$/),
    expect.stringMatching(/^step ended +back\/call +[\d.]+ m?s$/),
    expect.stringMatching(/^pending +back\/call +pending_[\da-f]{16}: Refund 250 EUR\?$/),
  ]);
  expect(waits).toMatch(
    /^pending: Refund 250 EUR\? \(requires_approval\)\napprove: {2}signalbox pending approve pending_/,
  );
  expect(next).toBe(`then:     signalbox runs resume ${runId}`);
  expect(steps).toEqual([
    expect.stringMatching(
      /^first {2}tool {2}ok {2}[\d.]+ m?s\n {2}tool {4}echo\n {2}args {4}\{"n":1\}\n {2}result {2}\{/,
    ),
    expect.stringMatching(
      /^back {2}pending\n {2}tool {4}refund: pending in [\d.]+ m?s\n {2}args {4}\{\}\n {2}reason {2}Refund 250 EUR\?$/,
    ),
    expect.stringMatching(/^total: [\d.]+ m?s, 1 step, 2 tool calls, 0 model calls\n$/),
  ]);
});

test.concurrent('runs show --json has the timeline and the input', async ({ expect }) => {
  const { folder, runId } = await begin('lost.yaml');
  const { code, document } = await runJson(`runs show ${runId}`, { cwd: folder });
  expect({ code, document }).toMatchObject({
    code: 0,
    document: {
      run_id: runId,
      status: 'failed',
      input: { n: 1 },
      output: null,
      error: { code: 'TOOL_ERROR' },
      pendings: [],
      timeline: [
        { what: 'started', step: null },
        { what: 'step began', step: 'only/call' },
        { what: 'step ended', step: 'only/call' },
        { what: 'step ended', step: 'only' },
        { what: 'ended', step: null, detail: 'failed' },
      ],
    },
  });
});

test.concurrent('runs resume of an undecided run waits again', async ({ expect }) => {
  const { folder, runId } = await begin('desk.yaml');
  const { code, stderr } = await run(`runs resume ${runId} --log-level silent`, { cwd: folder });
  expect(code).toBe(3);
  expect(stderr).toContain(`desk: ${runId} resumed\n`);
  expect(stderr).not.toContain('first:');
});

test.concurrent('runs resume of an ended run shows it again, and does nothing', async ({ expect }) => {
  const { folder, runId } = await begin('echo.yaml');
  expect(await run(`runs resume ${runId} --log-level silent`, { cwd: folder })).toEqual({
    code: 0,
    stdout: expect.stringContaining('"status":"ok"'),
    stderr: '',
  });
});

test.concurrent('a run that another process executes is busy', async ({ expect }) => {
  const folder = workspace(spec, files);
  const { child, ran } = start(['run', 'hang.yaml', ...silent], { cwd: folder });
  await until(() => existsSync(join(folder, 'begun')));
  const { document } = await runJson('runs list --status running', { cwd: folder });
  expect(document).toMatchObject({ runs: [{ run_id: expect.any(String) }] });
  const [{ run_id } = { run_id: '' }] = (document as { runs: { run_id: string }[] }).runs;
  const busy = await runJson(`runs resume ${run_id} --log-level silent`, { cwd: folder });
  child.kill('SIGINT');
  await ran;
  expect(busy).toMatchObject({ code: 1, document: { error: { code: 'RUN_BUSY' } } });
});

test.concurrent('runs cancel ends a run and its pending calls for good', async ({ expect }) => {
  const { folder, runId } = await begin('desk.yaml');
  const cancelled = await run(`runs cancel ${runId} --reason 'ordered twice'`, { cwd: folder });
  expect(cancelled).toEqual({ code: 0, stdout: `cancelled: ${runId}\n`, stderr: '' });
  const [again, resumed, waiting, all] = await Promise.all([
    runJson(`runs cancel ${runId}`, { cwd: folder }),
    runJson(`runs resume ${runId}`, { cwd: folder }),
    runJson('pending list', { cwd: folder }),
    runJson('pending list --all', { cwd: folder }),
  ]);
  expect(again).toMatchObject({ code: 2, document: { error: { code: 'RUN_ENDED' } } });
  expect(resumed).toMatchObject({ code: 1, document: { run_id: runId, status: 'cancelled' } });
  expect(waiting).toMatchObject({ document: { pending: [] } });
  expect(all).toMatchObject({ document: { pending: [{ status: 'cancelled' }] } });
});

test.concurrent('runs cancel ends a wait in another process', async ({ expect }) => {
  const folder = workspace(spec, files);
  const { child, ran } = start(['run', 'desk.yaml', '--input', '{"n": 1}', '--wait', ...silent], {
    cwd: folder,
  });
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  await until(() => told.includes('waiting for the decision'));
  const [runId = ''] = /run_[\da-f]{16}/.exec(told) ?? [];
  await run(`runs cancel ${runId}`, { cwd: folder });
  expect(await ran).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/\ncancelled: run_/),
  });
});

test.concurrent.for(['0s', '0m', '0d0h'])(
  'runs prune --older-than %s removes all ended runs',
  async (age, { expect }) => {
    const { folder } = await begin('echo.yaml');
    const { runId: waiting } = await begin('desk.yaml', folder);
    const pruned = await runJson(['runs', 'prune', '--older-than', age], { cwd: folder });
    const { document } = await runJson('runs list', { cwd: folder });
    expect(pruned).toEqual({ code: 0, document: { pruned: 1 }, stderr: '' });
    expect(document).toMatchObject({ runs: [{ run_id: waiting }] });
  },
);

const told = [
  { args: ['runs', 'resume'], words: 'RUN_BUSY' },
  { args: ['pending', 'approve'], words: 'RUN_BUSY' },
  { args: ['runs', 'list'], words: 'the process of the run is gone' },
];

test.concurrent.for(told)('$args.0 $args.1 --help explains $words', async ({ args, words }, { expect }) => {
  const { code, stdout } = await run([...args, '--help']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(words) });
});

test.concurrent('runs prune removes only runs that ended long enough ago', async ({ expect }) => {
  const { folder, runId } = await begin('echo.yaml');
  const { runId: waiting } = await begin('desk.yaml', folder);
  const young = await runJson('runs prune', { cwd: folder });
  const old = await run('runs prune --older-than 1ms', { cwd: folder });
  expect([young, old]).toEqual([
    { code: 0, document: { pruned: 0 }, stderr: '' },
    { code: 0, stdout: 'removed 1 run\n', stderr: '' },
  ]);
  const [gone, kept] = await Promise.all([
    runJson(`runs show ${runId}`, { cwd: folder }),
    runJson(['runs', 'show', waiting], { cwd: folder }),
  ]);
  expect(gone).toMatchObject({ code: 2, document: { error: { code: 'RUN_UNKNOWN' } } });
  expect(kept).toMatchObject({ code: 0, document: { status: 'pending' } });
});
