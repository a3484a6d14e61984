import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../src/index.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { story } from '../runtime/open.ts';
import { openDesk, pendingOf, recording } from './desk.ts';

const spec = `
tools:
  note: {exec: {command: $bin/answers, args: ['{"result": "noted"}']}}
  fail: {exec: {command: $bin/answers, args: ['{"error": "no such order"}']}}
  refund: {exec: ${recording('pending.sh', 'refunds')}}
`;

const pipeline = `
steps:
  - {id: one, tool: note}
  - {id: group, steps: [{id: wait, tool: refund, args: {order: "\${input.order}"}}, {id: skip, if: "\${false}", tool: note}]}
output: \${steps.wait.result}
`;

const isRun = (type: unknown) => /^(run|step|pending)\./.test(String(type));
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('the events of a run are reported in order', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(pipeline, { order: 7 });
  const run = paused.run_id;
  const id = pendingOf(paused);
  const step = (type: string, name: string, kind: string, more = {}) => ({
    type,
    run,
    step: name,
    kind,
    ...more,
  });
  expect(story(desk.events).filter(({ type }) => isRun(type))).toEqual([
    { type: 'run.started', run, name: 'desk', isResumed: false },
    step('step.started', 'one', 'tool'),
    step('step.finished', 'one', 'tool', { status: 'ok' }),
    step('step.started', 'group', 'steps'),
    step('step.started', 'wait', 'tool'),
    {
      type: 'pending.opened',
      id,
      run,
      step: 'wait/call',
      tool: 'refund',
      reason: 'requires_approval',
      message: 'Refund 250 EUR?',
    },
    { type: 'run.finished', run, name: 'desk', status: 'pending' },
  ]);
  await desk.runtime.pending.respond(id, { by: 'mara', result: 7 });
  const other = await desk.reopen();
  await other.runtime.runs.resume(run);
  expect(story(other.events).filter(({ type }) => isRun(type))).toEqual([
    { type: 'run.started', run, name: 'desk', isResumed: true },
    step('step.started', 'group', 'steps'),
    step('step.started', 'wait', 'tool'),
    { type: 'pending.decided', id, run, step: 'wait/call', tool: 'refund', ruling: 'responded' },
    step('step.finished', 'wait', 'tool', { status: 'ok' }),
    step('step.started', 'skip', 'tool'),
    step('step.finished', 'skip', 'tool', { status: 'skipped' }),
    step('step.finished', 'group', 'steps', { status: 'ok' }),
    { type: 'run.finished', run, name: 'desk', status: 'completed' },
  ]);
});

test('a failed run reports its error', async () => {
  const desk = await openDesk(spec);
  const { run_id, error } = await desk.run('steps: [{id: one, tool: fail}]\n');
  expect(
    story(desk.events)
      .filter(({ type }) => isRun(type))
      .slice(-2),
  ).toEqual([
    { type: 'step.finished', run: run_id, step: 'one', kind: 'tool', status: 'failed', error },
    { type: 'run.finished', run: run_id, name: 'desk', status: 'failed', error },
  ]);
});

