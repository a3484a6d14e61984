import { describe, expect, test } from 'vitest';
import {
  hookRecording,
  openAt,
  openDesk,
  outline,
  pendingOf,
  recording,
  runElsewhere,
  writePipeline,
} from './desk.ts';
import { loadSpec } from './validate-support.ts';

const spec = `
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  fail: {exec: ${recording('answers', 'fails', '{"error": "no"}')}}
  worse: {exec: ${recording('answers', 'worse', '{"error": "worse"}')}}
  ask: {approval: required, exec: ${recording('answers', 'asks', '{"result": "done"}')}}
  kills: {idempotent: true, exec: ${recording('kills-caller.sh', 'kills', '1')}}
`;

const afterwards = (tool: string) => `
steps:
  - {id: one, tool: note}
  - {id: two, tool: ${tool}}
finally:
  - {id: tell, tool: note, args: {one: "\${steps.one.result}", outcome: "\${outcome}"}}
  - {id: last, tool: note, args: {told: "\${steps.tell.status}"}}
output: \${steps.one.result}
`;

const lastOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).args);

describe('finally [DS-RUN-15]', () => {
  test('runs after success', async () => {
    const desk = await openDesk(spec);
    const end = await desk.run(afterwards('note'));
    expect(end).toMatchObject({ status: 'completed', output: 'noted' });
    expect(lastOf(desk.lines('notes').slice(2))).toEqual([
      { one: 'noted', outcome: { status: 'ok', error: null } },
      { told: 'ok' },
    ]);
    expect(outline(end)).toEqual(['one tool ok', 'two tool ok', 'tell tool ok', 'last tool ok']);
  });

  test('runs after a failure, which stays', async () => {
    const desk = await openDesk(spec);
    const end = await desk.run(afterwards('fail'));
    expect(end).toMatchObject({
      status: 'failed',
      output: null,
      error: { code: 'TOOL_ERROR', message: 'no' },
    });
    expect(lastOf(desk.lines('notes').slice(1))[0]).toMatchObject({
      outcome: { status: 'failed', error: { code: 'TOOL_ERROR', message: 'no', step: 'two' } },
    });
  });

  test('runs after a denial, and after an output that cannot be computed', async () => {
    const hook = `{${hookRecording('answers', 'asked', '{"allow": false, "reason": "no"}')}, hook: tool, phases: [before_execution], match: {tools: [fail]}}`;
    const desk = await openDesk(`${spec}hooks:\n  guard: ${hook}\n`);
    expect(await desk.run(afterwards('fail'))).toMatchObject({ status: 'denied' });
    const end = await desk.run(
      'steps: [{id: a, tool: note}]\nfinally: [{id: f, tool: note, args: {o: "${outcome}"}}]\noutput: ${input.no}\n',
    );
    expect(end.error?.code).toBe('EXPRESSION_FAILED');
    const outcomes = lastOf(desk.lines('notes')).flatMap(({ outcome, o }) => outcome ?? o ?? []);
    expect(outcomes.map(({ status, error: { code } }) => `${status} ${code}`)).toEqual([
      'denied DENIED',
      'failed EXPRESSION_FAILED',
    ]);
  });

  test('reports its failure beside the first one, fails a successful run, and runs each of its steps', async () => {
    const desk = await openDesk(spec);
    const own = 'finally: [{id: f, tool: worse}, {id: g, tool: note}]\n';
    const both = await desk.run(`steps: [{id: a, tool: fail}]\n${own}`);
    expect(both.error?.message).toBe('no');
    expect(outline(both)).toEqual(['a tool failed TOOL_ERROR', 'f tool failed TOOL_ERROR', 'g tool ok']);
    expect(desk.events).toContainEqual({
      type: 'note',
      name: 'f',
      level: 'warn',
      message: '[TOOL_ERROR] worse; `finally` does not change the result of the run',
    });
    const alone = await desk.run(`steps: [{id: a, tool: note}]\n${own}`);
    expect(alone).toMatchObject({ status: 'failed', output: null, error: { message: 'worse' } });
  });

  test('does not run while a person is awaited, and runs once after the run continues', async () => {
    const desk = await openDesk(spec);
    const paused = await desk.run(afterwards('ask'));
    expect(paused.status).toBe('pending');
    expect(desk.lines('notes')).toHaveLength(1);
    const other = await desk.reopen();
    await other.runtime.pending.reject(pendingOf(paused), { by: 'mara', reason: 'no' });
    expect(await other.runtime.runs.resume(paused.run_id)).toMatchObject({ error: { code: 'REJECTED' } });
    expect(desk.lines('notes')).toHaveLength(3);
  });

  test('does not run when the run is suspended, and its step may wait for a person', async () => {
    const desk = await openDesk(spec);
    const pipeline =
      'steps: [{id: a, tool: fail}, {id: b, wait: 1h}]\nfinally: [{id: f, tool: ask}, {id: g, tool: note}]\n';
    const stopped = desk.run(pipeline.replace('tool: fail', 'tool: note'), undefined, {
      signal: AbortSignal.timeout(700),
    });
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' });
    expect(desk.lines('notes')).toHaveLength(1);
    const paused = await desk.run(pipeline);
    expect(paused).toMatchObject({ status: 'pending', pending: [{ step: 'f/call' }] });
    await desk.runtime.pending.approve(pendingOf(paused), { by: 'mara' });
    expect(await desk.runtime.runs.resume(paused.run_id)).toMatchObject({
      status: 'failed',
      error: { message: 'no' },
    });
    expect(desk.lines('fails')).toHaveLength(1);
    expect(desk.lines('asks')).toHaveLength(1);
  });

  test('continues after a kill in the middle, and the run ends as its steps did', async () => {
    const first = await openDesk(spec);
    await first.runtime.close();
    const pipeline =
      'steps: [{id: a, tool: fail}]\nfinally: [{id: f, tool: note}, {id: k, tool: kills}, {id: g, tool: note}]\n';
    expect(await runElsewhere(first.config, writePipeline(first.folder, pipeline))).toBe('SIGKILL');
    const desk = await openAt(first.config);
    const [run] = await desk.runtime.runs.list();
    const end = await desk.runtime.runs.resume(run?.run_id ?? '');
    expect(end).toMatchObject({ status: 'failed', error: { message: 'no' } });
    expect([desk.lines('fails').length, desk.lines('kills').length, desk.lines('notes').length]).toEqual([
      1, 2, 2,
    ]);
  });
});

test('knows some members and not others', () => {
  const { problems } = loadSpec(
    [
      'steps:',
      '  - {id: a, tool: t, args: {x: "${steps.f.result}", y: "${outcome.status}"}}',
      'finally:',
      '  - {id: f, tool: t, args: {x: "${steps.a.result}", y: "${outcome.statu}", z: "${steps.g.result}"}}',
      '  - {id: g, tool: t, on_error: {steps: [{id: h, tool: t, args: {x: "${outcome.status} ${error.code}"}}]}}',
      'output: ${steps.f.result}',
    ].join('\n'),
  );
  expect(problems).toEqual([
    expect.stringContaining('`steps.f` is not available here: it is in `finally`, which runs later'),
    expect.stringContaining(
      'Unknown variable: outcome | `outcome` is available only in the steps of `finally`.',
    ),
    expect.stringContaining('`outcome` has no `statu` | did you mean `status`?'),
    expect.stringContaining('`steps.g` is not available here: it runs later'),
    expect.stringContaining('`steps.f` is not available here: it is in `finally`, which runs later'),
  ]);
});
