import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openAt, openDesk, outline, recording, writePipeline } from './desk.ts';
import { problemsOfSteps } from './validate-support.ts';

const spec = `tools: {note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}}\n`;

test('a wait waits, and reports until when', async () => {
  const desk = await openDesk(spec);
  const startedAt = Date.now();
  const end = await desk.run(
    'steps: [{id: a, wait: 300ms}, {id: b, wait: "${input.ms}"}, {id: past, wait: {until: "2020-01-01T00:00:00+01:00"}}]\noutput: "${steps.past.until}"\n',
    { ms: 50 },
  );
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(350);
  expect(end.output).toBe('2019-12-31T23:00:00.000Z');
  expect(outline(end)).toEqual(['a wait ok', 'b wait ok', 'past wait ok']);
  const waits = desk.events.flatMap((event) => (event.type === 'step.waiting' ? [event.step] : []));
  expect(waits).toEqual(['a', 'b']);
});

test('a run that is killed and suspended again while it waits, waits for the rest [DS-RUN-14]', async () => {
  const waitMs = 3000;
  const first = await openDesk(spec);
  await first.runtime.close();
  const pipeline = writePipeline(
    first.folder,
    `steps: [{id: before, tool: note}, {id: a, wait: ${waitMs}ms}, {id: after, tool: note}]\n`,
  );
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'runner.ts'), first.config, pipeline]);
  const ended = once(child, 'exit');
  await expect.poll(() => first.lines('notes').length, { timeout: 20_000, interval: 10 }).toBe(1);
  const beganAt = statSync(join(first.folder, 'notes')).mtimeMs;
  await sleep(400);
  child.kill('SIGKILL');
  await ended;
  const desk = await openAt(first.config);
  const [run] = await desk.runtime.runs.list();
  const id = run?.run_id ?? '';
  const stopped = desk.runtime.runs.resume(id, { signal: AbortSignal.timeout(100) });
  await expect(stopped).rejects.toMatchObject({ code: 'ABORTED', details: { run_id: id } });
  await sleep(beganAt + waitMs - 800 - Date.now());
  const resumedAt = Date.now();
  expect(await desk.runtime.runs.resume(id)).toMatchObject({ status: 'completed' });
  const over = statSync(join(desk.folder, 'notes')).mtimeMs - beganAt;
  expect(over).toBeGreaterThanOrEqual(waitMs);
  expect(over).toBeLessThan(Math.max(waitMs, resumedAt - beganAt) + 1200);
  expect(desk.lines('notes')).toHaveLength(2);
});

test('a wait that exceeds the time limit of its group ends with it', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run('steps: [{id: g, timeout_ms: 100, steps: [{id: a, wait: 1h}]}]\n');
  expect(end.error?.code).toBe('STEP_TIMEOUT');
});

describe('invalid waits', () => {
  test.each(['soon', '', -1, '10 minutes', true, '2027-01-31T08:00:00Z'])(
    '%j fails the step',
    async (pause) => {
      const desk = await openDesk(spec);
      const end = await desk.run('steps: [{id: a, wait: "${input.pause}"}]\n', { pause });
      expect(end.error?.code).toBe('EXPRESSION_FAILED');
    },
  );

  test.each([
    ['{id: a, wait: soon}', 'steps[0].wait: must be a duration such as 30s, 10m or 36h'],
    ['{id: a, wait: 5}', 'steps[0].wait: must be'],
    ['{id: a, wait: {until: "2027-01-31"}}', 'steps[0].wait.until: is not a valid time'],
    ['{id: a, wait: {till: "2027-01-31T08:00:00Z"}}', 'steps[0].wait.till: unknown key'],
    [
      '{id: a, wait: 5s, retry: {max: 1}}',
      'steps[0].retry: belongs to a step with tool, eval, chat or pipeline',
    ],
  ])('%s is refused', (step, problem) => {
    expect(problemsOfSteps(step).join('\n')).toContain(problem);
  });
});
