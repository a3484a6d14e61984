import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixture, pipeline } from '../workspace.ts';
import { keysOf, serve } from './serving.ts';

const spec = `
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  refund: {approval: required, exec: {command: ${fixture('echo-args')}}}
  mended: {exec: {command: /bin/sh, args: [-c, 'cat > /dev/null; if test -e mended; then echo ''{"result": 1}''; else echo ''{"error": "no such order"}''; fi']}}
`;

const files = {
  'orders.yaml': pipeline(
    `
steps:
  - {id: items, for_each: [1, 2, 3], steps: [{id: note, tool: echo, args: {text: "\${input.text}"}}]}
  - {id: mend, tool: mended}
`,
    'orders',
  ),
  'refunds.yaml': pipeline('steps: [{id: pay, tool: refund, args: {order: 7}}]', 'refunds'),
};

async function open() {
  const served = await serve(spec, files);
  const { folder, runtime } = served;
  const run = async (name: string, labels = {}) =>
    await runtime.run(join(folder, `${name}.yaml`), { text: 'x'.repeat(3_000) }, { labels });
  const until = async (id: string, status: string) => {
    for await (const _ of runtime.watch(['runs']))
      if ((await runtime.runs.summary(id)).status === status) return;
  };
  return { ...served, run, until };
}

test('runs are listed by label, status and time, in pages', async () => {
  const { ask, run, runtime } = await open();
  const failed = await run('orders', { shop: 'a=b', kind: 'new' });
  const waiting = await run('refunds', { shop: 'berlin' });
  const idsOf = async (query: string) => {
    const { status, body } = await ask(`GET /runs${query}`);
    expect(status).toBe(200);
    return (body as { runs: { run_id: string }[] }).runs.map(({ run_id }) => run_id);
  };
  expect(await idsOf('')).toEqual([waiting.run_id, failed.run_id]);
  expect(await idsOf('?label=shop=a=b&label=kind=new')).toEqual([failed.run_id]);
  expect(await idsOf('?label=shop=berlin&label=kind=new')).toEqual([]);
  expect(await idsOf('?status=pending')).toEqual([waiting.run_id]);
  expect(await idsOf('?pipeline=orders')).toEqual([failed.run_id]);
  expect(await idsOf('?since=2100-01-01T00:00:00Z')).toEqual([]);
  expect(await idsOf('?until=2100-01-01T00:00:00Z')).toHaveLength(2);
  const first = await ask('GET /runs?limit=1');
  expect(first.body).toEqual(JSON.parse(JSON.stringify(await runtime.runs.page({ limit: 1 }))));
  expect(await idsOf(`?limit=1&after=${(first.body as { next: string }).next}`)).toEqual([failed.run_id]);
});

test('a run is shown shortened, with its steps in pages', async () => {
  const { ask, run, runtime } = await open();
  const { run_id: id } = await run('orders');
  const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  const short = { maxCharacters: 2_000 };
  expect((await ask(`GET /runs/${id}`)).body).toEqual(asJson(await runtime.runs.summary(id, short)));
  expect((await ask(`GET /runs/${id}?max_characters=9`)).text).not.toContain('x'.repeat(20));
  expect((await ask(`GET /runs/${id}/details`)).body).toEqual(asJson(await runtime.runs.show(id, short)));
  const first = await ask(`GET /runs/${id}/steps?limit=2`);
  expect(first.body).toEqual(asJson(await runtime.runs.pageSteps(id, { limit: 2, ...short })));
  const { next } = first.body as { next: string };
  const second = await ask(`GET /runs/${id}/steps?limit=2&after=${next}&max_characters=5000&step=items`);
  const wanted = { limit: 2, after: next, maxCharacters: 5_000, step: 'items' };
  expect(second.body).toEqual(asJson(await runtime.runs.pageSteps(id, wanted)));
});

