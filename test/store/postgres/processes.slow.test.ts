import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore, type PostgresOptions } from '../../../src/store/postgres-store.ts';
import { loadSqlite } from '../../../src/store/sqlite/node-sqlite.ts';
import { expectOrphan } from '../../leaks.ts';
import { newCall, newRun } from '../examples.ts';
import { newFile, race, racePins, start } from '../processes.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

/** The full number, as for SQLite, is too slow for CI. */
const isFull = process.env['POSTGRES_FULL'] !== undefined;

// An import would print a warning on Node 22.
const { DatabaseSync } = loadSqlite();

describe.runIf(hasPostgres)(`processes that share a Postgres store${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const openAt = async (url: string, options?: PostgresOptions) => {
    const store = await openPostgresStore(addressOf(url), options);
    onTestFinished(() => store.close());
    return store;
  };

  test('when many processes approve one call at once, one wins, and the others learn who', async () => {
    const url = await server.newUrl();
    const store = await openAt(url);
    await store.createRun(newRun('r1'));
    await store.addPending(newCall('p1', 'r1'));
    const said = await race(
      Array.from({ length: isFull ? 20 : 8 }, (_, index) => ['decide', url, 'p1', `person ${index}`]),
    );
    const answers = said.map((lines) => JSON.parse(lines.join()));
    const kept = await store.findPending('p1', 4_000);
    expect(answers.filter(({ won }) => won).map(({ by, ruling }) => ({ by, ruling }))).toEqual([
      { by: answers.find(({ won }) => won)?.by, ruling: kept?.ruling },
    ]);
    expect(answers.map(({ ruling }) => ruling)).toEqual(answers.map(() => kept?.ruling));
  });

  test('of many processes that pin at once, one wins at first sight, and one that accepts', async () => {
    const url = await server.newUrl();
    const store = await openAt(url);
    const { first, winners } = await racePins(url, isFull ? 8 : 4);
    expect(new Set(first.map(({ pin }) => pin)).size).toBe(1);
    expect(winners).toEqual([{ by: winners[0]?.by, pin: `by ${winners[0]?.by}` }]);
    expect(await store.findPin('s')).toMatchObject({ text: winners[0]?.pin, acceptedBy: winners[0]?.by });
  });

  test('many processes may create a new store at once', async () => {
    const url = await server.newUrl();
    const ids = Array.from({ length: isFull ? 12 : 6 }, (_, index) => `r${index}`);
    expect(await race(ids.map((id) => ['begin', url, id]))).toEqual(ids.map(() => ['done']));
    const runs = await (await openAt(url)).listRuns();
    expect(runs.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  });

  test('every acknowledged change is there after a SIGKILL at any moment', async () => {
    const url = await server.newUrl();
    const store = await openAt(url);
    await store.createRun(newRun('r1'));
    const said: string[] = [];
    for (let round = 0; round < (isFull ? 8 : 2); round++) {
      const writers = [start(['storm', url, `${round}a`]), start(['storm', url, `${round}b`])];
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
    expect(said.length).toBeGreaterThan(isFull ? 32 : 8);
  });

  test('a claim is released when its holder gets SIGKILL, although its child survives', async () => {
    const url = await server.newUrl();
    const store = await openAt(url);
    await store.createRun(newRun('r1'));
    const holder = start(['claim', url, 'r1']);
    const { claimed, sleeper } = JSON.parse((await holder.next()) ?? '');
    expect(claimed).toBe(true);
    expect(await store.claimRun('r1')).toBeUndefined();
    await holder.kill();
    // The server notices the closed connection after a moment.
    await expect.poll(async () => (await store.claimRun('r1')) !== undefined).toBe(true);
    const lives = process.kill(sleeper, 0);
    expectOrphan(sleeper);
    process.kill(sleeper, 'SIGKILL');
    expect(lives).toBe(true);
  });

  test('processes that claim, release and prune without end never have a run twice', async () => {
    const url = await server.newUrl();
    const store = await openAt(url);
    await store.createRun(newRun('r1'));
    const proofFile = newFile();
    mkdirSync(dirname(proofFile), { recursive: true });
    const proof = new DatabaseSync(proofFile);
    proof.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE inside (count); INSERT INTO inside VALUES (0)',
    );
    proof.close();
    const said = await race(
      Array.from({ length: 4 }, () => ['contend', url, 'r1', isFull ? '40' : '20', proofFile]),
    );
    expect(said).toEqual(said.map(() => ['done']));
  });

  test('a stopped process loses its claims, and its later writes are refused [DS-POSTGRES-08]', async () => {
    const url = await server.newUrl();
    const store = await openAt(url, { hungMs: 1_500 });
    await store.createRun(newRun('r1'));
    const holder = start(['hold-run', url, 'r1']);
    expect(await holder.next()).toBe('claimed');
    holder.child.kill('SIGSTOP');
    expect(await store.claimRun('r1')).toBeUndefined();
    await expect.poll(async () => (await store.claimRun('r1')) !== undefined).toBe(true);
    holder.child.kill('SIGCONT');
    expect(JSON.parse((await holder.next()) ?? '')).toMatchObject({
      failed: 'STORE_FAILED',
      message: expect.stringContaining('this process no longer holds run r1'),
    });
    await store.beginStep('r1', 'of the new holder', 1);
    const steps = (await store.listSteps('r1')).map(({ step }) => step);
    expect(steps.filter((step) => step !== 'of the new holder')).toEqual(steps.slice(0, -1));
  });
});
