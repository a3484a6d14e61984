import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Desk,
  hookRecording,
  openAt,
  openDesk,
  outline,
  pendingOf,
  recording,
  runElsewhere,
  writePipeline,
} from './desk.ts';
import { loadSteps } from './validate-support.ts';

const spec = `
tools:
  twice: {idempotent: true, exec: ${recording('fails-first.sh', 'twice', '2')}}
  never: {exec: ${recording('fails-first.sh', 'never', '99')}}
  careful: {idempotent: false, exec: ${recording('fails-first.sh', 'careful', '99')}}
  late: {exec: ${recording('hangs-once.sh', 'late')}}
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  ask: {approval: required, exec: ${recording('fails-first.sh', 'asks', '1')}}
evals:
  judge: {command: $bin/eval-score}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {tool_calls: [{name: note, args: {}}]}
        - {error: {status: 400, message: busy}}
        - {error: {status: 400, message: busy}}
        - {text: at last}
`;

test('a step that fails is retried, with the same key, until it succeeds [DS-RUN-11]', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run('steps: [{id: a, tool: twice, retry: {max: 3, backoff: 1ms}}]\n');
  expect(end).toMatchObject({ status: 'completed', output: { result: 3 } });
  expect(outline(end)).toEqual(['a tool ok']);
  const keys = desk.lines('twice').map((line) => JSON.parse(line).idempotency_key);
  expect(keys).toEqual(Array.from({ length: 3 }, () => `${end.run_id}/a/call`));
  const notes = desk.events.flatMap((event) => (event.type === 'note' ? [event.message] : []));
  expect(notes).toEqual([
    '[TOOL_ERROR] not yet; retrying in 1 ms (1 of 3)',
    '[TOOL_ERROR] not yet; retrying in 1 ms (2 of 3)',
  ]);
});

