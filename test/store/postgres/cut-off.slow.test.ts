import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { newRun } from '../examples.ts';
import { start } from '../processes.ts';
import { mayCut, openNetwork } from './network.ts';
import { addressOf, type TestServer } from './server.ts';

describe.runIf(mayCut)('a machine whose network is gone (needs root, iproute2 and Postgres)', () => {
  const network = openNetwork();
  let server: TestServer;
  beforeAll(async () => {
    server = await network.startServer();
  });
  afterAll(async () => {
    await server?.remove();
    await network.remove();
  });

  test('another machine claims its run within seconds, without a manual end of its session', async () => {
    const tcp = await server.newUrl('tcp');
    const [database = ''] = new URL(tcp).pathname.split('/').slice(1);
    const store = await openPostgresStore(addressOf(server.socketUrl(database)), { hungMs: 600_000 });
    onTestFinished(() => store.close());
    await store.createRun(newRun('r1'));
    const holder = start(['claim', tcp, 'r1'], network.inside);
    const { claimed, sleeper } = JSON.parse((await holder.next()) ?? '');
    onTestFinished(() => void process.kill(sleeper, 'SIGKILL'));
    expect([claimed, await store.claimRun('r1')]).toEqual([true, undefined]);
    network.cut();
    const cutAt = performance.now();
    await expect
      .poll(async () => (await store.claimRun('r1')) !== undefined, { timeout: 60_000, interval: 200 })
      .toBe(true);
    expect(performance.now() - cutAt).toBeLessThan(30_000);
  });
});
