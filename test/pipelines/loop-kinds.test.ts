import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openAt, openDesk, outline, pendingOf, recording, runElsewhere, writePipeline } from './desk.ts';
import { problemsOfSteps } from './validate-support.ts';

const spec = `
concurrency: 8
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  fail: {exec: ${recording('answers', 'fails', '{"error": "no"}')}}
  slow: {exec: {command: /bin/sh, args: [-c, 'cat >> $folder/slow; exec sleep 60'], grace_ms: 100}}
  late: {exec: {command: /bin/sh, args: [-c, 'cat >/dev/null; until [ -e $folder/slow ]; do sleep 0.02; done; echo ''{"error": "no"}''']}}
  stuck: {exec: {command: $bin/notes-term.sh, env: [RECORD_FILE=$folder/slow, TOLD_FILE=$folder/told], grace_ms: 60000}}
  ask: {approval: required, exec: ${recording('answers', 'asks', '{"result": "done"}')}}
  down: {exec: ${recording('counts-down.sh', 'downs', '3')}}
  dies: {exec: ${recording('counts-down.sh', 'dies', '3', '2')}}
`;

describe('collect', () => {
  test.each([
    {
      collect: 'all',
      view: { status: 'ok', items: [1, 2, 3].map(() => ({ status: 'ok', result: 'noted' })) },
    },
    { collect: 'last', view: { status: 'ok', count: 3, last: { status: 'ok', result: 'noted' } } },
    { collect: 'none', view: { status: 'ok', count: 3 } },
  ])('$collect', async ({ collect, view }) => {
    const desk = await openDesk(spec);
    const end = await desk.run(
      `steps: [{id: loop, for_each: {items: [1, 2, 3], collect: ${collect}}, tool: note}]\n`,
    );
    expect(end.output).toEqual(view);
    expect(end.steps).toHaveLength(4);
  });

  test('an empty list', async () => {
    const desk = await openDesk(spec);
    const end = await desk.run('steps: [{id: loop, for_each: {items: [], collect: last}, tool: note}]\n');
    expect(end.output).toEqual({ status: 'ok', count: 0, last: null });
  });

  test('results inside an item are released with it, and the rest of the run continues', async () => {
    const desk = await openDesk(spec);
    const end = await desk.run(`
steps:
  - {id: before, tool: note}
  - {id: loop, for_each: {items: [1, 2], collect: none}, steps: [{id: inner, for_each: [1, 2], tool: note}, {id: c, tool: note, args: {n: "\${steps.inner.items.size()}"}}]}
output: "\${steps.before.result} \${steps.loop.count}"
`);
    expect(end.output).toBe('noted 2');
    expect(desk.lines('notes').filter((line) => line.includes('"n":2'))).toHaveLength(2);
  });
});

