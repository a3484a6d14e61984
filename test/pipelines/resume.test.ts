import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Desk, openAt, openDesk, outline, pendingOf, recording, writePipeline } from './desk.ts';

const spec = `
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  refund: {exec: ${recording('pending.sh', 'refunds')}}
  hang: {exec: ${recording('hangs-once.sh', 'hangs')}}
  careful: {idempotent: false, exec: ${recording('hangs-once.sh', 'hangs')}}
evals:
  judge: {command: $bin/eval-score}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config: {responses: [{text: "turn \${size(messages)}"}]}
`;

const pipeline = `
steps:
  - {id: one, tool: note}
  - {id: said, chat: {provider: main, messages: Hello.}}
  - {id: scored, eval: judge, content: a, params: {score: 0.5}}
  - {id: loop, for_each: [1, 2], tool: note, args: {n: "\${item}"}}
  - {id: wait, tool: refund, args: {amount: 250}}
  - {id: last, tool: note, args: {said: "\${steps.said.text}", score: "\${steps.scored.score}", loop: "\${steps.loop.items.size()}"}}
output: {wait: "\${steps.wait.result}", last: "\${steps.last.result}"}
`;

test('a suspended run is finished by a fresh runtime, which repeats nothing [DS-RUN-03]', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(pipeline);
  expect(paused.status).toBe('pending');
  expect(desk.lines('notes')).toHaveLength(3);
  const other = await desk.reopen();
  await other.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 7 });
  const third = await other.reopen();
  const end = await third.runtime.runs.resume(paused.run_id);
  expect(end).toMatchObject({
    run_id: paused.run_id,
    status: 'completed',
    output: { wait: 7, last: 'noted' },
    pending: [],
  });
  expect(outline(end)).toEqual([
    'one tool ok',
    'said chat ok',
    'scored eval ok',
    'loop[0] tool ok',
    'loop[1] tool ok',
    'loop for_each ok',
    'wait tool ok',
    'last tool ok',
  ]);
  expect(desk.lines('notes').slice(3)).toEqual(['{"args":{"said":"turn 1","score":0.5,"loop":2}}']);
  expect(desk.lines('refunds')).toHaveLength(1);
  const begun = third.events.flatMap((event) => (event.type === 'step.started' ? [event.step] : []));
  expect(begun).toEqual(['wait', 'last']);
});

test('a run that has ended is only reported again', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run('steps: [{id: one, tool: note}]\n');
  expect(await (await desk.reopen()).runtime.runs.resume(end.run_id)).toEqual(end);
  expect(desk.lines('notes')).toHaveLength(1);
});

const fates = [
  {
    title: 'changed',
    befalls: (file: string) =>
      writeFileSync(file, 'apiVersion: signalbox/v1\nkind: Pipeline\nspec: {steps: [{id: b, tool: note}]}\n'),
  },
  { title: 'broken', befalls: (file: string) => writeFileSync(file, 'steps: ][') },
  { title: 'deleted', befalls: (file: string) => rmSync(file) },
];

test.each(fates)(
  'a run whose file was $title meanwhile finishes with its stored text [DS-RUN-04]',
  async ({ befalls }) => {
    const desk = await openDesk(spec);
    const paused = await desk.run(
      'steps: [{id: wait, tool: refund}]\noutput: "by the old text: ${steps.wait.result}"\n',
    );
    befalls(join(desk.folder, 'desk.pipeline.yaml'));
    await desk.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 7 });
    const end = await (await desk.reopen()).runtime.runs.resume(paused.run_id);
    expect(end).toMatchObject({ status: 'completed', output: 'by the old text: 7' });
  },
);

