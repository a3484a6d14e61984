import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { openDesk, until } from './holding.ts';
import { openProject } from './project.ts';
import { runProgram, startWorker } from './worker-process.ts';

const refund = `  input: {type: object, properties: {order: {type: string}}}
  steps:
    - {id: first, tool: note, args: {key: first}}
    - {id: ask, tool: note_with_consent, args: {key: ask}}
    - {id: last, tool: note, args: {key: last}}
`;

const slow = `  steps:
    - {id: first, tool: note, args: {key: first}}
    - {id: wait, tool: wait, args: {}}
`;

describe.runIf(hasPostgres)(`workers that start and stop${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('another worker continues a killed worker’s run elsewhere [DS-WORKERS-03]', async () => {
    const url = await server.newUrl();
    const project = openProject();
    const file = project.pipeline('slow', slow);
    const desk = await openDesk(project.config, url);
    const worker = await startWorker(project.config, { url });
    const { run_id } = await desk.runs.queue(file);
    await until(async () => project.effects().length === 1);
    const other = await startWorker(project.copy().config, { url, args: ['--drain', '200ms'] });
    worker.child.kill('SIGKILL');
    await until(async () => other.log().includes('resumed') || (await isHeldBy(other.document.id)));
    expect(project.effects()).toEqual(['first']);
    await desk.runs.cancel(run_id, { by: 'ada' });
    other.child.kill('SIGTERM');
    expect(await other.ended).toBe(0);

    async function isHeldBy(id: string): Promise<boolean> {
      return (await desk.workers.list()).some((each) => each.id === id && each.busy === 1);
    }
  });

  test('a worker with other files leaves a run alone, and it is listed as one that no worker takes [DS-WORKERS-04]', async () => {
    const url = await server.newUrl();
    const project = openProject();
    const file = project.pipeline('refund', refund);
    const other = project.copy();
    other.pipeline('refund', `${refund}    - {id: more, tool: note, args: {key: more}}\n`);
    const desk = await openDesk(project.config, url);
    const worker = await startWorker(other.config, { url });
    const { run_id } = await desk.runs.queue(file);
    await sleep(2_500);
    expect(await desk.runs.list()).toMatchObject([{ run_id, status: 'queued', lacks_worker: true }]);
    const listed = await runProgram(['runs', 'list', '--config', project.config], { url });
    expect(listed.stdout).toContain('queued (no worker has its files)');
    await startWorker(project.copy().config, { url });
    await until(async () => (await desk.runs.show(run_id)).status === 'pending');
    expect(worker.log()).not.toContain(run_id);
  });

  test('a terminated worker lets runs continue for a while, and leaves the rest to others [DS-WORKERS-05]', async () => {
    const url = await server.newUrl();
    const project = openProject();
    const file = project.pipeline('slow', slow);
    const desk = await openDesk(project.config, url);
    const worker = await startWorker(project.config, { url, args: ['--drain', '300ms'] });
    const { run_id } = await desk.runs.queue(file);
    await until(async () => project.effects().length === 1);
    const other = await startWorker(project.config, { url });
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    expect(worker.log()).toContain(`run ${run_id} was given back`);
    await until(async () =>
      (await desk.workers.list()).some(({ id, busy }) => id === other.document.id && busy === 1),
    );
    expect(await desk.workers.list()).toHaveLength(1);
    expect(project.effects()).toEqual(['first']);
  });

  test('workers that start at once on a new database all become ready', async () => {
    const project = openProject();
    for (let round = 0; round < 3; round += 1) {
      const url = await server.newUrl();
      const workers = await Promise.all([1, 2, 3, 4].map(() => startWorker(project.config, { url })));
      for (const { child } of workers) child.kill('SIGTERM');
      expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    }
  });

  test('health reports whether jobs are taken, and whether the database is reachable [DS-WORKERS-07]', async () => {
    const own = await startServer();
    onTestFinished(() => own.remove());
    const url = await own.newUrl();
    const project = openProject();
    const worker = await startWorker(project.config, { url, args: ['--health', '127.0.0.1:0'] });
    const look = async (path: string) => (await fetch(`${worker.document.health}${path}`)).status;
    expect([await look('/healthz'), await look('/readyz'), await look('/')]).toEqual([200, 200, 404]);
    await own.stop();
    await until(async () => (await look('/healthz')) === 503);
    await own.start();
    await until(async () => (await look('/readyz')) === 200);
  });
});
