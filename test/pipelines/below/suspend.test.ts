import { expect, test } from 'vitest';
import { openAt, pendingOf, writePipeline } from '../desk.ts';
import { type OutageDesk, openOutage } from '../suspending.ts';

/** Three levels: the root calls `middle`, which calls `inner`. The second call of `inner` may find its server down. */
async function openLevels(inner = '', middle = ''): Promise<OutageDesk> {
  const desk = await openOutage();
  writePipeline(
    desk.folder,
    `${inner}
steps:
  - {id: first, tool: pay, args: {who: first}}
  - {id: second, tool: pay, args: {who: second}}
finally: [{id: tidy, tool: note, args: {who: inner}}]
output: \${steps.second.result.n}
`,
    'inner',
  );
  writePipeline(
    desk.folder,
    `${middle}
steps: [{id: deep, pipeline: ./inner.pipeline.yaml}]
finally: [{id: tidy, tool: note, args: {who: middle}}]
output: \${steps.deep.output}
`,
    'middle',
  );
  return desk;
}

const root = `
steps: [{id: top, pipeline: ./middle.pipeline.yaml}]
finally: [{id: tidy, tool: note, args: {who: root}}]
output: \${steps.top.output}
`;

const notesOf = (desk: OutageDesk) => desk.lines('notes').map((line) => JSON.parse(line).args.who);
const paid = (...who: string[]) => who.map((each) => `${each}/call {"who":"${each}"}`);

async function familyOf({ runtime }: OutageDesk): Promise<string[]> {
  const all = await runtime.runs.list({ children: true });
  return all.filter(({ parent }) => parent !== undefined).map(({ name, status }) => `${name} ${status}`);
}

test('a fault in a nested run suspends all runs around it, and each continues where it was [DS-WITHIN-01]', async () => {
  const desk = await openLevels();
  desk.down('second');
  const stopped = await desk.run(root);
  expect(stopped).toMatchObject({
    status: 'suspended',
    output: null,
    error: { code: 'SERVER_EXIT', hint: expect.stringContaining(stopped.run_id) },
    suspended: { tries: 1 },
  });
  expect(await familyOf(desk)).toEqual(['inner suspended', 'middle suspended']);
  expect((await desk.runtime.runs.list({ status: 'suspended' })).map(({ run_id }) => run_id)).toEqual([
    stopped.run_id,
  ]);
  expect((await desk.runtime.runs.resumable()).map(({ run_id }) => run_id)).toEqual([stopped.run_id]);
  expect(notesOf(desk)).toEqual([]);
  const again = await desk.runtime.runs.resume(stopped.run_id);
  expect(again).toMatchObject({
    status: 'suspended',
    suspended: { tries: 2, since: stopped.suspended?.since },
  });
  desk.down();
  const done = await desk.runtime.runs.resume(stopped.run_id);
  expect(done).toMatchObject({ status: 'completed', output: 1 });
  expect(done).not.toHaveProperty('suspended');
  expect(await familyOf(desk)).toEqual(['inner completed', 'middle completed']);
  expect(desk.calls()).toEqual(paid('first', 'second', 'second', 'second'));
  expect(notesOf(desk)).toEqual(['inner', 'middle', 'root']);
});

test('a second start with the id of the outermost run continues inside the nested runs [DS-WITHIN-02]', async () => {
  const desk = await openLevels();
  desk.down('second');
  const start = () => desk.runtime.run(writePipeline(desk.folder, root), undefined, { id: 'one' });
  const one = await start();
  const [inner] = await desk.runtime.runs.list({ parent: 'one' });
  await expect(desk.runtime.runs.resume(inner?.run_id ?? '')).rejects.toMatchObject({ code: 'USAGE' });
  desk.down();
  expect(one.status).toBe('suspended');
  expect(await start()).toMatchObject({ status: 'completed', output: 1 });
  expect(desk.calls()).toEqual(paid('first', 'second', 'second'));
});

test.each([
  [
    'retry',
    'retry: {max: 1, backoff: 1ms, on: [SERVER_EXIT]}',
    'suspended',
    ['inner', 'middle'],
    'suspended',
  ],
  ['on_error: continue', 'on_error: continue', 'completed', ['inner', 'middle', 'root'], 'failed'],
  [
    'on_error: {steps}',
    'on_error: {steps: [{id: fix, tool: note, args: {who: fix}}]}',
    'failed',
    ['inner', 'middle', 'fix', 'root'],
    'failed',
  ],
])(
  '%s of an enclosing step takes precedence, and the nested run has failed [DS-WITHIN-03]',
  async (_, more, status, notes, last) => {
    const desk = await openLevels();
    desk.down('second');
    const came = await desk.run(`
steps: [{id: top, pipeline: ./middle.pipeline.yaml, ${more}}]
finally: [{id: tidy, tool: note, args: {who: root}}]
output: x
`);
    expect(came.status).toBe(status);
    expect(notesOf(desk)).toEqual(notes);
    expect((await familyOf(desk))[0]).toBe(`inner ${last}`);
  },
);

