import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  freePort,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { hasRestate, type RestateServer, startRestate, unlessRestate } from './restate.ts';
import { storm } from './storm.ts';

const KILLS = Number(process.env['RESTATE_KILLS'] ?? 3);
const RUNS = Number(process.env['RESTATE_RUNS'] ?? 20);

describe.runIf(hasPostgres && hasRestate)(
  `a Restate server that calls workers${unlessMissing}${unlessRestate}`,
  () => {
    let [server, restate]: [TestServer?, RestateServer?] = [];
    beforeAll(async () => {
      [server, restate] = await Promise.all([
        startServer({ settings: { max_connections: 200 } }),
        startRestate(),
      ]);
    });
    afterAll(async () => {
      await Promise.all([server?.remove(), restate?.stop()]);
    });

    test(`${RUNS} runs of 20 steps, and ${KILLS} times SIGKILL of the worker: none is lost, no effect comes twice [DS-WORKERS-10]`, {
      timeout: 1_800_000,
    }, async () => {
      const addresses = `url: "${restate?.url}", admin_url: "${restate?.adminUrl}"`;
      const listen = `listen: "127.0.0.1:${await freePort()}"`;
      const result = await storm({
        url: (await server?.newUrl()) ?? '',
        store: `{type: postgres, url_env: DATABASE_URL, dispatcher: {type: restate, ${addresses}, ${listen}}}`,
        ...{ runs: RUNS, workers: 1, kills: KILLS, killEveryMs: 2_000 },
      });
      process.stdout.write(`${JSON.stringify(result)}\n`);
      expect(result).toMatchObject({
        byStatus: { completed: result.runs },
        ...{ lost: [], twice: [], contested: [], won: result.pendings, conflicts: result.pendings },
      });
    });
  },
);
