import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDesk, outline, pendingOf, recording } from './desk.ts';

const spec = `
state_store: {type: memory}
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  fail: {exec: {command: $bin/answers, args: ['{"error": "no such order"}']}}
  crash: {exec: {command: $bin/crash.sh}}
  hang: {exec: {command: $bin/hang.sh}}
  ask: {exec: {command: $bin/pending.sh}}
  slow: {exec: {command: $bin/slow-allow, env: [SLOW_MS=700]}}
evals:
  stuck: {command: $bin/hang.sh}
`;

const toolError = {
  code: 'TOOL_ERROR',
  message: 'no such order',
  hint: 'The message comes from the tool: correct the tool or its input.',
};

test('a step that fails stops the run with its error', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run('steps: [{id: one, tool: fail}, {id: two, tool: note}]\noutput: done\n');
  expect(end).toMatchObject({ status: 'failed', output: null, error: toolError });
  expect(outline(end)).toEqual(['one tool failed TOOL_ERROR']);
  expect(desk.lines('notes')).toEqual([]);
});

test('a step that was denied stops the run as denied', async () => {
  const desk = await openDesk(
    `${spec}\nhooks: {no: {hook: tool, phases: [before_execution], command: $bin/deny.sh}}`,
  );
  const end = await desk.run('steps: [{id: one, tool: note}]\n');
  expect(end).toMatchObject({ status: 'denied', output: null, error: { code: 'DENIED' } });
});

test('a fault of a hook denies with the code of the fault', async () => {
  const desk = await openDesk(
    `${spec}\nhooks: {no: {hook: tool, phases: [before_execution], command: $bin/crash.sh}}`,
  );
  const end = await desk.run('steps: [{id: one, tool: note, on_error: continue}]\noutput: ${steps.one}\n');
  expect(end.output).toMatchObject({ status: 'denied', hook: 'no', error: { code: 'PROCESS_EXIT' } });
  expect(desk.lines('notes')).toEqual([]);
});

test('a step may fail without ending the run', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps: [{id: one, tool: fail, on_error: continue}, {id: two, tool: note, args: {saw: "\${steps.one.error.message}"}}]
output: \${steps.one}
`);
  expect(end).toMatchObject({ status: 'completed', output: { status: 'failed', error: toolError } });
  expect(desk.lines('notes')).toEqual(['{"args":{"saw":"no such order"}}']);
});

const handlers = [
  { title: 'stops', next: 'stop', status: 'failed', error: 'TOOL_ERROR', last: 0 },
  { title: 'stops by default', next: undefined, status: 'failed', error: 'TOOL_ERROR', last: 0 },
  { title: 'goes on', next: 'continue', status: 'completed', error: undefined, last: 1 },
];

test.each(handlers)(
  'a failure is handled, and then the pipeline $title',
  async ({ next, status, error, last }) => {
    const desk = await openDesk(spec);
    const end = await desk.run(`
steps:
  - id: one
    tool: fail
    on_error:
      ${next === undefined ? '' : `then: ${next}`}
      steps: [{id: tidy, tool: note, args: {error: "\${error}"}}, {id: more, tool: note, args: {saw: "\${steps.tidy.status}"}}]
  - {id: two, tool: note, args: {tidied: "\${steps.tidy.status}"}}
`);
    expect([end.status, end.error?.code]).toEqual([status, error]);
    const { code, message, hint } = toolError;
    expect(desk.lines('notes').map((line) => JSON.parse(line).args)).toEqual([
      { error: { code, message, hint, step: 'one' } },
      { saw: 'ok' },
      ...Array(last).fill({ tidied: 'ok' }),
    ]);
  },
);

test('a handler that fails stops the pipeline with its own error', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps: [{id: one, tool: fail, on_error: {then: continue, steps: [{id: tidy, tool: crash}]}}]
`);
  expect(end).toMatchObject({ status: 'failed', error: { code: 'PROCESS_EXIT' } });
});

