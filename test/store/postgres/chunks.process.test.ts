import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openPostgresResults, type PostgresResultOptions } from '../../../src/store/postgres-result-store.ts';
import type { SuiteChunks } from '../../../src/store/result-store.ts';
import type { Job } from '../../../src/store/shared-work.ts';
import { newResult, newResultRun } from '../examples.ts';
import { startProxy } from './proxy.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

describe.runIf(hasPostgres)(`chunks of suites in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const open = async (url: string, options?: PostgresResultOptions) => {
    const results = await openPostgresResults(addressOf(url), options);
    onTestFinished(() => results.close());
    const { chunks } = results;
    if (chunks === undefined) throw new Error('the store has no chunks');
    const told: Job[] = [];
    chunks.announceBy(async (jobs) => {
      told.push(...jobs);
      return true;
    });
    return { results, chunks, told };
  };
  const places = [1, 2, 3].map((number) => ({ number, rows: 10, place: `{"at":${number}}` }));
  const begin = async () => {
    const url = await server.newUrl();
    const opened = await open(url);
    await opened.results.createRun(newResultRun('r1'));
    await opened.chunks.share('r1', { build: 'b', work: '{"w":1}' });
    await opened.chunks.add('r1', places);
    return { url, ...opened };
  };
  const tallies = async (chunks: SuiteChunks) => await Array.fromAsync(chunks.tallies('r1'));

  test('chunks are added once, and workers are notified of each once', async () => {
    const { chunks, told } = await begin();
    await chunks.add('r1', [...places, { number: 4, rows: 7, place: '{}' }]);
    expect(told.map(({ id }) => id)).toEqual(['r1/1', 'r1/2', 'r1/3', 'r1/4']);
    expect(new Set(told.map(({ kind, queue }) => `${kind} ${queue}`))).toEqual(new Set(['chunk b']));
    expect(await chunks.progress('r1')).toEqual({
      chunks: 4,
      done: 0,
      rows: 37,
      doneRows: 0,
      worst: undefined,
    });
  });

  test('a chunk has one worker at a time, and is judged once', async () => {
    const { url, chunks, results } = await begin();
    const other = await open(url);
    const claim = await chunks.claim('r1', 2);
    expect([claim?.place, claim?.work, await other.chunks.claim('r1', 2)]).toEqual([
      '{"at":2}',
      '{"w":1}',
      undefined,
    ]);
    expect(await claim?.end([newResult('r1', { number: 11 })], '{"t":2}')).toBe(true);
    await claim?.release();
    expect(await other.chunks.claim('r1', 2)).toBeUndefined();
    expect([await tallies(chunks), await results.countRecords('r1')]).toEqual([['{"t":2}'], 1]);
    expect(await chunks.progress('r1')).toMatchObject({ done: 1, doneRows: 10 });
  });

  test('nothing is stored of a worker whose chunk another has taken', async () => {
    const { url, chunks, results } = await begin();
    const claim = await chunks.claim('r1', 1);
    // Its connection is lost, which it has not noticed yet.
    await server.ask(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signalbox' AND pid <> pg_backend_pid()",
    );
    const other = await open(url);
    const taken = await vi.waitUntil(async () => await other.chunks.claim('r1', 1));
    expect(await claim?.end([newResult('r1', { number: 1, text: '"late"' })], '{"t":"late"}')).toBe(false);
    expect([await tallies(chunks), await results.countRecords('r1')]).toEqual([[], 0]);
    expect(await taken?.end([newResult('r1', { number: 1 })], '{"t":1}')).toBe(true);
    expect([await tallies(chunks), await results.countRecords('r1')]).toEqual([['{"t":1}'], 1]);
  });

  test('an end whose reply is lost with the connection is stored and reported as such', async () => {
    const { url } = await begin();
    const proxy = await startProxy(server.port);
    const tcp = `postgres://tester@127.0.0.1:${proxy.port}${new URL(url).pathname}?password=${encodeURIComponent('p@ss/wörd-of-the-tests')}`;
    const { chunks, results } = await open(tcp);
    const claim = await chunks.claim('r1', 1);
    proxy.loseAnswers();
    const ended = claim?.end([newResult('r1', { number: 1 })], '{"t":1}');
    await expect.poll(() => proxy.lost()).toBeGreaterThan(0);
    proxy.cut();
    expect(await ended).toBe(true);
    expect([await tallies(chunks), await results.countRecords('r1')]).toEqual([['{"t":1}'], 1]);
  });

  test('workers are notified again only of chunks without a worker', async () => {
    const { chunks, told } = await begin();
    const claim = await chunks.claim('r1', 1);
    const done = await chunks.claim('r1', 2);
    await done?.end([], '{}');
    await server
      .ask("UPDATE signalbox.suite_chunks SET announced_at = now() - interval '1 minute'", 't5')
      .catch(() => {});
    told.length = 0;
    await expect
      .poll(async () => (await chunks.announceIdle('r1')) + told.length, { timeout: 8_000 })
      .toBeGreaterThan(0);
    expect(told.map(({ id }) => id)).toEqual(['r1/3']);
    await claim?.release();
  });

  test('a run that does not continue has no chunks to take, and a removed one none at all', async () => {
    const { chunks, results } = await begin();
    await results.setRunEnd('r1', { status: 'interrupted', report: null });
    expect(await chunks.claim('r1', 1)).toBeUndefined();
    await results.setRunEnd('r1', { status: 'running', report: null });
    const claim = await chunks.claim('r1', 1);
    expect(claim).toBeDefined();
    await claim?.fail('[X] no');
    await claim?.release();
    expect((await chunks.progress('r1')).worst).toEqual({ number: 1, failures: 1, failure: '[X] no' });
    expect(await results.prune(Date.now())).toBe(1);
    expect(await chunks.progress('r1')).toMatchObject({ chunks: 0 });
  });
});
