import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { composeJson } from '../../../src/base/json/compose.ts';
import { Json } from '../../../src/base/json/json.ts';
import { PartedJson } from '../../../src/base/json/parted.ts';
import { createRunTexts } from '../../../src/pipelines/state/store-journal.ts';
import { openStore } from '../../../src/store/open-store.ts';
import {
  inspectPostgres,
  migratePostgres,
  migrations,
} from '../../../src/store/postgres/layout/migrations.ts';
import { openPostgresStore, type PostgresOptions } from '../../../src/store/postgres-store.ts';
import { faultOf, newCall, newRun } from '../examples.ts';
import { startProxy } from './proxy.ts';
import { addressOf, hasPostgres, password, startServer, type TestServer, unlessMissing } from './server.ts';

describe.runIf(hasPostgres)(`a Postgres store in trouble${unlessMissing}`, () => {
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

  test('a change whose reply is lost with the connection is made once [DS-POSTGRES-04]', async () => {
    const proxy = await startProxy(server.port);
    const url = (await server.newUrl('tcp')).replace(`:${server.port}/`, `:${proxy.port}/`);
    const store = await openAt(url);
    await store.createRun(newRun('r1'));
    await store.addPending(newCall('p1', 'r1'));
    // The server executes the query, but its answer is lost.
    proxy.loseAnswers();
    const began = store.beginStep('r1', 'a', 1);
    await expect.poll(() => proxy.lost()).toBeGreaterThan(0);
    proxy.cut();
    expect(await began).toEqual({ attempt: 1 });
    proxy.loseAnswers();
    const decided = store.decide('p1', { kind: 'rejected', by: 'ann', reason: '' }, 2_500);
    await expect.poll(() => proxy.lost()).toBeGreaterThan(0);
    proxy.cut();
    expect((await decided)?.isAccepted).toBe(true);
    expect((await store.listHistory('r1')).map(({ what }) => what)).toEqual(['pending', 'began', 'decided']);
  });

  test('a server that is stopped at once and returns has every acknowledged change, and claims continue [DS-POSTGRES-05]', async () => {
    const store = await openAt(await server.newUrl());
    await store.createRun(newRun('r1'));
    expect(await store.claimRun('r1')).toBeDefined();
    await store.beginStep('r1', 'a', 1);
    await server.stop('immediate');
    const ended = store.endStep('r1', 'a', new Json('"done"'), 2);
    await sleep(300);
    await server.start();
    await ended;
    expect((await store.listSteps('r1'))[0]?.outcome?.value).toBe('done');
    expect(await store.claimRun('r1')).toBeUndefined();
    expect(await store.beginStep('r1', 'b', 3)).toEqual({ attempt: 1 });
  });

  test('a server that stays away fails the call in time, and later ones', async () => {
    const store = await openAt(await server.newUrl(), { retryMs: 300 });
    await store.createRun(newRun('r1'));
    await server.stop('immediate');
    onTestFinished(() => server.start());
    const codes = await Promise.all(
      [store.beginStep('r1', 'a', 1), store.findRun('r1'), store.listPendings({}, 1)].map(
        async (call) => (await faultOf(call)).code,
      ),
    );
    expect(codes).toEqual(['STORE_FAILED', 'STORE_FAILED', 'STORE_FAILED']);
  });

  test('a claim that another process has taken is lost: nothing more is written, and other runs are not affected [DS-POSTGRES-06]', async () => {
    const url = await server.newUrl();
    const [one, other] = [await openAt(url), await openAt(url)];
    for (const id of ['r1', 'r2']) await one.createRun(newRun(id));
    const claim = await one.claimRun('r1');
    await server.ask(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = (SELECT pid FROM signalbox.holders)',
      new URL(url).pathname.slice(1),
    );
    await expect.poll(async () => (await other.claimRun('r1')) !== undefined).toBe(true);
    const { code, message } = await faultOf(one.beginStep('r1', 'a', 1));
    expect([code, message]).toEqual([
      'STORE_FAILED',
      expect.stringContaining('this process no longer holds run r1'),
    ]);
    expect((await faultOf(one.setRunStatus('r1', { status: 'failed', at: 2 }))).code).toBe('STORE_FAILED');
    expect(await one.beginStep('r2', 'a', 1)).toEqual({ attempt: 1 });
    expect([await other.listSteps('r1'), await other.findRunStatus('r1')]).toEqual([[], 'running']);
    await claim?.release();
    expect(await one.claimRun('r1')).toBeUndefined();
    expect(await other.beginStep('r1', 'a', 1)).toEqual({ attempt: 1 });
  });

  test('a call that arrives at the moment when its run ends is never left open', async () => {
    const url = await server.newUrl();
    const [one, other] = [await openAt(url), await openAt(url)];
    for (let round = 0; round < 60; round++) {
      const id = `r${round}`;
      await one.createRun(newRun(id));
      const adding = [0, 1, 2].map((call) => one.addPending(newCall(`${id}-${call}`, id)));
      await Promise.all([...adding, other.setRunStatus(id, { status: 'completed', at: 3_000 })]);
    }
    expect(await one.listPendings({ open: true }, 4_000)).toEqual([]);
  });

  test('the server drops a client that is gone within ten seconds [DS-POSTGRES-07]', async () => {
    const url = await server.newUrl('tcp');
    const { connect } = await import('../../../src/store/postgres/connection/client.ts');
    const link = await connect(addressOf(url));
    onTestFinished(() => link.end());
    const names = [
      'tcp_keepalives_idle',
      'tcp_keepalives_interval',
      'tcp_keepalives_count',
      'tcp_user_timeout',
    ];
    const settings: number[] = [];
    for (const name of names) {
      const [row] = await link.query({ text: `SHOW ${name}` });
      settings.push(Number(Object.values(row ?? {})[0]));
    }
    const [idle = 0, interval = 0, count = 0, unacknowledgedMs = 0] = settings;
    expect(idle + interval * count).toBeLessThan(10);
    expect(Math.min(...settings)).toBeGreaterThan(0);
    expect(unacknowledgedMs).toBeLessThan(10_000);
  });

  test.each([
    ['an hour behind', -3_600_000],
    ['an hour ahead', 3_600_000],
  ])(
    'a call of a machine whose clock is %s expires by the clock of the server [DS-POSTGRES-15]',
    async (_, skew) => {
      const url = await server.newUrl();
      const [wrong, right] = [await openAt(url), await openAt(url)];
      await wrong.createRun(newRun('r1'));
      const now = Date.now() + skew;
      const { expiresAt } = await wrong.addPending(
        newCall('p1', 'r1', { createdAt: now, expiresAt: now + 1_500 }),
      );
      expect(Math.abs((expiresAt ?? 0) - Date.now() - 1_500)).toBeLessThan(1_400);
      // It does not expire too early for any reader, …
      expect([
        (await wrong.findPending('p1', now))?.ruling,
        (await right.listExpired(Date.now())).length,
      ]).toEqual([null, 0]);
      await sleep(1_600);
      // … nor too late.
      const late = await wrong.decide('p1', { kind: 'rejected', by: 'ann', reason: '' }, Date.now() + skew);
      expect([late?.isAccepted, late?.record.ruling?.kind]).toEqual([false, 'expired']);
    },
  );

  test('a live holder keeps its run, however long it has nothing to write [DS-POSTGRES-08]', async () => {
    const url = await server.newUrl();
    const holder = await openAt(url, { beatMs: 100 });
    const other = await openAt(url, { hungMs: 800 });
    expect(await holder.claimRun('r1')).toBeDefined();
    const until = performance.now() + 2_500;
    while (performance.now() < until) {
      expect(await other.claimRun('r1')).toBeUndefined();
      await sleep(100);
    }
  });

  test('a waiting process learns of a decision, also after a lost connection', async () => {
    const url = await server.newUrl();
    const [one, other] = [await openAt(url), await openAt(url)];
    await one.createRun(newRun('r1'));
    for (const id of ['p1', 'p2']) await one.addPending(newCall(id, 'r1'));
    let told = 0;
    const watch = one.watch(() => {
      told += 1;
    });
    await expect.poll(() => watch.isLive()).toBe(true);
    const before = told;
    await other.decide('p1', { kind: 'rejected', by: 'ann', reason: '' }, 2_500);
    await expect.poll(() => told).toBeGreaterThan(before);
    await server.ask(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN signalbox'",
    );
    await expect.poll(() => watch.isLive()).toBe(false);
    await expect.poll(() => watch.isLive()).toBe(true);
    const since = told;
    await other.decide('p2', { kind: 'rejected', by: 'ann', reason: '' }, 2_500);
    await expect.poll(() => told).toBeGreaterThan(since);
    watch.close();
  });

  test('a long text is stored once, is read by every reader, and damage to it is reported', async () => {
    const url = await server.newUrl();
    const [one, other] = [await openAt(url), await openAt(url)];
    await one.createRun(newRun('r1'));
    const long = 'é\0'.repeat(2_000);
    const texts = createRunTexts(one, 'r1');
    await one.endStep('r1', 'a', texts.adopt('a', composeJson({ ok: long })), 1);
    await one.endStep('r1', 'b', texts.adopt('b', composeJson({ ok: long, also: 1 })), 1);
    const database = new URL(url).pathname.slice(1);
    expect(await server.ask('SELECT count(*)::int AS n FROM signalbox.texts', database)).toEqual([{ n: 1 }]);
    const [, second] = await other.listSteps('r1');
    expect(second?.outcome).toBeInstanceOf(PartedJson);
    expect(second?.outcome?.value).toEqual({ ok: long, also: 1 });
    await server.ask("UPDATE signalbox.texts SET text = 'x' || text", database);
    const [damaged] = await (await openAt(url)).listSteps('r1');
    expect(() => damaged?.outcome?.text).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
  });

  test('an outcome that differs from the stored one is reported', async () => {
    const url = await server.newUrl();
    const store = await openAt(url);
    await store.createRun(newRun('r1'));
    await store.endStep('r1', 'a', new Json('"10"'), 1);
    await server.ask(`UPDATE signalbox.steps SET outcome = '"99"'`, new URL(url).pathname.slice(1));
    const { code, message } = await faultOf(store.listSteps('r1'));
    expect([code, message]).toEqual(['STORE_FAILED', expect.stringContaining('is damaged')]);
  });

  test('the answer to a change that finds damage is reported', async () => {
    const url = await server.newUrl();
    const store = await openAt(url);
    await store.createRun(newRun('r1'));
    await store.addPending(newCall('p1', 'r1'));
    await server.ask(`UPDATE signalbox.pendings SET args = '{"status'`, new URL(url).pathname.slice(1));
    const { code, message } = await faultOf(store.addPending(newCall('p1', 'r1')));
    expect([code, message]).toEqual(['STORE_FAILED', expect.stringContaining('is damaged')]);
  });

  test('any error in the address names the next step and no password [DS-POSTGRES-02]', async () => {
    const url = await server.newUrl('tcp');
    const secret = encodeURIComponent(password);
    const wrong: Readonly<Record<string, string>> = {
      password: url.replace(secret, 'another-s3cret'),
      user: url.replace('tester', 'nobody-there'),
      database: `${url}-that-is-not-there`,
      port: url.replace(`:${server.port}/`, ':1/'),
      host: url.replace('127.0.0.1', 'no-such-host.invalid'),
      scheme: url.replace('postgres:', 'mysql:'),
      parameter: `${url}?sslmod=require`,
      escape: url.replace(secret, '%zz-another-s3cret'),
      tls: `${url}?sslmode=require`,
      nothing: '',
    };
    for (const [what, address] of Object.entries(wrong)) {
      const config = { type: 'postgres', urlEnv: 'DB', folder: '/nowhere' } as const;
      const error = await faultOf(openStore(config, { DB: address }));
      const shown = [
        error.code,
        error.message,
        error.hint,
        JSON.stringify(error.details),
        String(error.cause),
      ].join();
      expect([what, error.code]).toEqual([what, 'STORE_FAILED']);
      expect(error.hint).not.toBe('');
      if (what === 'tls') expect(error.hint).toMatch(/sslmode=disable/);
      for (const hidden of [password, secret, 'another-s3cret']) expect(shown).not.toContain(hidden);
    }
  });

  test('tables of a newer version are not touched, and those of an earlier one wait for their migration [DS-POSTGRES-10]', async () => {
    const known = migrations.length;
    const address = addressOf(await server.newUrl());
    expect(await inspectPostgres(address)).toMatchObject({ version: 0, knownVersion: known });
    expect(await migratePostgres(address)).toEqual({ from: 0, to: known });
    expect(await migratePostgres(address)).toEqual({ from: known, to: known });
    const next = [...migrations, 'ALTER TABLE signalbox.runs ADD COLUMN colour text'];
    const broken = migratePostgres(address, [...next, 'ALTER TABLE signalbox.nothing ADD COLUMN x text']);
    expect((await faultOf(broken)).code).toBe('STORE_FAILED');
    expect(await inspectPostgres(address)).toMatchObject({ version: known });
    expect(await migratePostgres(address, next)).toEqual({ from: known, to: known + 1 });
    expect((await faultOf(openPostgresStore(address))).message).toMatch(
      new RegExp(`has version ${known + 1}, but this Signalbox supports version ${known}`),
    );
  });

  test('a pooler that gives each transaction another session is refused [DS-POSTGRES-09]', async () => {
    const pooler = await startProxy(server.port, { poolsTransactions: true });
    const url = (await server.newUrl('tcp')).replace(`:${server.port}/`, `:${pooler.port}/`);
    const { code, message } = await faultOf(openPostgresStore(addressOf(url)));
    expect([code, message]).toEqual([
      'STORE_FAILED',
      expect.stringContaining('uses a pooler in transaction or statement mode'),
    ]);
  });
});