test('a run whose tool is no longer declared is refused, and stays unchanged', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run('steps: [{id: wait, tool: refund}]\n');
  const alone = await desk.runtime.tools.call('refund', {});
  await desk.runtime.close();
  writeFileSync(desk.config, 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {tools: {other: {}}}\n');
  const other = await openAt(desk.config);
  await expect(other.runtime.runs.resume(paused.run_id)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  const ids = (await other.runtime.runs.list()).map(({ run_id, status }) => [run_id, status]);
  expect(ids.map(([, status]) => status)).toEqual(['pending', 'pending']);
  expect(alone.status).toBe('pending');
  const [single = ''] = ids.flatMap(([id]) => (id === paused.run_id ? [] : [id]));
  await expect(other.runtime.runs.resume(single)).rejects.toMatchObject({ code: 'NAME_UNKNOWN' });
  expect(await other.runtime.runs.show(single)).toMatchObject({ status: 'pending', kind: 'tool' });
});

test.each(['resume', 'show', 'cancel'] as const)('to %s an unknown run is RUN_UNKNOWN', async (what) => {
  const { runtime } = await openDesk(spec);
  const asked = {
    resume: () => runtime.runs.resume('run_0'),
    show: () => runtime.runs.show('run_0'),
    cancel: () => runtime.runs.cancel('run_0', { by: 'mara' }),
  };
  await expect(asked[what]()).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
});

async function hanging(desk: Desk, step = '{id: slow, tool: hang}') {
  const giveUp = new AbortController();
  const file = writePipeline(desk.folder, `steps: [{id: one, tool: note}, ${step}, {id: two, tool: note}]\n`);
  const running = desk.runtime.run(file, {}, { signal: giveUp.signal });
  // Prevents an unhandled rejection; the caller awaits the promise later.
  running.catch(() => {});
  await expect.poll(() => desk.lines('hangs').length, { timeout: 15_000 }).toBe(1);
  const [run] = await desk.runtime.runs.list();
  return { running, giveUp, id: run?.run_id ?? '' };
}

test('a run in execution cannot be executed by another process [DS-RUN-05]', async () => {
  const desk = await openDesk(spec);
  const { running, giveUp, id } = await hanging(desk);
  const other = await openAt(desk.config);
  for (const { runtime } of [desk, other]) {
    await expect(runtime.runs.resume(id)).rejects.toMatchObject({ code: 'RUN_BUSY' });
  }
  giveUp.abort();
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await other.runtime.runs.resume(id)).toMatchObject({ status: 'completed' });
});

const steps = [
  { title: 'a tool', step: '{id: slow, tool: hang}' },
  {
    title: 'a tool in a loop, a group and a branch',
    step: '{id: a, for_each: [1], steps: [{id: b, parallel: [{id: c, tool: hang}, {id: d, tool: note}]}]}',
    notes: 1,
  },
  {
    title: 'a tool whose failure would be handled',
    step: '{id: slow, tool: hang, on_error: {then: continue, steps: [{id: never, tool: note}]}}',
  },
];

test.each(steps)('a run aborted in $title is resumed there [DS-RUN-06]', async ({ step, notes = 0 }) => {
  const desk = await openDesk(spec);
  const { running, giveUp, id } = await hanging(desk, step);
  const endedInBranch = async () => {
    const { timeline } = await desk.runtime.runs.show(id);
    return timeline.filter((entry) => entry.what === 'step ended' && entry.step?.endsWith('/d')).length;
  };
  await expect.poll(endedInBranch, { timeout: 15_000 }).toBe(notes);
  giveUp.abort();
  await expect(running).rejects.toMatchObject({
    code: 'ABORTED',
    details: { run_id: id },
    hint: `Continue with \`signalbox runs resume ${id}\`.`,
  });
  expect(await desk.runtime.runs.show(id)).toMatchObject({ status: 'cut_off', error: null });
  const end = await (await desk.reopen()).runtime.runs.resume(id);
  expect(end).toMatchObject({ status: 'completed' });
  expect(desk.lines('hangs')).toHaveLength(2);
  expect(desk.lines('notes')).toHaveLength(2 + notes);
});

test('an aborted call that must not be repeated waits for a person [DS-IDEM-03]', async () => {
  const desk = await openDesk(spec);
  const { running, giveUp, id } = await hanging(desk, '{id: slow, tool: careful}');
  giveUp.abort();
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  const paused = await desk.runtime.runs.resume(id);
  expect(await desk.runtime.pending.show(pendingOf(paused))).toMatchObject({ origin: 'interrupted' });
  expect(desk.lines('hangs')).toHaveLength(1);
});