test('a retry is accepted at once, goes on in the server, and cannot begin twice', async () => {
  const { ask, run, folder, until, runtime } = await open();
  const { run_id: id } = await run('orders');
  writeFileSync(join(folder, 'mended'), '');
  expect(await ask(`POST /runs/${id}/retry`, { body: {} })).toMatchObject({
    status: 202,
    body: { run_id: id },
  });
  await until(id, 'completed');
  for (const [what, code] of [
    ['retry', 'RUN_NOT_RETRYABLE'],
    ['resume', 'RUN_ENDED'],
    ['cancel', 'RUN_ENDED'],
  ])
    expect(await ask(`POST /runs/${id}/${what}`, { body: {} })).toMatchObject({
      status: 409,
      body: { error: { code } },
    });
  expect((await runtime.runs.summary(id)).status).toBe('completed');
});

test('a run continues after its decision, and is cancelled in the name of the caller', async () => {
  const { ask, run, runtime, until } = await open();
  const { run_id: id, pending } = await run('refunds');
  expect(await ask(`POST /runs/${id}/resume`, { body: {} })).toMatchObject({ status: 202 });
  await until(id, 'pending');
  await runtime.pending.approve(pending[0]?.id ?? '', { by: 'mara' });
  expect(await ask(`POST /runs/${id}/resume`, { body: {} })).toMatchObject({ status: 202 });
  await until(id, 'completed');
  const other = await run('refunds');
  const cancelled = await ask(`POST /runs/${other.run_id}/cancel`, { body: { reason: 'a mistake' } });
  expect(cancelled).toMatchObject({ status: 200, body: { run_id: other.run_id, status: 'cancelled' } });
  const { error } = await runtime.runs.summary(other.run_id);
  expect(error?.message).toBe(`run ${other.run_id} was cancelled by ada: a mistake`);
});

test('bad values are refused with their place, and unknown runs and callers without the scope too', async () => {
  const { ask, run, folder } = await open();
  const { run_id: id } = await run('orders');
  const refused: [string, unknown, number, string | undefined][] = [
    ['GET /runs?label=shop', undefined, 400, 'label[0]'],
    ['GET /runs?label=shop=a&label=shop=b', undefined, 400, 'label'],
    ['GET /runs?status=lost', undefined, 400, 'status'],
    [`GET /runs/${id}/steps?step=`, undefined, 400, 'step'],
    ['GET /runs?since=yesterday', undefined, 400, 'since'],
    ['GET /runs?limit=0', undefined, 400, 'limit'],
    ['GET /runs?after=x', undefined, 400, 'after'],
    [`GET /runs/${id}/steps?after=x`, undefined, 400, 'after'],
    [`GET /runs/${id}/steps?max_characters=no`, undefined, 400, 'max_characters'],
    [`POST /runs/${id}/cancel`, { reason: 7 }, 400, 'reason'],
    [`POST /runs/${id}/cancel`, { by: 'mara' }, 400, 'by'],
    [`POST /runs/${id}/retry`, { from: [] }, 400, 'from'],
    [`POST /runs/${id}/retry`, { from: 'nowhere' }, 400, undefined],
    ['GET /runs/run_0', undefined, 404, undefined],
    ['GET /runs/run_0/steps', undefined, 404, undefined],
    ['POST /runs/run_0/resume', {}, 404, undefined],
  ];
  for (const [route, body, status, path] of refused) {
    const reply = await ask(route, { body });
    expect([route, reply.status, (reply.body as { error: { path?: string } }).error.path]).toEqual([
      route,
      status,
      path,
    ]);
  }
  const keys = await keysOf(folder);
  const { key } = await keys.create({ name: 'vera', role: 'viewer' });
  expect((await ask(`GET /runs/${id}`, { key })).status).toBe(200);
  expect((await ask(`POST /runs/${id}/cancel`, { body: {}, key })).status).toBe(403);
  expect((await ask('GET /audit', { key: null })).status).toBe(401);
});