test('the failure of a group is that of its step, and an enclosing handler sees it', async () => {
  const desk = await openDesk(spec);
  await desk.run(`
steps:
  - id: group
    steps: [{id: one, tool: note}, {id: two, tool: fail}, {id: three, tool: note}]
    on_error: {then: continue, steps: [{id: tidy, tool: note, args: {error: "\${error}", one: "\${steps.one.status}"}}]}
`);
  const { code, message, hint } = toolError;
  expect(desk.lines('notes').map((line) => JSON.parse(line).args)).toEqual([
    {},
    { error: { code, message, hint, step: 'two' }, one: 'ok' },
  ]);
});

test.each([
  { title: 'a step', step: '{id: top, tool: fail', at: 'top' },
  { title: 'a branch', step: '{id: top, parallel: [{id: a, tool: note}, {id: b, tool: fail}]', at: 'b' },
  { title: 'an item', step: '{id: top, for_each: [1, 2], tool: fail', at: 'top[0]' },
  {
    title: 'a step of an item of a loop in a group',
    step: '{id: top, steps: [{id: loop, for_each: [1, 2], steps: [{id: a, tool: note}, {id: b, if: "${item == 2}", tool: fail}]}]',
    at: 'loop[1]/b',
  },
  {
    title: 'a group that took too long',
    step: '{id: top, steps: [{id: slow, timeout_ms: 200, steps: [{id: a, tool: hang}]}]',
    at: 'slow',
  },
  {
    title: 'a handler that fails itself',
    step: '{id: top, steps: [{id: a, tool: fail, on_error: {steps: [{id: b, tool: crash}]}}]',
    at: 'b',
  },
])('`error.step` names what failed inside: $title', async ({ step, at }) => {
  const desk = await openDesk(spec);
  const tidy = '{id: tidy, tool: note, args: {at: "${error.step}"}}';
  await desk.run(`steps: [${step}, on_error: {then: continue, steps: [${tidy}]}}]\n`);
  expect(JSON.parse(desk.lines('notes').at(-1) ?? '').args).toEqual({ at });
});

test('in a loop, `error.step` of a handler is named like its sibling steps', async () => {
  const desk = await openDesk(spec);
  const tidy = '{id: tidy, tool: note, args: {at: "${error.step}"}}';
  const group = `{id: g, steps: [{id: a, tool: fail}], on_error: {then: continue, steps: [${tidy}]}}`;
  await desk.run(`steps: [{id: loop, for_each: [1], steps: [${group}]}]\n`);
  expect(JSON.parse(desk.lines('notes').at(-1) ?? '').args).toEqual({ at: 'a' });
});

const late = [
  {
    title: 'a tool that hangs',
    step: '{id: one, tool: hang, timeout_ms: 200}',
    steps: ['one tool failed STEP_TIMEOUT'],
  },
  {
    title: 'a group',
    step: '{id: one, timeout_ms: 200, steps: [{id: inner, tool: hang}, {id: never, tool: note}]}',
    steps: ['inner tool failed ABORTED', 'one steps failed STEP_TIMEOUT'],
  },
  {
    title: 'a group whose steps would go on',
    step: '{id: one, timeout_ms: 200, steps: [{id: inner, tool: hang, on_error: continue}, {id: never, tool: note, on_error: continue}]}',
    steps: ['inner tool failed ABORTED', 'one steps failed STEP_TIMEOUT'],
  },
  {
    title: 'a group whose step would be handled',
    step: '{id: one, timeout_ms: 200, steps: [{id: inner, tool: hang, on_error: {then: continue, steps: [{id: never, tool: note}]}}]}',
    steps: ['inner tool failed ABORTED', 'one steps failed STEP_TIMEOUT'],
  },
  {
    title: 'a parallel',
    step: '{id: one, timeout_ms: 200, parallel: [{id: inner, tool: hang}]}',
    steps: ['inner tool failed ABORTED', 'one parallel failed STEP_TIMEOUT'],
  },
  {
    title: 'an eval that only measures',
    step: '{id: one, timeout_ms: 200, eval: stuck, content: a}',
    steps: ['one eval failed STEP_TIMEOUT'],
  },
  {
    title: 'an item of a loop',
    step: '{id: one, timeout_ms: 200, for_each: [1], tool: hang}',
    steps: ['one[0] tool failed STEP_TIMEOUT', 'one for_each failed STEP_TIMEOUT'],
  },
];

