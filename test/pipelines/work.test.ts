import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { type Desk, openAt, pendingOf, writePipeline } from './desk.ts';
import { openOutage } from './suspending.ts';

const chat = '{id: answer, chat: {provider: main, messages: Hello.}}';

/** Works until the test ends or calls `stop`. `told` holds the resumed runs. */
function startWork(desk: Desk, concurrency = 2) {
  const ending = new AbortController();
  const told: string[] = [];
  const worked = desk.runtime.work({
    ...{ concurrency, signal: ending.signal, drainMs: 0 },
    onRun: ({ run_id, status }) => void told.push(`${run_id} ${status}`),
  });
  const stop = async () => {
    ending.abort();
    await worked;
  };
  onTestFinished(stop);
  return { told, stop };
}

async function endPause({ folder }: Desk): Promise<void> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(join(folder, '.signalbox', 'state.db'));
  database.exec('PRAGMA busy_timeout = 5000; UPDATE suspensions SET due_at = 1');
  database.close();
}

test('work continues a run when its pause is over, and not before [DS-WORK-01]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const { run_id: id } = await desk.run(`steps: [${chat}]\n`);
  desk.model.status = 200;
  const { told } = startWork(desk);
  await sleep(1500);
  expect(told).toEqual([]);
  await endPause(desk);
  await expect.poll(() => told, { timeout: 20_000 }).toEqual([`${id} completed`]);
});

test('work continues a run whose call another process has decided [DS-WORK-01]', async () => {
  const desk = await openOutage();
  const asked = await desk.run('steps: [{id: a, tool: ask, args: {who: a}}]\n');
  const { told } = startWork(desk);
  const other = await openAt(desk.config);
  await other.runtime.pending.approve(pendingOf(asked), { by: 'ada' });
  await expect.poll(() => told, { timeout: 20_000 }).toEqual([`${asked.run_id} completed`]);
  expect(desk.calls()).toHaveLength(1);
});

test('a wait suspends a run on request, and work continues it when the wait is over [DS-WORK-02]', async () => {
  const desk = await openOutage();
  const pipeline = 'steps: [{id: a, wait: 2s}, {id: b, tool: note}]\n';
  const waiting = await desk.run(pipeline, undefined, { longestWaitMs: 100 });
  expect(waiting).toMatchObject({ status: 'waiting', waits_until: expect.any(String) });
  const [listed] = await desk.runtime.runs.list({ status: 'waiting' });
  expect(listed?.waits_until).toBe(waiting.waits_until);
  const { told } = startWork(desk);
  await expect.poll(() => told, { timeout: 20_000 }).toEqual([`${waiting.run_id} completed`]);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(waiting.waits_until ?? ''));
  expect(desk.lines('notes')).toHaveLength(1);
});

test('a wait beside a person is suspended with it, and a decision continues the run before the wait is over [DS-WORK-02]', async () => {
  const desk = await openOutage();
  const asked = await desk.run(
    'steps: [{id: p, parallel: [{id: w, wait: 1h}, {id: a, tool: ask, args: {who: a}}]}]\n',
    undefined,
    { longestWaitMs: 0 },
  );
  expect(asked).toMatchObject({ status: 'pending', waits_until: expect.any(String) });
  const { told } = startWork(desk);
  await desk.runtime.pending.approve(pendingOf(asked), { by: 'ada' });
  await expect.poll(() => told, { timeout: 20_000 }).toEqual([`${asked.run_id} waiting`]);
  expect(desk.calls()).toHaveLength(1);
});

test('a wait inside the time limit of a group stays in its process [DS-WORK-02]', async () => {
  const desk = await openOutage();
  const end = await desk.run(
    'steps: [{id: g, timeout_ms: 60000, steps: [{id: a, wait: 200ms}]}]\n',
    undefined,
    { longestWaitMs: 0 },
  );
  expect(end.status).toBe('completed');
});