test('a caller that aborted before the start starts nothing, and can continue', async () => {
  const desk = await openDesk(spec);
  const options = { signal: AbortSignal.abort() };
  await expect(desk.run('steps: [{id: one, tool: careful}]\n', {}, options)).rejects.toMatchObject({
    code: 'ABORTED',
  });
  const [run] = await desk.runtime.runs.list();
  expect(run).toMatchObject({ status: 'cut_off' });
  expect(desk.lines('hangs')).toEqual([]);
  // Nothing began, so nobody has to confirm whether it had an effect.
  const giveUp = new AbortController();
  const running = desk.runtime.runs.resume(run?.run_id ?? '', { signal: giveUp.signal });
  running.catch(() => {});
  await expect.poll(() => desk.lines('hangs').length, { timeout: 15_000 }).toBe(1);
  giveUp.abort();
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
});

test('a run that waits in its process and is aborted still waits', async () => {
  const desk = await openDesk(spec);
  const giveUp = new AbortController();
  const running = desk.run(
    'steps: [{id: wait, tool: refund}]\n',
    {},
    {
      wait: true,
      signal: giveUp.signal,
      onPending: () => giveUp.abort(),
    },
  );
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  const [pending] = await desk.runtime.pending.list();
  expect(pending).toMatchObject({ status: 'open', step: 'wait/call' });
  await desk.runtime.pending.respond(pending?.id ?? '', { by: 'mara', result: 7 });
  expect(await desk.runtime.runs.resume(pending?.run_id ?? '')).toMatchObject({ status: 'completed' });
  expect(desk.lines('refunds')).toHaveLength(1);
});

test('closing a runtime suspends its runs, and a fresh one continues them [DS-RUN-06]', async () => {
  const desk = await openDesk(spec);
  const { running, id } = await hanging(desk);
  await desk.runtime.close();
  await expect(running).rejects.toMatchObject({ code: 'ABORTED', details: { run_id: id } });
  const other = await openAt(desk.config);
  expect(await other.runtime.runs.show(id)).toMatchObject({ status: 'cut_off', error: null });
  expect(await other.runtime.runs.resume(id)).toMatchObject({ status: 'completed' });
});

test('closing a runtime ends the wait of its runs', async () => {
  const desk = await openDesk(spec);
  const told = Promise.withResolvers<void>();
  const running = desk.run(
    'steps: [{id: wait, tool: refund}]\n',
    {},
    { wait: true, onPending: () => told.resolve() },
  );
  running.catch(() => {});
  await told.promise;
  await desk.runtime.close();
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  const other = await openAt(desk.config);
  expect(await other.runtime.pending.list()).toMatchObject([{ status: 'open' }]);
});

test('a closed runtime runs nothing', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run('steps: [{id: wait, tool: refund}]\n');
  await desk.runtime.close();
  const { runs, pending } = desk.runtime;
  const asked = [
    desk.run('steps: [{id: one, tool: note}]\n'),
    runs.resume(paused.run_id),
    runs.list(),
    runs.show(paused.run_id),
    runs.cancel(paused.run_id, { by: 'mara' }),
    runs.prune({ olderThanMs: 0 }),
    pending.list(),
    pending.show(pendingOf(paused)),
    pending.approve(pendingOf(paused), { by: 'mara' }),
  ];
  const codes = (await Promise.allSettled(asked)).map(
    (each) => each.status === 'rejected' && each.reason.code,
  );
  expect(codes).toEqual(Array(9).fill('RUNTIME_CLOSED'));
});

const cancelled = (id: string) => ({
  code: 'ABORTED',
  message: `run ${id} was cancelled by mara: a duplicate`,
  hint: 'Start a new run.',
});

