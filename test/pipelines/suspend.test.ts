import { expect, test } from 'vitest';
import { outline, pendingOf } from './desk.ts';
import { openOutage } from './suspending.ts';

const chat = '{id: answer, chat: {provider: main, messages: Hello.}}';

test('a model fault suspends the run, which continues from that call and keeps everything before it [DS-SUSPEND-01]', async () => {
  const desk = await openOutage();
  desk.model.status = 503;
  const stopped = await desk.run(`
steps:
  - {id: first, tool: note, args: {who: first}}
  - ${chat}
  - {id: last, tool: note, args: {who: "\${steps.answer.text}"}}
finally: [{id: end, tool: note, args: {who: end}}]
`);
  expect(stopped).toMatchObject({
    status: 'suspended',
    output: null,
    error: { code: 'PROVIDER_FAILED' },
    suspended: { tries: 1, error: { code: 'PROVIDER_FAILED' } },
  });
  expect(desk.lines('notes')).toHaveLength(1);
  const [listed] = await desk.runtime.runs.list({ status: 'suspended' });
  expect(listed).toMatchObject({ run_id: stopped.run_id, suspended: stopped.suspended });
  expect(await desk.runtime.runs.list({ status: 'pending' })).toEqual([]);
  const again = await desk.runtime.runs.resume(stopped.run_id);
  expect(again).toMatchObject({
    status: 'suspended',
    suspended: { tries: 2, since: stopped.suspended?.since },
  });
  desk.model.status = 200;
  const done = await desk.runtime.runs.resume(stopped.run_id);
  expect(done).toMatchObject({ status: 'completed' });
  expect(done).not.toHaveProperty('suspended');
  expect(desk.lines('notes').map((line) => JSON.parse(line).args.who)).toEqual(['first', 'Hello.', 'end']);
  expect(desk.model.asked).toBe(3);
});

test('a server that died suspends the run, and its call is repeated with its key [DS-SUSPEND-02]', async () => {
  const desk = await openOutage();
  desk.down('"b"');
  const stopped = await desk.run(`
steps:
  - {id: all, for_each: [a, b, c], tool: pay, args: {who: "\${item}"}}
  - {id: last, tool: note, args: {who: last}}
`);
  expect(stopped).toMatchObject({ status: 'suspended', error: { code: 'SERVER_EXIT' } });
  desk.down();
  expect(await desk.runtime.runs.resume(stopped.run_id)).toMatchObject({ status: 'completed' });
  expect(desk.calls()).toEqual([
    'all[0]/call {"who":"a"}',
    'all[1]/call {"who":"b"}',
    'all[2]/call {"who":"c"}',
    'all[1]/call {"who":"b"}',
  ]);
});

test.each([
  ['retry', 'retry: {max: 1, backoff: 1ms}', 'suspended', 2],
  ['on_error: continue', 'on_error: continue', 'completed', 1],
  ['on_error: {steps}', 'on_error: {steps: [{id: fix, tool: note, args: {who: fix}}]}', 'failed', 1],
  [
    'on_error: {steps, then: continue}',
    'on_error: {steps: [{id: fix, tool: note, args: {who: fix}}], then: continue}',
    'completed',
    1,
  ],
])('%s of the step takes precedence [DS-SUSPEND-03]', async (_, more, status, asked) => {
  const desk = await openOutage();
  desk.model.status = 429;
  const came = await desk.run(`steps: [{${chat.slice(1, -1)}, ${more}}]\noutput: x\n`);
  expect(came.status).toBe(status);
  expect(desk.model.asked).toBe(asked);
});

test.each([
  ['on_fault: fail\n', { status: 500 }, 'failed'],
  ['on_fault: suspend\n', { status: 500 }, 'suspended'],
  ['', { status: 400 }, 'failed'],
  ['', { status: 401 }, 'failed'],
])('%s %o [DS-SUSPEND-03]', async (spec, { status }, end) => {
  const desk = await openOutage();
  desk.model.status = status;
  expect(await desk.run(`${spec}steps: [${chat}]\nfinally: [{id: end, tool: note}]\n`)).toMatchObject({
    status: end,
  });
  expect(desk.lines('notes')).toHaveLength(end === 'failed' ? 1 : 0);
});

test('a handler of an enclosing group takes precedence, and a fault beside another kind of failure fails the run [DS-SUSPEND-03]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const group = `steps: [{id: g, on_error: continue, steps: [${chat}]}]\noutput: x\n`;
  expect((await desk.run(group)).status).toBe('completed');
  const both = `steps: [{id: p, parallel: [${chat}, {id: bad, tool: note, args: "\${input.none}"}]}]\n`;
  expect((await desk.run(both)).status).toBe('failed');
});

