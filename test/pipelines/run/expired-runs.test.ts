import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../src/store/sqlite/node-sqlite.ts';
import { type Desk, openDesk, recording } from '../desk.ts';

const spec = `
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  pay: {approval: {when: "\${true}", expires: 300ms}, exec: ${recording('answers', 'payments', '{"result": "paid"}')}}
  ask: {approval: required, exec: ${recording('answers', 'payments', '{"result": "paid"}')}}
providers:
  - {id: main, type: mock, model: scripted, additional_config: {responses: [{tool_calls: [{name: pay}]}, {text: done}]}}
hooks:
  ends: {command: $bin/record-event, env: [RECORD_FILE=$folder/ends], hook: session, mode: observe, phases: [session_end]}
`;

const one = 'steps: [{id: wait, tool: pay}, {id: after, tool: note}]\n';

async function expire(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 450));
}

/** Reads the file directly, because a read through the store would expire calls. */
function keptIn({ folder }: Desk, sql: string): unknown[] {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(join(folder, '.signalbox/state.db'));
  try {
    return database
      .prepare(sql)
      .all()
      .flatMap((row) => Object.values(row));
  } finally {
    database.close();
  }
}

const looks: readonly {
  readonly title: string;
  readonly look: (desk: Desk, run: string) => Promise<unknown>;
}[] = [
  { title: 'runs list', look: ({ runtime }) => runtime.runs.list() },
  { title: 'runs show', look: ({ runtime }, run) => runtime.runs.show(run) },
  { title: 'pending list', look: ({ runtime }) => runtime.pending.list() },
  { title: 'runs resume', look: ({ runtime }, run) => runtime.runs.resume(run) },
];

test.each(looks)('a run without a decision in time has ended when it is read: $title', async ({ look }) => {
  const desk = await openDesk(spec);
  const { run_id } = await desk.run(one);
  await expire();
  await look(desk, run_id);
  expect(keptIn(desk, 'SELECT status FROM runs')).toEqual(['failed']);
  expect(keptIn(desk, 'SELECT ruling FROM pendings')).toEqual(['expired']);
  expect(await desk.runtime.runs.show(run_id)).toMatchObject({
    status: 'failed',
    pending: 0,
    error: { code: 'PENDING_EXPIRED' },
  });
  expect(await desk.runtime.runs.resume(run_id)).toMatchObject({
    status: 'failed',
    error: { code: 'PENDING_EXPIRED' },
    steps: [{ step: 'wait', status: 'failed', error: { code: 'PENDING_EXPIRED' } }],
  });
  expect([...desk.lines('notes'), ...desk.lines('payments')]).toEqual([]);
  await desk.runtime.close();
  expect(desk.lines('ends')).toHaveLength(1);
});

test('an expired run can be pruned, a single call like a pipeline, by the age of its expiry', async () => {
  const desk = await openDesk(spec);
  await desk.run(one);
  await desk.runtime.tools.call('pay', {});
  await desk.run('steps: [{id: wait, tool: ask}]\n');
  await expire();
  expect(await desk.runtime.runs.prune({ olderThanMs: 40 })).toBe(2);
  expect(await desk.runtime.runs.list()).toMatchObject([{ status: 'pending', pending: 1 }]);
});

const further = [
  {
    title: 'a handler has something to do',
    pipeline: 'steps: [{id: wait, tool: pay, on_error: {steps: [{id: tidy, tool: note}]}}]\n',
  },
  {
    title: 'a further step follows',
    pipeline: 'steps: [{id: wait, tool: pay, on_error: continue}, {id: after, tool: note}]\n',
  },
  {
    title: 'a model is to be told',
    pipeline: 'steps: [{id: chat, chat: {provider: main, messages: Hi., tools: [pay]}}]\n',
  },
];

test.each(further)(
  'reading does not act: where $title, the run waits to be resumed',
  async ({ pipeline }) => {
    const desk = await openDesk(spec);
    const { run_id } = await desk.run(pipeline);
    await expire();
    for (const { look } of looks.slice(0, 3)) await look(desk, run_id);
    expect(desk.lines('notes')).toEqual([]);
    expect(await desk.runtime.runs.show(run_id)).toMatchObject({ status: 'pending', pending: 0 });
    const end = await desk.runtime.runs.resume(run_id);
    expect(['completed', 'failed']).toContain(end.status);
  },
);

test('a run that continues without anything to do has completed', async () => {
  const desk = await openDesk(spec);
  const steps = '[{id: first, tool: note}, {id: wait, tool: pay, on_error: continue}]';
  const { run_id } = await desk.run(`steps: ${steps}\noutput: {was: "\${steps.wait.error.code}"}\n`);
  await expire();
  expect(await desk.runtime.runs.show(run_id)).toMatchObject({
    status: 'completed',
    output: { was: 'PENDING_EXPIRED' },
  });
  expect(desk.lines('notes')).toHaveLength(1);
});

test('where one call has expired and another still waits, the run waits', async () => {
  const desk = await openDesk(spec);
  const { run_id } = await desk.run(
    'steps: [{id: both, parallel: [{id: a, tool: pay}, {id: b, tool: ask}]}]\n',
  );
  await expire();
  expect(await desk.runtime.runs.list()).toMatchObject([{ run_id, status: 'pending', pending: 1 }]);
});

test('a run that another process executes is left to it', async () => {
  const desk = await openDesk(spec);
  const told = Promise.withResolvers<void>();
  const running = desk.run('steps: [{id: wait, tool: ask}]\n', undefined, {
    wait: true,
    onPending: () => told.resolve(),
  });
  await told.promise;
  keptIn(desk, 'UPDATE pendings SET expires_at = created_at + 1 RETURNING id');
  const end = await running;
  expect(end).toMatchObject({ status: 'failed', error: { code: 'PENDING_EXPIRED' } });
});