describe('fail_fast [DS-RUN-12]', () => {
  test.each([
    {
      title: 'a loop',
      pipeline: `
steps:
  - id: loop
    for_each: {items: [slow, late, note, note], concurrency: 2, fail_fast: true}
    steps:
      - {id: s, if: "\${item == 'slow'}", tool: slow}
      - {id: l, if: "\${item == 'late'}", tool: late}
      - {id: n, tool: note}
    on_error: {steps: [{id: h, tool: fail, args: {at: "\${error.step}", code: "\${error.code}"}, on_error: continue}], then: continue}
output: \${steps.loop}
`,
      at: 'loop[1]/l',
    },
    {
      title: 'branches',
      pipeline: `
steps:
  - id: all
    fail_fast: true
    concurrency: 2
    parallel:
      - {id: s, tool: slow, on_error: {steps: [{id: cleanup, tool: note}]}}
      - {id: l, steps: [{id: inner, tool: late}]}
      - {id: n, tool: note}
    on_error: {steps: [{id: h, tool: fail, args: {at: "\${error.step}", code: "\${error.code}"}, on_error: continue}], then: continue}
output: \${steps.all}
`,
      at: 'inner',
    },
  ])(
    'of $title ends what is in progress, starts nothing else, and reports what failed',
    async ({ pipeline, at }) => {
      const desk = await openDesk(spec);
      const startedAt = performance.now();
      const end = await desk.run(pipeline);
      expect(performance.now() - startedAt).toBeLessThan(20_000);
      expect(end).toMatchObject({
        status: 'completed',
        output: { status: 'failed', error: { code: 'TOOL_ERROR' } },
      });
      expect(desk.lines('fails')).toEqual([`{"args":{"at":"${at}","code":"TOOL_ERROR"}}`]);
      expect(desk.lines('notes')).toEqual([]);
      const cut = end.steps.filter(({ error }) => error?.code === 'ABORTED').map(({ step }) => step);
      expect(cut).toContain(at === 'inner' ? 's' : 'loop[0]/s');
    },
  );

  test('without a failure changes nothing', async () => {
    const desk = await openDesk(spec);
    const end = await desk.run(
      'steps: [{id: loop, for_each: {items: [1, 2], fail_fast: true}, tool: note}, {id: p, fail_fast: true, parallel: [{id: a, tool: fail, on_error: continue}, {id: b, tool: note}]}]\n',
    );
    expect(end.status).toBe('completed');
    expect(desk.lines('notes')).toHaveLength(3);
  });

  test('starts nothing when a run is resumed that was killed while it ended the others', async () => {
    const first = await openDesk(spec);
    await first.runtime.close();
    const pipeline = `
steps:
  - id: loop
    for_each: {items: [stuck, late, note, note], concurrency: 2, fail_fast: true}
    steps:
      - {id: s, if: "\${item == 'stuck'}", tool: stuck}
      - {id: l, if: "\${item == 'late'}", tool: late}
      - {id: n, tool: note}
`;
    const child = spawn(process.execPath, [
      resolve(import.meta.dirname, 'runner.ts'),
      first.config,
      writePipeline(first.folder, pipeline),
    ]);
    const ended = once(child, 'exit');
    // The failure is stored, the other item gets its signal to end, and the process hangs until it is killed.
    await expect.poll(() => first.lines('told'), { timeout: 20_000, interval: 10 }).toEqual(['told']);
    child.kill('SIGKILL');
    await ended;
    const desk = await openAt(first.config);
    const [run] = await desk.runtime.runs.list();
    expect(run?.status).toBe('cut_off');
    const end = await desk.runtime.runs.resume(run?.run_id ?? '');
    expect(end).toMatchObject({ status: 'failed', error: { code: 'TOOL_ERROR' } });
    expect(desk.lines('slow')).toHaveLength(1);
    expect(desk.lines('notes')).toEqual([]);
    const begun = desk.events.flatMap((event) => (event.type === 'step.started' ? [event.step] : []));
    expect(begun).toEqual(['loop']);
  });

  test.each([false, true])('rejects what waits for a person (wait: %s)', async (wait) => {
    const desk = await openDesk(spec);
    const end = await desk.run(
      `
steps:
  - id: all
    fail_fast: true
    parallel:
      - {id: a, tool: ask}
      - {id: s, tool: slow, timeout_ms: 300}
    on_error: continue
  - {id: after, tool: note}
`,
      undefined,
      { wait },
    );
    expect(end).toMatchObject({ status: 'completed', pending: [] });
    expect(desk.lines('asks')).toEqual([]);
    const [pending] = await desk.runtime.pending.list({ all: true });
    expect(pending).toMatchObject({ status: 'rejected', by: 'signalbox' });
  });

  test('waits for an item that waits alone', async () => {
    const desk = await openDesk(spec);
    const run = await desk.run(
      'steps: [{id: loop, for_each: {items: [1, 2], fail_fast: true}, tool: ask}]\n',
    );
    await desk.runtime.pending.reject(pendingOf(run), { by: 'mara', reason: 'no' });
    const end = await desk.runtime.runs.resume(run.run_id);
    expect(outline(end)).toEqual(['loop[0] tool failed REJECTED', 'loop for_each failed REJECTED']);
  });
});

