import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { openFileServer } from '../suites/dataset/remote/file-server.ts';
import { comparable, openSuite, reportOf } from './suite-project.ts';
import { runProgram, startWorker } from './worker-process.ts';

describe.runIf(hasPostgres)(`suites that workers share${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('workers in folders of their own, of which one is killed, judge each case once, and the report is that of one process [DS-SUITES-01]', async () => {
    const url = await server.newUrl('tcp');
    const project = openSuite({ cases: 7_000 });
    const other = project.copy();
    const [one] = [await startWorker(project.config, { url }), await startWorker(other.config, { url })];
    const args = ['eval', 'run', project.suite, '--config', project.config];
    const running = runProgram([...args, '--workers', '--json'], { url });
    await expect.poll(() => one.log(), { timeout: 20_000 }).toContain('was judged');
    one.child.kill('SIGKILL');
    const shared = await running;
    expect([shared.code, shared.stderr.includes('rror')]).toEqual([0, false]);
    const alone = await runProgram([...args, '--no-store', '--json'], { url });
    expect(comparable(shared.stdout)).toEqual(comparable(alone.stdout));
    const database = new URL(url).pathname.slice(1);
    expect(
      await server.ask(
        'SELECT count(*)::int AS n, count(DISTINCT number)::int AS d FROM signalbox.results',
        database,
      ),
    ).toEqual([{ n: 7_000, d: 7_000 }]);
    expect(
      await server.ask(
        'SELECT count(*)::int AS open FROM signalbox.suite_chunks WHERE tally IS NULL',
        database,
      ),
    ).toEqual([{ open: 0 }]);
  });

  test('workers judge again the cases that did not pass, and add up the others as they are kept', async () => {
    const url = await server.newUrl('tcp');
    const project = openSuite({ cases: 5_000 });
    writeFileSync(project.suite, project.suiteText.replace('["7"]}, role: metric', '["7"]}'));
    const worker = await startWorker(project.config, { url });
    const config = ['--config', project.config, '--workers', '--json'];
    const first = await runProgram(['eval', 'run', project.suite, ...config], { url });
    const again = await runProgram(['eval', 'run', '--again', 'failed', 'last', ...config], { url });
    expect([first.code, again.code, again.stderr.includes('rror')]).toEqual([0, 0, false]);
    expect(comparable(again.stdout)).toEqual(comparable(first.stdout));
    const database = new URL(url).pathname.slice(1);
    const passed = Array.from({ length: 5_000 }, (_, index) => index + 1).filter((number) =>
      `${number % 97}`.includes('7'),
    );
    expect(
      await server.ask(
        `SELECT (SELECT count(*)::int FROM signalbox.results) AS kept,
          (SELECT count(*)::int FROM signalbox.replaced_results) AS replaced`,
        database,
      ),
    ).toEqual([{ kept: 5_000, replaced: 5_000 - passed.length }]);
    worker.child.kill('SIGKILL');
  });

  test('reports list cases in the order of the dataset, with invalid rows', async () => {
    const url = await server.newUrl('tcp');
    const project = openSuite({ cases: 30, badRows: [7, 21] });
    await startWorker(project.config, { url });
    const args = ['eval', 'run', project.suite, '--config', project.config, '--keep-going'];
    const read = async (...more: string[]) => {
      const file = join(project.folder, `report-${more.length}.csv`);
      await runProgram([...args, '--reporter', `csv=${file}`, '--quiet', ...more], { url });
      return reportOf(file);
    };
    expect(await read('--workers')).toEqual(await read());
  });

  test('workers read a dataset behind an address by the ranges of their parts, and nothing that is kept shows what is secret in it [DS-SUITES-04]', async () => {
    const url = await server.newUrl('tcp');
    const project = openSuite({ cases: 9_000 });
    const files = await openFileServer(readFileSync(join(project.folder, 'rows.jsonl')));
    const suiteText = project.suiteText.replace('rows.jsonl', `"${files.origin}/rows.jsonl?token=secret"`);
    writeFileSync(project.suite, suiteText);
    await startWorker(project.config, { url });
    await startWorker(project.copy().config, { url });
    const args = ['eval', 'run', project.suite, '--config', project.config];
    const shared = await runProgram([...args, '--workers', '--json'], { url });
    expect([shared.code, shared.stderr.includes('rror')]).toEqual([0, false]);
    const asked = new Set(files.requests.map(({ headers }) => headers.range));
    expect(asked).toEqual(new Set(['bytes=0-3', 'bytes=0-', ...asked]));
    expect(asked.size).toBe(2 + Math.ceil(9_000 / 2_000));
    const alone = await runProgram([...args, '--no-store', '--json'], { url });
    expect(comparable(shared.stdout)).toEqual(comparable(alone.stdout));
    expect(JSON.parse(alone.stdout)).toMatchObject({ cases: 9_000 });
    const database = new URL(url).pathname.slice(1);
    const places = await server.ask('SELECT place FROM signalbox.suite_chunks', database);
    expect(places).toHaveLength(5);
    expect(JSON.stringify(places)).not.toContain('secret');
  });

  test('a run whose coordinator is killed continues, and repeats nothing [DS-SUITES-02]', async () => {
    const url = await server.newUrl('tcp');
    const project = openSuite({ cases: 8_000 });
    const args = ['eval', 'run', project.suite, '--config', project.config, '--workers', '--json'];
    const worker = await startWorker(project.config, { url, args: ['--concurrency', '1'] });
    const database = new URL(url).pathname.slice(1);
    const isBegun = expect.poll(() => worker.log(), { timeout: 60_000 }).toContain('was judged');
    await runProgram(args, { url, killedAfter: isBegun });
    const done = await server.ask('SELECT number, xmin::text FROM signalbox.results ORDER BY 1', database);
    const resumed = await runProgram([...args, '--resume'], { url });
    expect(resumed.code).toBe(0);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ cases: 8_000, status: 'passed' });
    const now = await server.ask('SELECT number, xmin::text FROM signalbox.results ORDER BY 1', database);
    expect(now.length).toBe(8_000);
    const kept = new Map(now.map(({ number, xmin }) => [number, xmin]));
    expect(done.every(({ number, xmin }) => kept.get(number) === xmin)).toBe(true);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
  });

  test('a worker with another dataset judges nothing of it, and the run says why [DS-SUITES-03]', async () => {
    const url = await server.newUrl('tcp');
    const project = openSuite({ cases: 10 });
    const other = project.copy();
    writeFileSync(join(other.folder, 'rows.jsonl'), '{"id": "x", "n": 1}\n');
    await startWorker(other.config, { url });
    const ran = await runProgram(
      ['eval', 'run', project.suite, '--config', project.config, '--workers', '--json'],
      { url },
    );
    expect(ran.code).toBe(2);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      error: { code: 'WORKER_FAILED', message: expect.stringContaining('rows.jsonl') },
    });
  });

  test('workers with an old suite do not judge a changed one', async () => {
    const url = await server.newUrl('tcp');
    const project = openSuite({ cases: 10 });
    await startWorker(project.config, { url });
    cpSync(project.suite, `${project.suite}.old`);
    writeFileSync(project.suite, project.suiteText.replace('pass_rate', 'mean'));
    const args = ['eval', 'run', project.suite, '--config', project.config, '--workers', '--json'];
    const stuck = await runProgram(args, { url, prefix: ['timeout', '-s', 'INT', '4'] });
    expect(JSON.parse(stuck.stdout)).toMatchObject({ error: { code: 'ABORTED' } });
    await startWorker(project.config, { url });
    expect((await runProgram([...args, '--resume'], { url })).code).toBe(0);
  });

  test.each([
    [['--bail'], 'in no order'],
    [['--sample', '3'], 'judges every row'],
    [['--no-store'], 'stores the run'],
    [['--max-cost', '5'], 'max_cost: {case: …}'],
  ])('%s does not go with --workers', async (more, why) => {
    const project = openSuite({ cases: 1 });
    const args = ['eval', 'run', project.suite, '--config', project.config, '--workers', ...more];
    const { code, stderr } = await runProgram(args, { url: 'postgres://u@127.0.0.1:1/x' });
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  });

  test('--record does not go with --workers, and creates no file', async () => {
    const { suite, config } = openSuite({ cases: 1 });
    const record = join(dirname(suite), 'r.jsonl');
    const args = ['eval', 'run', suite, '--config', config, '--workers', '--record', record];
    const { code, stderr } = await runProgram(args, { url: 'postgres://u@127.0.0.1:1/x' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be combined with --record')]);
    expect(existsSync(record)).toBe(false);
  });

  test('a store of one machine has no workers', async () => {
    const project = openSuite({ cases: 1, store: '{type: sqlite}' });
    const args = ['eval', 'run', project.suite, '--config', project.config, '--workers'];
    const { code, stderr } = await runProgram(args, { url: '' });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('--workers needs a state store that workers share'),
    ]);
  });
});
