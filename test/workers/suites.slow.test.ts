import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { comparable, openSuite } from './suite-project.ts';
import { runProgram, startWorker, type WorkerProcess } from './worker-process.ts';

/** 1,000,000 cases and 40 kills take about ten minutes. */
const cases = Number(process.env['SUITE_CASES'] ?? 100_000);
const kills = Number(process.env['SUITE_KILLS'] ?? 10);

describe.runIf(hasPostgres)(`large suites that workers share${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ settings: { shared_buffers: '128MB' } });
  });
  afterAll(() => server?.remove());

  test(`${cases} cases over three workers, of which ${kills} are killed, come to the report of one process, every row once [DS-SUITES-01]`, async () => {
    const url = await server.newUrl('tcp');
    const project = openSuite({ cases });
    const start = () => startWorker(project.config, { url, args: ['--concurrency', '1'] });
    const workers: WorkerProcess[] = await Promise.all([start(), start(), start()]);
    const args = ['eval', 'run', project.suite, '--config', project.config, '--json'];
    let isOver = false;
    const running = runProgram([...args, '--workers'], { url }).finally(() => {
      isOver = true;
    });
    const database = new URL(url).pathname.slice(1);
    const done = async () => {
      const [row] = await server.ask('SELECT count(*)::int AS n FROM signalbox.results', database);
      return Number(row?.['n']);
    };
    let killed = 0;
    // Spreads the kills over the run by progress.
    while (!isOver && killed < kills) {
      if ((await done()) < (cases * killed) / (kills + 1)) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      const index = killed % workers.length;
      workers[index]?.child.kill('SIGKILL');
      killed += 1;
      workers[index] = await start();
    }
    const shared = await running;
    expect(shared.stderr).toBe('');
    expect([shared.code, killed]).toEqual([0, kills]);
    const [rows] = await server.ask(
      'SELECT count(*)::int AS n, count(DISTINCT number)::int AS d, max(number)::int AS m FROM signalbox.results',
      database,
    );
    expect(rows).toEqual({ n: cases, d: cases, m: cases });
    const alone = await runProgram([...args, '--no-store'], { url });
    expect(comparable(shared.stdout)).toEqual(comparable(alone.stdout));
  }, 1_800_000);
});