test('work and a start with its id both continue a run whose process was killed [DS-WORK-03]', async () => {
  const desk = await openOutage();
  await desk.runtime.close();
  const fresh = await openAt(desk.config);
  const store = await openSqliteStore(join(desk.folder, '.signalbox', 'state.db'));
  onTestFinished(() => store.close());
  const source = 'apiVersion: signalbox/v1\nkind: Pipeline\nspec:\n  steps: [{id: a, tool: note}]\n';
  const begin = async (id: string) => {
    const { Json } = await import('../../src/index.ts');
    const file = writePipeline(desk.folder, 'steps: [{id: a, tool: note}]\n', 'one');
    await store.createRun({
      ...{ id, kind: 'pipeline', name: 'one', file, source, config: desk.config, createdAt: Date.now() },
      input: new Json('{}'),
    });
    return file;
  };
  const file = await begin('r1');
  expect(await fresh.runtime.run(file, {}, { id: 'r1' })).toMatchObject({
    status: 'completed',
    run_id: 'r1',
  });
  expect(await fresh.runtime.run(file, {}, { id: 'r1' })).toMatchObject({
    status: 'completed',
    run_id: 'r1',
  });
  await begin('r2');
  const { told } = startWork(fresh);
  await expect.poll(() => told, { timeout: 20_000 }).toEqual(['r2 completed']);
  expect(desk.lines('notes')).toHaveLength(2);
});

test('a start with the id of a run that a fault suspended continues it, and of two concurrent starts one does [DS-WORK-03]', async () => {
  const desk = await openOutage();
  const file = writePipeline(desk.folder, `steps: [{id: a, tool: note}, ${chat}, {id: b, tool: note}]\n`);
  desk.model.status = 500;
  expect(await desk.runtime.run(file, {}, { id: 'same' })).toMatchObject({ status: 'suspended' });
  desk.model.status = 200;
  const other = await openAt(desk.config);
  const both = await Promise.all([desk, other].map(({ runtime }) => runtime.run(file, {}, { id: 'same' })));
  expect(both.map(({ status }) => status)).toContain('completed');
  expect(desk.lines('notes')).toHaveLength(2);
  expect(desk.model.asked).toBe(2);
});

test('several workers over one store execute no run twice [DS-WORK-04]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const pipeline = `steps: [{id: a, tool: note}, ${chat}, {id: b, tool: note}]\n`;
  const ids = [];
  for (let count = 0; count < 12; count += 1) ids.push((await desk.run(pipeline)).run_id);
  desk.model.status = 200;
  desk.model.asked = 0;
  const others = await Promise.all([1, 2].map(() => openAt(desk.config)));
  const working = [desk, ...others].map((each) => startWork(each, 3));
  await endPause(desk);
  const told = () => working.flatMap((each) => each.told).toSorted();
  await expect.poll(told, { timeout: 30_000 }).toEqual(ids.map((id) => `${id} completed`).toSorted());
  expect(desk.lines('notes')).toHaveLength(24);
  expect(desk.model.asked).toBe(12);
});

test('an attempt that another process made first is not repeated before its pause is over [DS-WORK-04]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const ids = [];
  for (let count = 0; count < 8; count += 1) ids.push((await desk.run(`steps: [${chat}]\n`)).run_id);
  desk.model.asked = 0;
  const others = await Promise.all([1, 2, 3].map(() => openAt(desk.config)));
  await endPause(desk);
  const working = [desk, ...others].map((each) => startWork(each, 8));
  const told = () => working.flatMap((each) => each.told).toSorted();
  await expect.poll(told, { timeout: 30_000 }).toEqual(ids.map((id) => `${id} suspended`).toSorted());
  await sleep(1500);
  expect(desk.model.asked).toBe(8);
});

test('automatic attempts stop after a hundred [DS-SUSPEND-06]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const { run_id: id } = await desk.run(`steps: [${chat}]\nfinally: [{id: end, tool: note}]\n`);
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(join(desk.folder, '.signalbox', 'state.db'));
  database.exec('UPDATE suspensions SET due_at = 1, tries = 100');
  database.close();
  await desk.runtime.work({ once: true });
  expect(await desk.runtime.runs.show(id)).toMatchObject({
    status: 'failed',
    error: { code: 'PROVIDER_FAILED' },
  });
  expect(desk.lines('notes')).toHaveLength(1);
});

test('resumable lists suspended runs whenever they are due, and no waiting ones [DS-WORK-05]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const suspended = await desk.run(`steps: [${chat}]\n`);
  await desk.run('steps: [{id: a, wait: 1h}]\n', undefined, { longestWaitMs: 0 });
  await desk.run('steps: [{id: a, tool: ask, args: {who: a}}]\n');
  const found = await desk.runtime.runs.resumable();
  expect(found.map(({ run_id }) => run_id)).toEqual([suspended.run_id]);
  expect(await desk.runtime.runs.resumable({ pipeline: 'other' })).toEqual([]);
});

test('work with a store in memory is refused', async () => {
  const desk = await openOutage('', 'state_store: {type: memory}');
  await expect(desk.runtime.work()).rejects.toMatchObject({ code: 'USAGE' });
});