describe('while [DS-RUN-13]', () => {
  const loop = (tool: string, more = '') =>
    `{id: w, while: {condition: "\${last == null || last.result.left > 0}", max: 5${more}}, tool: ${tool}, args: {n: "\${index}"}}`;

  test('repeats its step until the condition is false', async () => {
    const desk = await openDesk(spec);
    const end = await desk.run(`steps: [${loop('down')}]\n`);
    expect(end.output).toEqual({ status: 'ok', count: 3, last: { status: 'ok', result: { left: 0 } } });
    expect(outline(end)).toEqual(['w[0] tool ok', 'w[1] tool ok', 'w[2] tool ok', 'w while ok']);
    expect(desk.lines('downs')).toEqual([0, 1, 2].map((n) => `{"args":{"n":${n}}}`));
  });

  test('does not run if it is false, and runs up to its limit if it is true', async () => {
    const desk = await openDesk(spec);
    const end = await desk.run(`
steps:
  - {id: none, while: {condition: "\${false}", max: 2}, tool: note}
  - {id: all, while: {condition: "\${index >= 0}", max: 2, collect: all}, steps: [{id: a, tool: note, args: {n: "\${index}", last: "\${last}"}}], on_error: continue}
output: ["\${steps.none}", "\${steps.all.items}", "\${steps.all.error.code}"]
`);
    const item = { status: 'ok', steps: { a: { status: 'ok', result: 'noted' } } };
    expect(end.output).toEqual([{ status: 'ok', count: 0, last: null }, [item, item], 'LOOP_EXHAUSTED']);
    expect(desk.lines('notes').map((line) => JSON.parse(line).args)).toEqual([
      { n: 0, last: null },
      { n: 1, last: item },
    ]);
  });

  test('ends at a failure', async () => {
    const desk = await openDesk(spec);
    const end = await desk.run('steps: [{id: w, while: {condition: "${true}", max: 9}, tool: fail}]\n');
    expect(outline(end)).toEqual(['w[0] tool failed TOOL_ERROR', 'w while failed TOOL_ERROR']);
  });

  test('repeats only the current round of a run that is killed', async () => {
    const first = await openDesk(spec);
    await first.runtime.close();
    expect(
      await runElsewhere(
        first.config,
        writePipeline(first.folder, `steps: [${loop('dies', ', collect: all')}]\n`),
      ),
    ).toBe('SIGKILL');
    const desk = await openAt(first.config);
    const [run] = await desk.runtime.runs.list();
    const end = await desk.runtime.runs.resume(run?.run_id ?? '');
    const left = [2, 1, 0].map((n) => ({ status: 'ok', result: { left: n } }));
    expect(end.output).toEqual({ status: 'ok', items: left });
    expect(desk.lines('dies').map((line) => JSON.parse(line).args.n)).toEqual([0, 1, 1, 2]);
  });
});

describe('refused files', () => {
  test.each([
    {
      step: '{id: a, tool: t, while: {condition: "${last}"}}',
      problems: ['5:24 steps[0].while.max: is required'],
    },
    {
      step: '{id: a, tool: t, while: {condition: "${1 + 1}", max: 0, colect: all}}',
      problems: [
        '5:43 steps[0].while.condition: must give true or false, but `${1 + 1}` gives a value of type int | Write a single expression, such as `${input.amount > 100}`.',
        '5:60 steps[0].while.max: must be at least 1 (got: 0)',
        '5:63 steps[0].while.colect: unknown key | did you mean `collect`?',
      ],
    },
    {
      step: '{id: a, tool: t, for_each: [1], while: {condition: "${true}", max: 1}, concurrency: 2, fail_fast: true, args: {x: "${last}"}}',
      problems: [
        '5:39 steps[0].while: cannot be combined with `for_each` | Put the step into a group, and the other key on the group.',
        expect.stringContaining('steps[0].concurrency: needs `for_each` or `parallel`'),
        expect.stringContaining('steps[0].fail_fast: needs `parallel`'),
      ],
    },
    {
      step: '{id: a, tool: t, args: {x: "${last}"}}',
      problems: [expect.stringContaining('`last` is available only inside a while.')],
    },
  ])('$step', ({ step, problems }) => {
    expect(problemsOfSteps(step)).toEqual(problems);
  });

  test('missing members of a loop’s view', () => {
    const problems = problemsOfSteps(
      '{id: a, tool: t, for_each: {items: [1], collect: none}}',
      '{id: b, tool: t, while: {condition: "${true}", max: 1}}',
      '{id: c, tool: t, args: {x: "${steps.a.items}", y: "${steps.b.items}", z: "${steps.b.last}"}}',
    );
    expect(problems).toEqual([
      expect.stringContaining('`steps.a` has no `items`'),
      expect.stringContaining('`steps.b` has no `items`'),
    ]);
  });
});
