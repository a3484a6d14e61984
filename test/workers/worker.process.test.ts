import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

describe.runIf(hasPostgres)(`workers${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('a run that was left to a worker waits for a person, and continues when it is decided [DS-WORKERS-01] [DS-WORKERS-02]', async () => {
    const url = await server.newUrl();
    const project = openProject();
    const file = project.pipeline('refund', refund);
    const detach = ['run', file, '--config', project.config, '--detach', '--json'];
    const refused = await runProgram([...detach, '--input', '{"order": 1}'], { url });
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([2, 'INPUT_INVALID']);
    const queued = await runProgram(detach, { url });
    expect([queued.code, queued.stderr]).toEqual([0, '']);
    const { run_id, status } = JSON.parse(queued.stdout);
    expect(status).toBe('queued');
    const desk = await openDesk(project.config, url);
    expect(await desk.runs.list()).toMatchObject([{ run_id, status: 'queued', lacks_worker: true }]);
    const worker = await startWorker(project.config, { url });
    await until(async () => (await desk.runs.show(run_id)).status === 'pending');
    const [waiting] = await desk.pending.list();
    await desk.pending.approve(waiting?.id ?? '', { by: 'ada' });
    await until(async () => (await desk.runs.show(run_id)).status === 'completed');
    expect(project.effects()).toEqual(['first', 'ask', 'last']);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    expect(worker.log()).toContain(`run ${run_id} completed`);
    expect(await desk.workers.list()).toEqual([]);
  });

  test('a run that a fault suspended, or that waits, goes to a worker when it is due, and takes no slot until then [DS-WORK-01] [DS-WORK-02]', async () => {
    const url = await server.newUrl();
    const project = openProject({
      spec: '  providers: [{id: main, type: mock, model: m, additional_config: {max_retries: 0, responses: [{error: {status: 503, message: away}}]}}]\n',
    });
    const waits = project.pipeline(
      'waits',
      '  steps: [{id: w, wait: 3s}, {id: a, tool: note, args: {key: waited}}]\n',
    );
    const away = project.pipeline('away', '  steps: [{id: c, chat: {provider: main, messages: Hi.}}]\n');
    const desk = await openDesk(project.config, url);
    await startWorker(project.config, { url, args: ['--concurrency', '1'] });
    const [waiting, suspended] = [await desk.runs.queue(waits, {}), await desk.runs.queue(away, {})];
    const statusOf = async ({ run_id }: { readonly run_id: string }) => (await desk.runs.show(run_id)).status;
    await until(async () => (await statusOf(suspended)) === 'suspended');
    await until(async () => (await statusOf(waiting)) === 'completed');
    expect(project.effects()).toEqual(['waited']);
    expect((await desk.runs.show(suspended.run_id)).suspended?.tries).toBe(1);
    const name = new URL(url).pathname.slice(1);
    await server.ask('UPDATE signalbox.suspensions SET due_at = 1', name);
    await until(async () => (await desk.runs.show(suspended.run_id)).suspended?.tries === 2);
  });

  test('a store of one machine is refused with the next step [DS-WORKERS-06]', async () => {
    const project = openProject();
    const file = project.pipeline('refund', refund);
    const config = project.withStore('{type: sqlite}');
    for (const args of [['worker'], ['workers', 'list'], ['run', file, '--detach']]) {
      const ended = await runProgram([...args, '--config', config, '--json'], { url: '' });
      expect([ended.code, JSON.parse(ended.stdout).error]).toMatchObject([
        2,
        { code: 'USAGE', hint: expect.stringContaining('type: postgres') },
      ]);
    }
  });

  test('a run that was begun by hand is a worker’s when it has waited and was decided, and not when it was cut off [DS-WORKERS-08]', async () => {
    const url = await server.newUrl();
    const project = openProject();
    const [asking, lasting] = [project.pipeline('refund', refund), project.pipeline('slow', slow)];
    const desk = await openDesk(project.config, url);
    const stop = new AbortController();
    const cut = desk.run(lasting, {}, { signal: stop.signal }).catch(({ details }) => details.run_id);
    await until(async () => project.effects().length === 1);
    stop.abort();
    const cutId = await cut;
    const waiting = await desk.run(asking);
    await startWorker(project.config, { url });
    await desk.pending.approve(waiting.pending[0]?.id ?? '', { by: 'ada' });
    await until(async () => (await desk.runs.show(waiting.run_id)).status === 'completed');
    expect(project.effects()).toEqual(['first', 'first', 'ask', 'last']);
    expect((await desk.runs.show(cutId)).status).toBe('cut_off');
    expect(await desk.workers.list()).toMatchObject([{ busy: 0 }]);
  });
});