test.each(late)('$title has failed when its time limit has passed', async ({ step, steps }) => {
  const desk = await openDesk(spec);
  const end = await desk.run(`steps:\n  - ${step}\n  - {id: last, tool: note}\n`);
  expect(end).toMatchObject({ status: 'failed', error: { code: 'STEP_TIMEOUT' } });
  expect(end.error?.message).toContain('took longer than 200 ms');
  expect(outline(end)).toEqual(steps);
  expect(desk.lines('notes')).toEqual([]);
});

test('each item of a loop has the full time limit', async () => {
  const desk = await openDesk(spec);
  const loop = '{id: loop, for_each: [1, 2, 3, 4, 5], timeout_ms: 3000, tool: slow}';
  expect(await desk.run(`steps: [${loop}]\n`)).toMatchObject({ status: 'completed' });
});

test('steps after a timeout have their own time limit', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps:
  - {id: one, timeout_ms: 200, tool: hang, on_error: {then: continue, steps: [{id: tidy, tool: note}]}}
  - {id: two, tool: note}
`);
  expect(end).toMatchObject({ status: 'completed' });
  expect(desk.lines('notes')).toHaveLength(2);
});

test('the clock of a step stops while a person is awaited [DS-RUN-08]', async () => {
  const desk = await openDesk(spec);
  const pending = Promise.withResolvers<string>();
  const running = desk.run(
    `
steps:
  - id: group
    timeout_ms: 4000
    steps: [{id: one, timeout_ms: 4000, tool: ask}, {id: two, tool: note}]
`,
    undefined,
    { wait: true, onPending: ({ id }) => pending.resolve(id) },
  );
  const id = await pending.promise;
  await sleep(4_500);
  await desk.runtime.pending.respond(id, { by: 'mara', result: 1 });
  const end = await running;
  expect(end).toMatchObject({ status: 'completed' });
  expect(outline(end)).toEqual(['one tool ok', 'two tool ok', 'group steps ok']);
});

test('a step that waited and was suspended has its full time limit again', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run('steps: [{id: one, timeout_ms: 3000, tool: ask}]\n');
  await sleep(50);
  await desk.runtime.pending.approve(pendingOf(paused), { by: 'mara' });
  expect(await desk.runtime.runs.resume(paused.run_id)).toMatchObject({ status: 'completed' });
});

test('steps inside an ended group are still visible after the run was suspended', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(`
steps:
  - id: group
    steps:
      - {id: inner, tool: note}
      - {id: broken, tool: fail, on_error: {then: continue, steps: [{id: tidy, tool: note}]}}
      - {id: deep, parallel: [{id: left, tool: note}, {id: right, steps: [{id: low, tool: note}]}]}
  - {id: choice, if: "\${false}", steps: [{id: never, tool: note}], else: [{id: other, tool: note}]}
  - {id: wait, tool: ask}
output: \${steps}
`);
  await desk.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 1 });
  const end = await desk.runtime.runs.resume(paused.run_id);
  const noted = { status: 'ok', result: 'noted' };
  expect(end.output).toEqual({
    group: { status: 'ok' },
    inner: noted,
    broken: { status: 'failed', error: toolError },
    tidy: noted,
    deep: { status: 'ok' },
    left: noted,
    right: { status: 'ok' },
    low: noted,
    choice: { status: 'ok' },
    other: noted,
    wait: { status: 'ok', result: 1 },
  });
  expect(desk.lines('notes')).toHaveLength(5);
});