test.each([
  ['of the outermost run holds for all below it', 'on_fault: fail\n', '', ['inner', 'middle', 'root']],
  ['of a run below fails its step', '', 'on_fault: fail\n', ['inner', 'middle', 'root']],
])('on_fault: fail %s [DS-WITHIN-04]', async (_, own, inner, notes) => {
  const desk = await openLevels(inner);
  desk.down('second');
  const came = await desk.run(`${own}${root}`);
  expect(came).toMatchObject({ status: 'failed', error: { code: 'SERVER_EXIT' } });
  expect(notesOf(desk)).toEqual(notes);
});

test('a wait in a nested run releases the process until its time, with the outermost run [DS-WITHIN-05]', async () => {
  const desk = await openOutage();
  writePipeline(desk.folder, 'steps: [{id: a, wait: 2s}, {id: b, tool: note, args: {who: b}}]\n', 'slow');
  const one = 'steps: [{id: slow, pipeline: ./slow.pipeline.yaml}]\n';
  const waiting = await desk.run(one, undefined, { longestWaitMs: 100 });
  expect(waiting).toMatchObject({ status: 'waiting', waits_until: expect.any(String) });
  const [below] = await desk.runtime.runs.list({ parent: waiting.run_id });
  expect(below).toMatchObject({ status: 'waiting', waits_until: waiting.waits_until });
  await desk.runtime.work({ signal: AbortSignal.timeout(200) });
  expect(notesOf(desk)).toEqual([]);
  expect(await desk.runtime.runs.resume(waiting.run_id)).toMatchObject({ status: 'completed' });
  expect(notesOf(desk)).toEqual(['b']);
});

test('a run is due when the calls of its nested runs are decided [DS-WITHIN-06]', async () => {
  const desk = await openOutage();
  writePipeline(desk.folder, 'steps: [{id: a, tool: ask, args: {who: a}}]\n', 'asks');
  const asked = await desk.run('steps: [{id: asks, pipeline: ./asks.pipeline.yaml}]\n');
  expect(await desk.runtime.runs.resumable()).toEqual([]);
  const other = await openAt(desk.config);
  await other.runtime.pending.approve(pendingOf(asked), { by: 'ada' });
  expect((await desk.runtime.runs.resumable()).map(({ run_id }) => run_id)).toEqual([asked.run_id]);
  const told: string[] = [];
  await desk.runtime.work({
    once: true,
    onRun: ({ run_id, status }) => void told.push(`${run_id} ${status}`),
  });
  expect(told).toEqual([`${asked.run_id} completed`]);
  expect(desk.calls()).toHaveLength(1);
});

test('cancelling the outermost run ends the suspended runs below it [DS-WITHIN-07]', async () => {
  const desk = await openLevels();
  desk.down('second');
  const { run_id: id } = await desk.run(root);
  await desk.runtime.runs.cancel(id, { by: 'ada' });
  expect(await familyOf(desk)).toEqual(['inner cancelled', 'middle cancelled']);
  expect(await desk.runtime.runs.resumable()).toEqual([]);
  expect(await desk.runtime.runs.prune({ olderThanMs: -10_000 })).toBe(1);
});

test.each([
  [
    'a group',
    '{id: g, steps: [{id: first, tool: once, args: {who: first}}, {id: second, tool: pay, args: {who: second}}]}',
  ],
  ['a run below', '{id: g, pipeline: ./part.pipeline.yaml}'],
])('with fail_fast too, %s keeps what succeeded in it [DS-WITHIN-01]', async (_, branch) => {
  const desk = await openOutage();
  const steps = '[{id: first, tool: once, args: {who: first}}, {id: second, tool: pay, args: {who: second}}]';
  writePipeline(desk.folder, `steps: ${steps}\n`, 'part');
  desk.down('second');
  const stopped = await desk.run(`steps: [{id: all, parallel: [${branch}], fail_fast: true}]\noutput: x\n`);
  expect(stopped.status).toBe('suspended');
  desk.down();
  expect(await desk.runtime.runs.resume(stopped.run_id)).toMatchObject({ status: 'completed' });
  expect(desk.calls().filter((call) => call.includes('first'))).toHaveLength(1);
});