test('a run shows its complete timeline', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(pipeline, '{"order": 12345678901234567890}');
  const id = pendingOf(paused);
  const info = {
    run_id: paused.run_id,
    kind: 'pipeline',
    name: 'desk',
    file: `${desk.folder}/desk.pipeline.yaml`,
    status: 'pending',
    created_at: time,
    updated_at: time,
    pending: 1,
  };
  const [notice] = paused.pending;
  const began = (step: string) => ({ at: time, what: 'step began', step, detail: '' });
  const ended = (step: string, detail = '') => ({ at: time, what: 'step ended', step, detail });
  const waiting = [
    { at: time, what: 'started', step: null, detail: 'desk' },
    began('one/call'),
    ended('one/call'),
    ended('one', 'ok'),
    began('wait/call'),
    ended('wait/call'),
    { at: time, what: 'pending', step: 'wait/call', detail: `${id}: Refund 250 EUR?` },
  ];
  expect(await desk.runtime.runs.list()).toEqual([info]);
  const shown = await desk.runtime.runs.show(paused.run_id);
  expect(shown).toEqual({
    ...info,
    input: { order: Number('12345678901234567890') },
    output: null,
    error: null,
    pendings: [notice],
    timeline: expect.any(Array),
    totals: expect.objectContaining({ steps: 1, tool_calls: 2, model_calls: 0, cost_usd: null }),
  });
  expect(stringifyJson(shown)).toContain('"input":{"order": 12345678901234567890}');
  expect(shown.timeline.toSorted(byText)).toEqual(waiting.toSorted(byText));

  await desk.runtime.pending.reject(id, { by: 'mara', reason: 'no' });
  const end = await desk.runtime.runs.resume(paused.run_id);
  const done = await desk.runtime.runs.show(paused.run_id);
  expect(done).toMatchObject({ status: 'failed', pending: 0, pendings: [], output: null, error: end.error });
  const message = 'failed: tool "refund" was rejected by mara: no';
  expect(done.timeline.toSorted(byText)).toEqual(
    [
      ...waiting,
      { at: time, what: 'decided', step: 'wait/call', detail: `${id}: rejected by mara` },
      ended('wait/call/ruling-1'),
      ended('wait', message),
      ended('group', message),
      { at: time, what: 'ended', step: null, detail: 'failed' },
    ].toSorted(byText),
  );
  const times = done.timeline.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  expect(done.timeline.at(-1)).toMatchObject({ what: 'ended' });
});

/** Events in the same millisecond have no order. */
function byText(one: { what: string; step: string | null }, other: typeof one): number {
  return `${one.what} ${one.step}`.localeCompare(`${other.what} ${other.step}`);
}

test('runs are listed newest first, by status and limit', async () => {
  const desk = await openDesk(spec);
  const one = await desk.run('steps: [{id: one, tool: note}]\n');
  const two = await desk.run(pipeline, {});
  const three = await desk.run('steps: [{id: one, tool: fail}]\n');
  const single = await desk.runtime.tools.call('refund', { n: 1 });
  const ids = async (filter?: Parameters<typeof desk.runtime.runs.list>[0]) =>
    (await desk.runtime.runs.list(filter)).map(({ run_id }) => run_id);
  const kept = single.status === 'pending' ? single.pending.run_id : '';
  expect(await ids()).toEqual([kept, three.run_id, two.run_id, one.run_id]);
  expect(await ids({ limit: 2 })).toEqual([kept, three.run_id]);
  expect(await ids({ status: 'completed' })).toEqual([one.run_id]);
  expect(await ids({ status: 'failed' })).toEqual([three.run_id, two.run_id]);
  expect((await desk.runtime.runs.list({ limit: 1 }))[0]).toMatchObject({
    kind: 'tool',
    name: 'refund',
    file: null,
    status: 'pending',
    pending: 1,
  });
});

test('the timeline keeps the order of events, whatever the clock said', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(pipeline, { order: 7 });
  await desk.runtime.pending.reject(pendingOf(paused), { by: 'mara', reason: 'no' });
  await desk.runtime.runs.resume(paused.run_id);
  const whatOf = async () =>
    (await desk.runtime.runs.show(paused.run_id)).timeline.map(({ what, step }) => [what, step]);
  const before = await whatOf();
  expect(before).toEqual([
    ['started', null],
    ['step began', 'one/call'],
    ['step ended', 'one/call'],
    ['step ended', 'one'],
    ['step began', 'wait/call'],
    ['step ended', 'wait/call'],
    ['pending', 'wait/call'],
    ['decided', 'wait/call'],
    ['step ended', 'wait/call/ruling-1'],
    ['step ended', 'wait'],
    ['step ended', 'group'],
    ['ended', null],
  ]);
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(join(desk.folder, '.signalbox/state.db'));
  database.exec(`UPDATE steps SET began_at = began_at - 3600000, ended_at = ended_at - 7200000 WHERE step = 'wait/call';
    UPDATE pendings SET decided_at = decided_at - 86400000; UPDATE runs SET updated_at = created_at - 1`);
  database.close();
  expect(await whatOf()).toEqual(before);
});
