import { mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Json } from '../../src/base/json/json.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { faultOf, newRun } from './examples.ts';
import { newFile, openAt, start } from './processes.ts';

// An import would print a warning on Node 22.
const { DatabaseSync } = loadSqlite();

async function openOwn(file = newFile(), waitMs = 30_000): Promise<Store> {
  const store = await openAt(file, { writer: 'own', waitMs });
  for (const id of ['r1', 'r2']) await store.createRun(newRun(id));
  return store;
}

function countLists(): { readonly count: () => number } {
  const post = vi.spyOn(Worker.prototype, 'postMessage');
  onTestFinished(() => post.mockRestore());
  return { count: () => post.mock.calls.filter(([message]) => Array.isArray(message)).length };
}

test('acknowledged writes of a thread outlive a SIGKILL', async () => {
  const file = newFile();
  const store = await openOwn(file);
  const said: string[] = [];
  for (let round = 0; round < 4; round++) {
    const writers = ['a', 'b'].map((name) =>
      start(['storm', file, `${round}${name}`], ['env', 'STORE_WRITER=own']),
    );
    for (const writer of writers) said.push((await writer.next()) ?? 'nothing');
    await sleep(Math.random() * 150);
    said.push(...(await Promise.all(writers.map((writer) => writer.kill()))).flat());
  }
  const steps = new Map((await store.listSteps('r1')).map((step) => [step.step, step]));
  const pendings = new Set((await store.listPendings({ runId: 'r1' }, 0)).map(({ id }) => id));
  const lost = said.filter((line) => {
    const [what, id = ''] = line.split(' ');
    return what === 'step' ? steps.get(id)?.outcome?.value !== id.repeat(20) : !pendings.has(id);
  });
  expect(lost).toEqual([]);
  expect(said.length).toBeGreaterThan(8);
});

test('a thread whose disk is full fails the call that needs more, and stored data can be read', async () => {
  const file = newFile();
  mkdirSync(dirname(file));
  const limited = ['env', 'STORE_WRITER=own', 'sh', '-c', 'ulimit -f 512 && exec "$@"', 'sh'];
  const lines = await start(['fill', file], limited).rest();
  const kept = lines.filter((line) => line.startsWith('step '));
  const [failed, readable] = lines.slice(kept.length).map((line) => JSON.parse(line));
  expect(kept.length).toBeGreaterThan(3);
  expect(failed).toMatchObject({
    failed: 'STORE_FAILED',
    message: expect.stringMatching(/SQLITE_(IOERR|FULL)/),
  });
  expect(readable).toEqual({ readable: kept.length });
});

test('requests before the close of the store are stored', async () => {
  const file = newFile();
  const store = await openOwn(file);
  const ends = Array.from({ length: 100 }, (_, n) => store.endStep('r1', `s${n}`, new Json(`${n}`), n));
  await store.close();
  expect((await Promise.allSettled(ends)).filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(await (await openAt(file)).listSteps('r1')).toHaveLength(100);
});

test('callers that wait for a thread that ends get an error, and the store continues without it', async () => {
  const file = newFile();
  const store = await openOwn(file);
  const post = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker) {
    void this.terminate();
  });
  const writes = ['r1', 'r2'].map((run) => faultOf(store.endStep(run, 'a', new Json('1'), 1)));
  for (const fault of await Promise.all(writes)) {
    expect(fault).toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining('thread') });
  }
  post.mockRestore();
  await store.endStep('r1', 'b', new Json('2'), 2);
  expect((await store.listSteps('r1')).map(({ step }) => step)).toEqual(['b']);
});

test('a thread that waits for another process delays nothing here, and stops in time', async () => {
  const file = newFile();
  const store = await openOwn(file, 400);
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 5);
  const fault = await faultOf(store.endStep('r1', 'a', new Json('1'), 1));
  clearInterval(ticking);
  expect(fault).toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining('SQLITE_BUSY') });
  expect(turns).toBeGreaterThan(3);
  const patient = store.endStep('r1', 'b', new Json('1'), 1);
  await sleep(50);
  other.exec('COMMIT');
  await patient;
  expect((await store.listSteps('r1')).map(({ step }) => step)).toEqual(['b']);
});

test('a thread does not write to a file that replaced its own', async () => {
  const file = newFile();
  const store = await openOwn(file);
  renameSync(file, `${file}.aside`);
  expect(await faultOf(store.endStep('r1', 'a', new Json('1'), 1))).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('removed or replaced'),
  });
});

test('one run alone is written on the main thread; several concurrent runs get a thread', async () => {
  const store = await openAt(newFile());
  const lists = countLists();
  for (const id of ['r1', 'r2']) await store.createRun(newRun(id));
  expect(lists.count()).toBe(0);
  for (let n = 0; lists.count() === 0; n += 1) {
    await Promise.all(['r1', 'r2'].map((run) => store.endStep(run, `s${n}`, new Json('1'), n)));
  }
  const [one, other] = [await store.listSteps('r1'), await store.listSteps('r2')];
  expect(one.map(({ step }) => step)).toEqual(other.map(({ step }) => step));
});

test('a store that is closed while its thread starts leaves none behind', async () => {
  const store = await openAt(newFile());
  for (const id of ['r1', 'r2']) await store.createRun(newRun(id));
  await Promise.all(['r1', 'r2'].map((run) => store.endStep(run, 's', new Json('1'), 1)));
  await store.close();
  expect(await faultOf(store.listSteps('r1'))).toMatchObject({ code: 'STORE_FAILED' });
});