test('a waiting run is cancelled for good, and so are its pending calls', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run('steps: [{id: one, tool: note}, {id: wait, tool: refund}]\n');
  const end = await desk.runtime.runs.cancel(paused.run_id, { by: 'mara', reason: 'a duplicate' });
  expect(end).toMatchObject({
    run_id: paused.run_id,
    status: 'cancelled',
    output: null,
    pending: [],
    error: cancelled(paused.run_id),
  });
  expect(await desk.runtime.pending.show(pendingOf(paused))).toMatchObject({ status: 'cancelled' });
  await expect(desk.runtime.pending.approve(pendingOf(paused), { by: 'ann' })).rejects.toMatchObject({
    code: 'PENDING_DECIDED',
  });
  expect(await desk.runtime.runs.resume(paused.run_id)).toEqual(end);
  await expect(desk.runtime.runs.cancel(paused.run_id, { by: 'ann' })).rejects.toMatchObject({
    code: 'RUN_ENDED',
  });
  expect(desk.lines('refunds')).toHaveLength(1);
});

test('a run that another process executes is cancelled after its current step', async () => {
  const desk = await openDesk(`${spec}`.replace('hangs-once.sh', 'waits-for-go.sh'));
  const file = writePipeline(desk.folder, 'steps: [{id: slow, tool: hang}, {id: two, tool: note}]\n');
  const running = desk.runtime.run(file);
  await expect.poll(() => desk.lines('hangs').length, { timeout: 15_000 }).toBe(1);
  const other = await openAt(desk.config);
  const [run] = await other.runtime.runs.list();
  const id = run?.run_id ?? '';
  expect(await other.runtime.runs.cancel(id, { by: 'mara', reason: 'a duplicate' })).toMatchObject({
    status: 'cancelled',
    error: cancelled(id),
  });
  writeFileSync(join(desk.folder, 'go'), '');
  const end = await running;
  expect(end).toMatchObject({ run_id: id, status: 'cancelled', error: cancelled(id) });
  expect(outline(end)).toEqual(['slow tool ok']);
  expect(desk.lines('notes')).toEqual([]);
  const finished = desk.events.filter(({ type }) => type === 'run.finished');
  expect(finished).toEqual([{ type: 'run.finished', run: id, name: 'desk', status: 'cancelled' }]);
});

test('a run that is cancelled in its last step is cancelled, whatever the result', async () => {
  const desk = await openDesk(`${spec}`.replace('hangs-once.sh', 'waits-for-go.sh'));
  const running = desk.runtime.run(writePipeline(desk.folder, 'steps: [{id: slow, tool: hang}]\n'));
  await expect.poll(() => desk.lines('hangs').length, { timeout: 15_000 }).toBe(1);
  const [run] = await desk.runtime.runs.list();
  await desk.runtime.runs.cancel(run?.run_id ?? '', { by: 'mara' });
  writeFileSync(join(desk.folder, 'go'), '');
  expect(await running).toMatchObject({ status: 'cancelled', output: null });
  expect(desk.events.filter(({ type }) => type === 'run.finished')).toMatchObject([{ status: 'cancelled' }]);
});

test('a run that waits in its process ends when it is cancelled', async () => {
  const desk = await openDesk(spec);
  const told = Promise.withResolvers<string>();
  const running = desk.run(
    'steps: [{id: wait, tool: refund}, {id: two, tool: note}]\n',
    {},
    {
      wait: true,
      onPending: ({ runId }) => told.resolve(runId),
    },
  );
  const other = await openAt(desk.config);
  await other.runtime.runs.cancel(await told.promise, { by: 'mara' });
  expect(await running).toMatchObject({ status: 'cancelled', pending: [] });
  expect(desk.lines('notes')).toEqual([]);
});

test('pruning removes only ended runs', async () => {
  const desk = await openDesk(spec);
  const ended = await desk.run('steps: [{id: one, tool: note}]\n');
  const waiting = await desk.run('steps: [{id: wait, tool: refund}]\n');
  expect(await desk.runtime.runs.prune({ olderThanMs: 60_000 })).toBe(0);
  expect(await desk.runtime.runs.prune({ olderThanMs: -1_000 })).toBe(1);
  expect((await desk.runtime.runs.list()).map(({ run_id }) => run_id)).toEqual([waiting.run_id]);
  await expect(desk.runtime.runs.show(ended.run_id)).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
});
