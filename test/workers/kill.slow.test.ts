import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { type Storm, storm } from './storm.ts';

const KILLS = Number(process.env['WORKER_KILLS'] ?? 60);
const RUNS = Number(process.env['WORKER_RUNS'] ?? 40);

describe.runIf(hasPostgres)(`killed workers${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ settings: { max_connections: 200 } });
  });
  afterAll(() => server?.remove());

  test(`${KILLS} times SIGKILL of one of four workers over ${RUNS} runs of 20 steps: none is lost, no effect is repeated, each decision has one winner [DS-WORKERS-03]`, {
    timeout: 1_800_000,
  }, async () => {
    const result = await storm({
      url: await server.newUrl(),
      ...{ runs: RUNS, workers: 4, kills: KILLS, killEveryMs: 200 },
    });
    process.stdout.write(`${JSON.stringify(result)}\n`);
    expectSound(result);
  });
});

function expectSound(result: Storm): void {
  expect(result).toMatchObject({
    byStatus: { completed: result.runs },
    ...{ lost: [], twice: [], contested: [] },
    won: result.pendings,
    conflicts: result.pendings,
  });
}
