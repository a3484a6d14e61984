import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import { startProxy } from '../../store/postgres/proxy.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';
import { type Actor, start as startActor } from '../../store/processes.ts';
import { admit, cents, enter, manage, refusalOf, testEnv } from './open.ts';

const actorFile = new URL('actor.ts', import.meta.url).pathname;
const start = (...args: readonly string[]): Actor => startActor(args, undefined, actorFile);

interface Said {
  readonly began?: number;
  readonly ended?: number;
  readonly refused?: string;
}

async function restOf(actor: Actor): Promise<Said[]> {
  return (await actor.rest()).map((line) => JSON.parse(line));
}

describe.runIf(hasPostgres)(`replicas that share keys in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  let count = 0;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  /** A store without keys. Each replica may use another address. */
  const newStore = async (url = server.newUrl()) => {
    count += 1;
    const variable = `SHARED_${count}`;
    testEnv[variable] = await url;
    const store: StateStoreConfig = { type: 'postgres', urlEnv: variable, folder: '/nowhere' };
    return { store, url: testEnv[variable] };
  };
  const throughProxy = async () => {
    const proxy = await startProxy(server.port);
    const url = await server.newUrl('tcp');
    const { store } = await newStore(Promise.resolve(url));
    const { store: proxied } = await newStore(
      Promise.resolve(url.replace(`:${server.port}/`, `:${proxy.port}/`)),
    );
    return { proxy, store, proxied };
  };

  test('three concurrent processes share the places and the budget of one key, to the cent [DS-REPLICAS-01]', async () => {
    const { store, url } = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', concurrent: 5, budget: { total: 1 } });
    const actors = [0, 1, 2].map(() => start('spend', url, key, '8'));
    for (const actor of actors) await actor.next();
    for (const actor of actors) actor.go();
    const said = (await Promise.all(actors.map(restOf))).flat();
    const { usage, under_way } = await keys.show('team');
    expect(usage[2]).toMatchObject({ calls: 199, estimated: 0 });
    expect(usage[2]?.cost).toBeCloseTo(0.995, 6);
    expect(under_way).toBe(0);
    expect(said.filter(({ ended }) => ended !== undefined)).toHaveLength(199);
    expect(new Set(said.flatMap(({ refused }) => refused ?? []))).toEqual(
      new Set(['429 insufficient_quota', '429 concurrency_limit_exceeded']),
    );
  });

  test('other replicas end the calls of killed replicas and count the reserved amounts [DS-REPLICAS-02]', async () => {
    const { store, url } = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', concurrent: 16, budget: { total: 1000 } });
    const quick = { beatMs: 100, hungMs: 2_000 };
    let [began, ended] = [0, 0];
    for (let round = 0; round < 5; round += 1) {
      const actors = [0, 1].map(() => start('spend', url, key, '4'));
      for (const actor of actors) await actor.next();
      for (const actor of actors) actor.go();
      setTimeout(() => actors[0]?.child.kill('SIGKILL'), 60 + 40 * round);
      setTimeout(() => actors[1]?.child.kill('SIGKILL'), 200 + 40 * round);
      const said = (await Promise.all(actors.map(restOf))).flat();
      began += said.filter((word) => word.began !== undefined).length;
      ended += said.filter((word) => word.ended !== undefined).length;
    }
    await admit(store, { replica: quick });
    await vi.waitFor(async () => expect((await keys.show('team')).under_way).toBe(0), {
      ...{ timeout: 60_000, interval: 100 },
    });
    const total = (await keys.show('team')).usage[2];
    expect(began).toBeGreaterThan(0);
    expect(total?.calls).toBeGreaterThanOrEqual(began);
    expect(total?.calls).toBeLessThanOrEqual(began + 10 * 4);
    expect(total?.estimated).toBeLessThanOrEqual(10 * 4);
    expect(total?.cost).toBeGreaterThanOrEqual(ended * 0.005 - 1e-9);
    expect(total?.cost).toBeCloseTo(0.005 * ((total?.calls ?? 0) + (total?.estimated ?? 0)), 6);
    const left = await server.ask(
      'SELECT (SELECT count(*) FROM signalbox.gateway_leases) AS leases, (SELECT sum(cost) FROM signalbox.gateway_held) AS held',
      new URL(url).pathname.slice(1),
    );
    expect(left).toEqual([{ leases: '0', held: '0' }]);
  });

  test('a slow replica keeps its places; one that was presumed dead takes new ones', async () => {
    const { store } = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', concurrent: 1, budget: { total: 1 } });
    const still = await admit(store, { replica: { beatMs: 600_000, hungMs: 600_000 } });
    const held = await enter(still, key, { estimate: cents(3) });
    const patient = await admit(store, { replica: { beatMs: 50, hungMs: 600_000 } });
    await sleep(400);
    expect((await refusalOf(enter(patient, key))).code).toBe('concurrency_limit_exceeded');
    const hasty = await admit(store, { replica: { beatMs: 50, hungMs: 300 } });
    await vi.waitFor(() => enter(hasty, key), { timeout: 30_000, interval: 50 });
    // The reservation was charged, once.
    await held.end({ usage: { input: 1, output: 1 }, cost: 0.5 });
    expect((await keys.show('team')).usage[2]).toMatchObject({ calls: 1, estimated: 1, cost: 0.03 });
  });

  test('a call whose replies are lost with the connection is admitted once and counted once [DS-REPLICAS-03]', async () => {
    const { proxy, store, proxied } = await throughProxy();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', requestsPerMinute: 2, budget: { total: 1 } });
    const admission = await admit(proxied);
    const caller = await admission.authenticate(key);
    const lose = async <Result>(work: Promise<Result>): Promise<Result> => {
      const before = proxy.lost();
      await expect.poll(() => proxy.lost()).toBeGreaterThan(before);
      proxy.cut();
      return await work;
    };
    proxy.loseAnswers();
    const lease = await lose(admission.enter(caller, 'small', () => cents(2)));
    expect((await keys.show('team')).under_way).toBe(1);
    proxy.loseAnswers();
    await lose(lease.end({ usage: { input: 3, output: 4 }, cost: 0.01 }));
    const counted = { calls: 1, input_tokens: 3, output_tokens: 4, cost: 0.01, estimated: 0 };
    await vi.waitFor(async () =>
      expect(await keys.show('team')).toMatchObject({ under_way: 0, usage: [counted, counted, counted] }),
    );
    await enter(admission, key);
    expect((await refusalOf(enter(admission, key))).code).toBe('rate_limit_exceeded');
  });

  test('calls are refused in time while the server is down; afterwards ended calls are counted and new ones accepted [DS-REPLICAS-04]', async () => {
    const { store } = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', budget: { total: 1 } });
    const admission = await admit(store, { replica: { beatMs: 100, hungMs: 60_000, retryMs: 300 } });
    const lease = await enter(admission, key, { estimate: cents(5) });
    await server.stop('immediate');
    const refused = { status: 503, code: 'store_failed', isRetryable: true };
    const all = await Promise.all([1, 2, 3].map(() => refusalOf(enter(admission, key))));
    for (const each of all) expect(each).toMatchObject(refused);
    await lease.end({ usage: { input: 1, output: 1 }, cost: 0.02 });
    expect(await refusalOf(enter(admission, key))).toMatchObject(refused);
    await server.start();
    const next = await vi.waitFor(() => enter(admission, key), { timeout: 30_000, interval: 100 });
    expect(await keys.show('team')).toMatchObject({
      ...{ under_way: 1, usage: [{}, {}, { calls: 1, cost: 0.02, estimated: 0 }] },
    });
    await next.end(undefined);
  });

  test('an admission whose reply was lost keeps no place [DS-REPLICAS-05]', async () => {
    const { proxy, store, proxied } = await throughProxy();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', concurrent: 1 });
    const admission = await admit(proxied, { replica: { beatMs: 100, hungMs: 60_000, retryMs: 200 } });
    const caller = await admission.authenticate(key);
    proxy.loseAnswers();
    const entering = refusalOf(admission.enter(caller, 'small', () => cents(1)));
    await expect.poll(() => proxy.lost()).toBeGreaterThan(0);
    await server.stop('fast');
    proxy.cut();
    expect((await entering).code).toBe('store_failed');
    await server.start();
    await vi.waitFor(() => enter(admission, key), { timeout: 30_000, interval: 100 });
    expect((await keys.show('team')).under_way).toBe(1);
  });

  test('a replica that closes counts all ended calls, however many', async () => {
    const { store } = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', budget: { total: 1000 } });
    const admission = await admit(store);
    const caller = await admission.authenticate(key);
    const entering = Array.from({ length: 1_000 }, () => admission.enter(caller, 'small', () => cents(1)));
    for (const lease of await Promise.all(entering))
      void lease.end({ usage: { input: 1, output: 1 }, cost: 0.001 });
    await admission.close();
    const shown = await keys.show('team');
    expect(shown.usage[2]).toMatchObject({ calls: 1_000, estimated: 0 });
    expect([shown.under_way, shown.usage[2]?.cost.toFixed(6)]).toEqual([0, '1.000000']);
  });

  test('a key that one replica revokes is refused by all others at once, even if they have cached it [DS-REPLICAS-06]', async () => {
    const { store } = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team' });
    const all = await Promise.all([admit(store), admit(store), admit(store)]);
    const callers = await Promise.all(all.map((each) => each.authenticate(key)));
    await keys.revoke('team');
    for (const [index, each] of all.entries()) {
      const [caller] = callers.slice(index);
      if (caller === undefined) throw new Error('there is no caller');
      expect((await refusalOf(each.enter(caller, 'small', () => cents(0)))).status).toBe(401);
      expect((await refusalOf(each.authenticate(key))).status).toBe(401);
    }
  });
});