test('the last failure remains, and is handled once', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps:
  - {id: a, tool: never, retry: {max: 2, backoff: {initial_ms: 1, factor: 3}}, on_error: {steps: [{id: h, tool: note}], then: continue}}
  - {id: each, for_each: [1, 2], tool: never, retry: {max: 1, backoff: 1ms}, on_error: continue}
`);
  expect(outline(end)).toEqual([
    'a tool failed TOOL_ERROR',
    'h tool ok',
    'each[0] tool failed TOOL_ERROR',
    'each[1] tool failed TOOL_ERROR',
    'each for_each failed TOOL_ERROR',
  ]);
  expect(desk.lines('never')).toHaveLength(3 + 4);
  expect(desk.lines('notes')).toHaveLength(1);
});

test('every attempt has the full time limit', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    'steps: [{id: a, tool: late, timeout_ms: 300, retry: {max: 1, backoff: 1ms, on: [STEP_TIMEOUT]}}]\n',
  );
  expect(end).toMatchObject({ status: 'completed' });
  expect(desk.lines('late')).toHaveLength(2);
});

describe('excluded from retries [DS-RUN-11]', () => {
  test('a failure whose code is not in `on`', async () => {
    const desk = await openDesk(spec);
    await desk.run('steps: [{id: a, tool: never, retry: {max: 5, backoff: 1ms, on: [PROCESS_EXIT]}}]\n');
    expect(desk.lines('never')).toHaveLength(1);
  });

  test('a denial of a hook', async () => {
    const hook = `{${hookRecording('answers', 'asked', '{"allow": false, "reason": "no"}')}, hook: tool, phases: [before_execution]}`;
    const desk = await openDesk(`${spec}hooks:\n  guard: ${hook}\n`);
    const end = await desk.run('steps: [{id: a, tool: twice, retry: {max: 5, backoff: 1ms}}]\n');
    expect(end.status).toBe('denied');
    expect(desk.lines('asked')).toHaveLength(1);
    expect(desk.lines('twice')).toEqual([]);
  });

  test('a hook that failed, which denies', async () => {
    const hook = `{${hookRecording('answers', 'asked', 'garbage')}, hook: tool, phases: [before_execution]}`;
    const desk = await openDesk(`${spec}hooks:\n  guard: ${hook}\n`);
    const end = await desk.run('steps: [{id: a, tool: twice, retry: {max: 5, backoff: 1ms}}]\n');
    expect(end.status).toBe('denied');
    expect(end.error?.code).toBe('REPLY_MALFORMED');
    expect(desk.lines('asked')).toHaveLength(1);
    expect(desk.lines('twice')).toEqual([]);
  });

  test('a person’s rejection; each attempt asks for an approval', async () => {
    const desk = await openDesk(spec);
    const pipeline = 'steps: [{id: a, tool: ask, retry: {max: 5, backoff: 1ms}}]\n';
    const first = await desk.run(pipeline);
    await desk.runtime.pending.approve(pendingOf(first), { by: 'mara' });
    const second = await desk.runtime.runs.resume(first.run_id);
    expect(outline(second)).toEqual(['a tool pending']);
    expect(pendingOf(second)).not.toBe(pendingOf(first));
    await desk.runtime.pending.reject(pendingOf(second), { by: 'mara', reason: 'enough' });
    expect(await desk.runtime.runs.resume(first.run_id)).toMatchObject({ error: { code: 'REJECTED' } });
    expect(desk.lines('asks')).toHaveLength(1);
  });

  test('a call that must not be repeated, in every place that declares it', async () => {
    const desk = await openDesk(spec);
    await expect(desk.run('steps: [{id: a, tool: careful, retry: {max: 1}}]\n')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    const step = '{id: a, tool: careful, retry: {max: 5, on: [TOOL_EROR, DENIED]}}';
    const careful = { name: 'careful', idempotent: false } as const;
    const runtime = { tools: [careful], evals: [], providers: [] };
    expect(
      loadSteps([step, '{id: g, retry: {max: 0}, steps: [{id: i, tool: careful}]}'], runtime).problems.filter(
        (line) => line.includes('retry'),
      ),
    ).toEqual([
      '5:30 steps[0].retry: the tool careful is `idempotent: false`: only a person can retry it | If the tool handles repeated calls with the same `idempotency_key`, set `idempotent: true`.',
      '5:51 steps[0].retry.on[0]: there is no code TOOL_EROR | did you mean `TOOL_ERROR`?',
      expect.stringContaining('5:62 steps[0].retry.on[1]: DENIED is never retried'),
      '6:15 steps[1].retry: belongs to a step with tool, eval, chat or pipeline, but this one has `steps` | Put it on the inner steps.',
      '6:28 steps[1].retry.max: must be at least 1 (got: 0)',
    ]);
  });
});

test('a chat continues from the model call that failed, and repeats no tool call [DS-RUN-11]', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    'steps: [{id: c, chat: {provider: main, messages: Hi., tools: [note]}, retry: {max: 2, backoff: 1ms}}]\n',
  );
  expect(end).toMatchObject({ status: 'completed', output: { text: 'at last', rounds: 2 } });
  expect(desk.lines('notes')).toHaveLength(1);
});

test('an eval is repeated', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    'steps: [{id: e, eval: judge, content: a, params: {score: 0.2}, threshold: {min_score: 0.5}, retry: {max: 1, backoff: 1ms, on: [THRESHOLD_MISSED]}}]\n',
  );
  expect(end.error?.code).toBe('THRESHOLD_MISSED');
  expect(desk.events.filter(({ type }) => type === 'call.started')).toHaveLength(2);
});

test('a run killed between two attempts waits for the rest of the pause, and repeats none [DS-RUN-11]', async () => {
  const pauseMs = 2500;
  const first = await openDesk(spec);
  await first.runtime.close();
  const pipeline = writePipeline(
    first.folder,
    `steps: [{id: a, tool: twice, retry: {max: 2, backoff: {initial_ms: ${pauseMs}, factor: 1}}}]\n`,
  );
  const failedAt = await killInPause(first, pipeline);
  const desk = await openAt(first.config);
  const [run] = await desk.runtime.runs.list();
  const id = run?.run_id ?? '';
  // Suspended once more, in the same pause.
  const stop = AbortSignal.timeout(50);
  await expect(desk.runtime.runs.resume(id, { signal: stop })).rejects.toMatchObject({ code: 'ABORTED' });
  await new Promise((done) => setTimeout(done, failedAt + pauseMs - 700 - Date.now()));
  const resumedAt = Date.now();
  const stopAgain = new AbortController();
  const going = desk.runtime.runs.resume(id, { signal: stopAgain.signal }).catch(() => undefined);
  await expect.poll(() => desk.lines('twice').length, { timeout: 10_000, interval: 10 }).toBe(2);
  const waited = statSync(join(desk.folder, 'twice')).mtimeMs - failedAt;
  expect(waited).toBeGreaterThan(pauseMs - 100);
  expect(waited).toBeLessThan(Math.max(pauseMs, resumedAt - failedAt) + 1200);
  stopAgain.abort();
  await going;
  expect(desk.lines('twice')).toHaveLength(2);
});

/** Runs it in a process that is killed after its first attempt. Returns the time in ms since 1970. */
async function killInPause({ config, folder }: Desk, pipeline: string): Promise<number> {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'runner.ts'), config, pipeline]);
  const ended = once(child, 'exit');
  await expect.poll(() => isNoted(folder), { timeout: 20_000, interval: 10 }).toBe(true);
  const at = statSync(join(folder, 'twice')).mtimeMs;
  await new Promise((done) => setTimeout(done, 300));
  child.kill('SIGKILL');
  await ended;
  return at;
}

function isNoted(folder: string): boolean {
  return statSync(join(folder, 'twice'), { throwIfNoEntry: false }) !== undefined;
}

test('a call interrupted in its second attempt is repeated as the second, with the same key', async () => {
  const first = await openDesk(
    `tools: {pay: {idempotent: true, exec: ${recording('fails-then-kills.sh', 'pays')}}}\n`,
  );
  await first.runtime.close();
  const pipeline = writePipeline(
    first.folder,
    'steps: [{id: a, tool: pay, retry: {max: 1, backoff: 1ms}}]\n',
  );
  expect(await runElsewhere(first.config, pipeline)).toBe('SIGKILL');
  const desk = await openAt(first.config);
  const [run] = await desk.runtime.runs.list();
  const id = run?.run_id ?? '';
  expect(await desk.runtime.runs.resume(id)).toMatchObject({ status: 'completed' });
  expect(desk.lines('pays').map((line) => JSON.parse(line).idempotency_key)).toEqual(
    Array.from({ length: 3 }, () => `${id}/a/call`),
  );
  const { timeline } = await desk.runtime.runs.show(id);
  const begun = timeline.flatMap(({ what, step, detail }) =>
    what === 'step began' ? [`${step} ${detail}`] : [],
  );
  expect(begun).toContain('a/call ');
  expect(begun).toContain('a/retry-1/call begun 2 times');
});