test('parallel work finishes before the suspension, people included [DS-SUSPEND-04]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const asked = await desk.run(
    `steps: [{id: p, parallel: [${chat}, {id: yes, tool: ask, args: {who: yes}}, {id: n, tool: note}]}]\n`,
  );
  expect(asked.status).toBe('pending');
  expect(desk.lines('notes')).toHaveLength(1);
  await desk.runtime.pending.approve(pendingOf(asked), { by: 'ada' });
  expect((await desk.runtime.runs.resume(asked.run_id)).status).toBe('suspended');
  desk.model.status = 200;
  const done = await desk.runtime.runs.resume(asked.run_id);
  expect(outline(done).at(-1)).toBe('p parallel ok');
  expect(desk.calls()).toHaveLength(1);
  expect(desk.lines('notes')).toHaveLength(1);
});

test('a tool that is idempotent: false and may have acted waits for a person [DS-SUSPEND-05]', async () => {
  const desk = await openOutage();
  desk.down('"x"');
  const stopped = await desk.run('steps: [{id: one, tool: once, args: {who: x}}]\n');
  expect(stopped).toMatchObject({ status: 'suspended', error: { code: 'SERVER_EXIT' } });
  desk.down();
  const asked = await desk.runtime.runs.resume(stopped.run_id);
  expect(asked.status).toBe('pending');
  expect(desk.calls()).toHaveLength(1);
  expect(await desk.runtime.pending.show(pendingOf(asked))).toMatchObject({ origin: 'interrupted' });
  await desk.runtime.pending.approve(pendingOf(asked), { by: 'ada' });
  expect((await desk.runtime.runs.resume(stopped.run_id)).status).toBe('completed');
  expect(desk.calls()).toHaveLength(2);
});

test('a fault in finally suspends a successful run, and repeats no step of it [DS-SUSPEND-01]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const stopped = await desk.run(
    `steps: [{id: a, tool: note}]\nfinally: [{id: b, tool: note}, ${chat}, {id: c, tool: note}]\noutput: x\n`,
  );
  expect(stopped.status).toBe('suspended');
  expect(desk.lines('notes')).toHaveLength(3);
  desk.model.status = 200;
  expect(await desk.runtime.runs.resume(stopped.run_id)).toMatchObject({ status: 'completed', output: 'x' });
  expect(desk.lines('notes')).toHaveLength(3);
});

test('with fail_fast a fault ends the others, which restart with the run [DS-SUSPEND-04]', async () => {
  const desk = await openOutage();
  desk.down('"b"');
  const stopped = await desk.run(
    'steps: [{id: all, for_each: {items: [a, b, c], fail_fast: true}, tool: pay, args: {who: "${item}"}}]\noutput: "${steps.all.items.size()}"\n',
  );
  expect(stopped.status).toBe('suspended');
  expect(desk.calls()).toHaveLength(2);
  desk.down();
  expect(await desk.runtime.runs.resume(stopped.run_id)).toMatchObject({ status: 'completed', output: 3 });
  expect(desk.calls().slice(2)).toEqual(['all[1]/call {"who":"b"}', 'all[2]/call {"who":"c"}']);
});

test('the next attempt is due after 30 s, or when the API asks for it [DS-SUSPEND-06]', async () => {
  const desk = await openOutage();
  desk.model.status = 429;
  const pipeline = `steps: [${chat}]\n`;
  const pauseOf = ({ suspended }: Awaited<ReturnType<typeof desk.run>>) =>
    Date.parse(suspended?.due_at ?? '') - Date.parse(suspended?.since ?? '');
  expect(pauseOf(await desk.run(pipeline))).toBe(30_000);
  desk.model.headers = { 'retry-after': '120' };
  const asked = await desk.run(pipeline);
  expect(pauseOf(asked)).toBeGreaterThan(110_000);
  desk.model.headers = {};
  for (let tries = 0; tries < 6; tries += 1) await desk.runtime.runs.resume(asked.run_id);
  const [listed] = await desk.runtime.runs.list({ status: 'suspended' });
  expect(listed?.suspended?.error.hint).toContain('runs resume');
});

test('a run that a fault suspended can be cancelled, and pruning keeps it [DS-SUSPEND-01]', async () => {
  const desk = await openOutage();
  desk.model.status = 500;
  const { run_id: id } = await desk.run(`steps: [${chat}]\n`);
  expect(await desk.runtime.runs.prune({ olderThanMs: 0 })).toBe(0);
  await expect(desk.runtime.runs.retry(id)).rejects.toMatchObject({ code: 'RUN_NOT_RETRYABLE' });
  expect(await desk.runtime.runs.cancel(id, { by: 'ada' })).toMatchObject({ status: 'cancelled' });
  expect(await desk.runtime.runs.list({ status: 'suspended' })).toEqual([]);
});

test('a store in memory suspends nothing [DS-SUSPEND-03]', async () => {
  const desk = await openOutage('', 'state_store: {type: memory}');
  desk.model.status = 500;
  expect((await desk.run(`steps: [${chat}]\n`)).status).toBe('failed');
});
