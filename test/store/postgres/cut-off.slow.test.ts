import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { newRun } from '../examples.ts';
import { start } from '../processes.ts';
import { addressOf, hasPostgres, startServer, type TestServer } from './server.ts';

const mayCut =
  hasPostgres &&
  process.platform === 'linux' &&
  spawnSync('unshare', ['--net', 'sh', '-c', 'ip link set lo up && nsenter --version && setpriv --version'])
    .status === 0;

describe.runIf(mayCut)('a machine whose network is gone (needs root, iproute2 and Postgres)', () => {
  /** A network of its own, as long as this process lives. */
  const network = spawn('unshare', ['--net', 'sleep', '120'], { stdio: 'ignore' });
  const inside = ['nsenter', '-t', `${network.pid}`, '-n'];
  const setNetwork = (state: 'up' | 'down') =>
    spawnSync(inside[0] ?? '', [...inside.slice(1), 'ip', 'link', 'set', 'lo', state]);
  let server: TestServer;
  beforeAll(async () => {
    setNetwork('up');
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    server = await startServer({ prefix: [...inside, ...nobody] });
  });
  afterAll(async () => {
    await server?.remove();
    network.kill('SIGKILL');
    await once(network, 'exit');
  });

  test('its run is claimed by another in seconds, without anybody having to end its session', async () => {
    const tcp = await server.newUrl('tcp');
    const [database = ''] = new URL(tcp).pathname.split('/').slice(1);
    const store = await openPostgresStore(addressOf(server.socketUrl(database)), { hungMs: 600_000 });
    onTestFinished(() => store.close());
    await store.createRun(newRun('r1'));
    const holder = start(['claim', tcp, 'r1'], inside);
    const { claimed, sleeper } = JSON.parse((await holder.next()) ?? '');
    onTestFinished(() => void process.kill(sleeper, 'SIGKILL'));
    expect([claimed, await store.claimRun('r1')]).toEqual([true, undefined]);
    // Nothing is said to anybody: no FIN, no RST.
    setNetwork('down');
    const cutAt = performance.now();
    await expect
      .poll(async () => (await store.claimRun('r1')) !== undefined, { timeout: 60_000, interval: 200 })
      .toBe(true);
    expect(performance.now() - cutAt).toBeLessThan(30_000);
  });
});
