import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Json } from '../../src/base/json/json.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { expectOrphan } from '../leaks.ts';
import { newCall, newRun } from './examples.ts';
import { newFile, openAt, race, racePins, start } from './processes.ts';

// An import would print a warning on Node 22.
const { DatabaseSync } = loadSqlite();

test('of twenty processes that approve one call at once, one wins, and the others are told who', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  await store.addPending(newCall('p1', 'r1'));
  const said = await race(
    Array.from({ length: 20 }, (_, index) => ['decide', file, 'p1', `person ${index}`]),
  );
  const answers = said.map((lines) => JSON.parse(lines.join()));
  const kept = await store.findPending('p1', 4_000);
  expect(answers.filter(({ won }) => won).map(({ by, ruling }) => ({ by, ruling }))).toEqual([
    { by: answers.find(({ won }) => won)?.by, ruling: kept?.ruling },
  ]);
  expect(answers.map(({ ruling }) => ruling)).toEqual(answers.map(() => kept?.ruling));
});

test('of many processes that pin at once, one wins at first sight, and one that accepts', async () => {
  const file = newFile();
  await (await openAt(file)).close();
  const { first, winners } = await racePins(file, 8);
  expect(new Set(first.map(({ pin }) => pin)).size).toBe(1);
  expect(winners).toEqual([{ by: winners[0]?.by, pin: `by ${winners[0]?.by}` }]);
  expect(await (await openAt(file)).findPin('s')).toMatchObject({
    text: winners[0]?.pin,
    acceptedBy: winners[0]?.by,
  });
});

test('twelve processes may create a new store at once', async () => {
  const file = newFile();
  const ids = Array.from({ length: 12 }, (_, index) => `r${index}`);
  expect(await race(ids.map((id) => ['begin', file, id]))).toEqual(ids.map(() => ['done']));
  const runs = await (await openAt(file)).listRuns();
  expect(runs.map(({ id }) => id).sort()).toEqual(ids.toSorted());
});

test('two stores of one process on one file see the same data', async () => {
  const file = newFile();
  const [one, other] = await Promise.all([openAt(file), openAt(file)]);
  await one.createRun(newRun('r1'));
  expect(await other.findRun('r1')).toEqual(await one.findRun('r1'));
  const claim = await one.claimRun('r1');
  expect(await other.claimRun('r1')).toBeUndefined();
  await claim?.release();
  expect(await other.claimRun('r1')).toBeDefined();
});

test('every acknowledged change is there after a SIGKILL at any moment', async () => {
  const file = newFile();
  const first = await openAt(file);
  await first.createRun(newRun('r1'));
  await first.close();
  const said: string[] = [];
  for (let round = 0; round < 8; round++) {
    const writers = [start(['storm', file, `${round}a`]), start(['storm', file, `${round}b`])];
    for (const writer of writers) said.push((await writer.next()) ?? 'nothing');
    await sleep(Math.random() * 150);
    said.push(...(await Promise.all(writers.map((writer) => writer.kill()))).flat());
  }
  const store = await openAt(file);
  const steps = new Map((await store.listSteps('r1')).map((step) => [step.step, step]));
  const pendings = new Set((await store.listPendings({ runId: 'r1' }, 0)).map(({ id }) => id));
  const lost = said.filter((line) => {
    const [what, id = ''] = line.split(' ');
    return what === 'step' ? steps.get(id)?.outcome?.value !== id.repeat(20) : !pendings.has(id);
  });
  expect(lost).toEqual([]);
  expect(said.length).toBeGreaterThan(32);
  expect(integrityOf(file)).toBe('ok');
});

test('a claim is released at once when its holder gets SIGKILL, although its child survives', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  const holder = start(['claim', file, 'r1']);
  const { claimed, sleeper } = JSON.parse((await holder.next()) ?? '');
  expect(claimed).toBe(true);
  expect(await store.claimRun('r1')).toBeUndefined();
  await holder.kill();
  const claim = await store.claimRun('r1');
  const lives = process.kill(sleeper, 0);
  expectOrphan(sleeper);
  process.kill(sleeper, 'SIGKILL');
  expect([claim !== undefined, lives]).toEqual([true, true]);
});

test('processes that claim, release and prune without end never have a run twice', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  const proof = new DatabaseSync(`${file}.proof`);
  proof.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE inside (count); INSERT INTO inside VALUES (0)',
  );
  proof.close();
  const said = await race(Array.from({ length: 4 }, () => ['contend', file, 'r1', '40']));
  expect(said).toEqual(said.map(() => ['done']));
});

test('a released claim leaves no file, and prune removes one that a crash left', async () => {
  const file = newFile();
  const store = await openAt(file);
  const claim = await store.claimRun('r1');
  expect(readdirSync(`${file}.locks`)).toEqual(['r1.lock']);
  await claim?.release();
  expect(readdirSync(`${file}.locks`)).toEqual([]);
  const holder = start(['claim', file, 'r2']);
  const { sleeper } = JSON.parse((await holder.next()) ?? '');
  await holder.kill();
  expectOrphan(sleeper);
  process.kill(sleeper, 'SIGKILL');
  const mine = await store.claimRun('r3');
  expect(readdirSync(`${file}.locks`)).toEqual(['r2.lock', 'r3.lock']);
  expect(await store.prune(0)).toBe(0);
  expect(readdirSync(`${file}.locks`)).toEqual(['r3.lock']);
  await mine?.release();
});

test('a closed store releases its claims', async () => {
  const file = newFile();
  const [one, other] = [await openAt(file), await openAt(file)];
  await one.claimRun('r1');
  await one.close();
  expect(existsSync(`${file}.locks/r1.lock`)).toBe(false);
  expect(await other.claimRun('r1')).toBeDefined();
});

test('a write waits while another process writes, and this process continues meanwhile', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  const holder = start(['hold', file, '400']);
  expect(await holder.next()).toBe('holding');
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 5);
  expect((await store.listRuns()).length).toBe(1);
  expect(await store.beginStep('r1', 'a', 1)).toEqual({ attempt: 1 });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
  expect(await holder.rest()).toEqual(['let go']);
});

test('waiting calls keep their order', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  const holder = start(['hold', file, '100']);
  await holder.next();
  const steps = ['c', 'a', 'b'];
  await Promise.all(steps.map((step) => store.beginStep('r1', step, 1)));
  expect((await store.listSteps('r1')).map(({ step }) => step)).toEqual(steps);
  await holder.rest();
});

test('the wait has a limit', async () => {
  const file = newFile();
  const store = await openAt(file, { waitMs: 50 });
  await store.createRun(newRun('r1'));
  const holder = start(['hold', file, '60000']);
  await holder.next();
  await expect(store.endStep('r1', 'a', new Json('1'), 1)).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: `the state store ${file} was locked by another process for too long (SQLITE_BUSY: database is locked)`,
  });
  await holder.kill();
  await store.endStep('r1', 'a', new Json('1'), 1);
});

function integrityOf(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
  } finally {
    database.close();
  }
}
