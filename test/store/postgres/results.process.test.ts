import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresResults } from '../../../src/store/postgres-result-store.ts';
import { newResult, newResultRun } from '../examples.ts';
import { keepsRatings } from '../rating-contract.ts';
import { allOf, keepsResults } from '../result-contract.ts';
import { startProxy } from './proxy.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

describe.runIf(hasPostgres)(`results in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const openAt = async (url: string) => {
    const results = await openPostgresResults(addressOf(url));
    onTestFinished(() => results.close());
    return results;
  };

  keepsResults(async () => await openAt(await server.newUrl()));
  keepsRatings(async () => await openAt(await server.newUrl()));

  test('concurrent appends of two machines are stored one after another, each once [DS-POSTGRES-14]', async () => {
    const url = await server.newUrl();
    const first = await openAt(url);
    const machines = [first, await openAt(url), await openAt(url)];
    await first.createRun(newResultRun('r1', { kind: 'shadow' }));
    const { number: _, ...record } = newResult('r1');
    await Promise.all(
      machines.flatMap((results, machine) =>
        Array.from({ length: 50 }, (_, at) => results.append({ ...record, caseId: `${machine}-${at}` })),
      ),
    );
    const kept = await allOf(first.records('r1'));
    expect(kept.map(({ number }) => number)).toEqual(Array.from({ length: 150 }, (_, at) => at + 1));
    expect(new Set(kept.map(({ caseId }) => caseId)).size).toBe(150);
  });

  test('a record whose reply is lost with the connection is appended once, and a run is created once [DS-POSTGRES-04]', async () => {
    const proxy = await startProxy(server.port);
    const url = (await server.newUrl('tcp')).replace(`:${server.port}/`, `:${proxy.port}/`);
    const results = await openAt(url);
    proxy.loseAnswers();
    const made = results.createRun(newResultRun('r1'));
    await expect.poll(() => proxy.lost()).toBeGreaterThan(0);
    proxy.cut();
    await made;
    const { number: _, ...record } = newResult('r1');
    proxy.loseAnswers();
    const appended = results.append(record);
    await expect.poll(() => proxy.lost()).toBeGreaterThan(0);
    proxy.cut();
    expect([await appended, await results.countRecords('r1')]).toEqual([true, 1]);
  });

  test('a run of a suite is claimed on one machine, and free when that one is gone', async () => {
    const url = await server.newUrl();
    const [one, other] = [await openAt(url), await openAt(url)];
    await one.createRun(newResultRun('r1', { createdAt: 1 }));
    expect(await one.claimRun('r1')).toBeDefined();
    expect([await other.claimRun('r1'), await other.prune(2)]).toEqual([undefined, 0]);
    await one.close();
    expect(await other.claimRun('r1')).toBeDefined();
  });

  test('a run with very many results is removed in pieces, also after the first remover was killed', async () => {
    const url = await server.newUrl();
    const results = await openAt(url);
    await results.createRun(newResultRun('r1', { createdAt: 1 }));
    await server.ask(
      `INSERT INTO signalbox.results (run, number, epoch, sum, case_id, digest, text)
         SELECT (SELECT seq FROM signalbox.result_runs), n, 1, 0, 'c', 'd', 't' FROM generate_series(1, 45000) AS n`,
      new URL(url).pathname.slice(1),
    );
    await server.ask("SELECT signalbox.remove_result_runs('{r1}', '{c}')", new URL(url).pathname.slice(1));
    expect(await results.prune(2)).toBe(0);
    const [left] = await server.ask(
      'SELECT count(*) AS n FROM signalbox.results',
      new URL(url).pathname.slice(1),
    );
    expect(left).toEqual({ n: '0' });
  });

  test('a batch of many large records is stored completely', async () => {
    const results = await openAt(await server.newUrl());
    await results.createRun(newResultRun('r1'));
    const texts = Array.from({ length: 30 }, (_, at) => `${at} `.repeat(300_000));
    await results.putAll(texts.map((text, at) => newResult('r1', { number: at + 1, text })));
    let count = 0;
    for await (const { text } of results.records('r1')) {
      expect(text === texts[count]).toBe(true);
      count += 1;
    }
    expect(count).toBe(30);
  });
});
