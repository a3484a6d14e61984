import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { openDesk, until } from './holding.ts';
import { openProject } from './project.ts';
import { startWorker } from './worker-process.ts';

const RUNS = Number(process.env['WAITING_RUNS'] ?? 500);
const DECISIONS = Number(process.env['WAITING_DECISIONS'] ?? 100);

describe.runIf(hasPostgres)(`runs that wait for people${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ settings: { autovacuum: 'on', shared_buffers: '128MB' } });
  });
  afterAll(() => server?.remove());

  test(`${RUNS} of them cost a worker neither memory nor a slot, and continue when they are decided [DS-WORKERS-02]`, {
    timeout: 3_600_000,
  }, async () => {
    const url = await server.newUrl();
    const database = new URL(url).pathname.slice(1);
    const project = openProject();
    const file = project.pipeline(
      'asking',
      `  steps:
    - {id: ask, tool: note_with_consent, args: {key: asked}}
    - {id: last, tool: note, args: {key: last}}
`,
    );
    const desk = await openDesk(project.config, url);
    const worker = await startWorker(project.config, { url, args: ['--concurrency', '8'] });
    const countOf = async (status: string) =>
      Number(
        (
          await server.ask(`SELECT count(*) AS n FROM signalbox.runs WHERE status = '${status}'`, database)
        )[0]?.['n'],
      );
    const queueUntil = async (count: number) => {
      for (let waiting = await countOf('pending'); waiting < count; waiting = await countOf('pending')) {
        const missing = count - waiting - (await countOf('queued')) - (await countOf('running'));
        await Promise.all(Array.from({ length: Math.min(100, missing) }, () => desk.runs.queue(file)));
        await sleep(50);
      }
    };
    const tenth = Math.ceil(RUNS / 10);
    await queueUntil(tenth);
    await sleep(2_000);
    const atTenth = residentMb(worker.child.pid);
    await queueUntil(RUNS);
    await sleep(2_000);
    const atAll = residentMb(worker.child.pid);
    // It reports this every five seconds.
    await until(async () => (await desk.workers.list())[0]?.busy === 0);
    const waits = await server.ask(
      `SELECT id, run_id FROM signalbox.pendings WHERE ruling IS NULL ORDER BY random() LIMIT ${DECISIONS}`,
      database,
    );
    const took: number[] = [];
    for (const { id, run_id } of waits) {
      const decidedAt = performance.now();
      await desk.pending.approve(String(id), { by: 'ada' });
      const began = `SELECT 1 FROM signalbox.steps WHERE run_id = '${String(run_id)}' AND step = 'last/call'`;
      while ((await server.ask(began, database)).length === 0) await sleep(2);
      took.push(performance.now() - decidedAt);
    }
    took.sort((one, other) => one - other);
    const at = (share: number) =>
      Math.round(took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0);
    process.stdout.write(
      `${RUNS} runs wait: the worker has ${atTenth} MB with a tenth of them, ${atAll} MB with all; from a decision to the next step p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms (${took.length})\n`,
    );
    await until(async () => (await countOf('completed')) === took.length);
    // Detects a leak for each run; it does not measure the cost of one run.
    expect(atAll - atTenth).toBeLessThan(100);
  });
});

function residentMb(pid: number | undefined): number {
  const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return Math.round((Number(pages) * 4096) / 2 ** 20);
}
