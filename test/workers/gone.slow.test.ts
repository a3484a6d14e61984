import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mayCut, openNetwork } from '../store/postgres/network.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { openDesk, openHolding, until } from './holding.ts';
import { storm } from './storm.ts';
import { startWorker } from './worker-process.ts';

const databaseOf = (url: string) => new URL(url).pathname.slice(1);

describe.runIf(hasPostgres)(`workers in trouble${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ settings: { max_connections: 200 } });
  });
  afterAll(() => server?.remove());

  test('a stopped worker loses its run, and writes nothing of it when it continues [DS-WORKERS-03]', async () => {
    const url = await server.newUrl();
    const { project, file, isHeld, goOn } = openHolding();
    const desk = await openDesk(project.config, url);
    const worker = await startWorker(project.config, { url });
    const { run_id } = await desk.runs.queue(file);
    await until(async () => isHeld());
    const other = await startWorker(project.config, { url });
    worker.child.kill('SIGSTOP');
    const isTaken = async () =>
      (await desk.workers.list()).some(({ id, busy }) => id === other.document.id && busy === 1);
    const tookMs = await until(isTaken, 900);
    process.stdout.write(`a worker under SIGSTOP: its run went on after ${tookMs} ms\n`);
    goOn();
    await until(async () => (await desk.runs.show(run_id)).status === 'completed');
    worker.child.kill('SIGCONT');
    await until(async () => worker.log().includes(`run ${run_id} was left`));
    expect(project.effects()).toEqual(['first', 'last']);
    expect((await desk.runs.show(run_id)).status).toBe('completed');
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
  });

  test('Postgres is stopped at once and restarted during runs: none is lost, no effect is repeated [DS-WORKERS-09]', {
    timeout: 600_000,
  }, async () => {
    const own = await startServer({ settings: { max_connections: 200 } });
    try {
      const result = await storm({
        url: await own.newUrl(),
        ...{ runs: Number(process.env['WORKER_RUNS'] ?? 30), workers: 2, kills: 0, killEveryMs: 100 },
        meanwhile: async () => {
          for (let times = 0; times < 3; times += 1) {
            await sleep(3_000);
            await own.stop('immediate');
            await sleep(1_500);
            await own.start();
          }
        },
      });
      process.stdout.write(`${JSON.stringify(result)}\n`);
      expect(result).toMatchObject({
        byStatus: { completed: result.runs },
        ...{ lost: [], twice: [], contested: [], won: result.pendings, conflicts: result.pendings },
      });
    } finally {
      await own.remove();
    }
  });

  test('a database outage longer than the wait ends no worker, and runs continue when it is back [DS-WORKERS-09]', async () => {
    const own = await startServer();
    try {
      const url = await own.newUrl();
      const { project, file, isHeld, goOn } = openHolding();
      const worker = await startWorker(project.config, { url });
      const first = await openDesk(project.config, url);
      const { run_id } = await first.runs.queue(file);
      await until(async () => isHeld());
      await own.stop('immediate');
      goOn();
      await sleep(40_000);
      expect(worker.child.exitCode).toBe(null);
      await own.start();
      const desk = await openDesk(project.config, url);
      await until(async () => (await desk.runs.show(run_id)).status === 'completed', 1_500);
      expect(project.effects()).toEqual(['first', 'last']);
      worker.child.kill('SIGTERM');
      expect(await worker.ended).toBe(0);
    } finally {
      await own.remove();
    }
  });
});

describe.runIf(mayCut)('a worker whose network is gone (needs root, iproute2 and Postgres)', () => {
  const network = openNetwork();
  let server: TestServer;
  beforeAll(async () => {
    server = await network.startServer();
  });
  afterAll(async () => {
    await server?.remove();
    await network.remove();
  });

  test('another worker continues its run within seconds, and it writes nothing more of it [DS-WORKERS-03]', async () => {
    const tcp = await server.newUrl('tcp');
    const url = server.socketUrl(databaseOf(tcp));
    const { project, file, isHeld, goOn } = openHolding();
    const desk = await openDesk(project.config, url);
    const worker = await startWorker(project.config, { url: tcp, prefix: network.inside });
    const { run_id } = await desk.runs.queue(file);
    await until(async () => isHeld());
    const other = await startWorker(project.config, { url });
    network.cut();
    const holder = `SELECT h.pid FROM signalbox.claims AS c JOIN signalbox.holders AS h ON h.id = c.holder`;
    const [before] = await server.ask(holder, databaseOf(tcp));
    const tookMs = await until(async () => {
      const [now] = await server.ask(holder, databaseOf(tcp));
      return now !== undefined && now['pid'] !== before?.['pid'];
    }, 600);
    process.stdout.write(`a worker without a network: its run was claimed again after ${tookMs} ms\n`);
    goOn();
    await until(async () => (await desk.runs.show(run_id)).status === 'completed');
    expect(project.effects()).toEqual(['first', 'last']);
    await until(async () => other.log().includes(`run ${run_id} completed`));
    worker.child.kill('SIGKILL');
  });
});
