import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OperationFinished, RuntimeEvent, RuntimeOptions } from '../../../src/index.ts';
import { allOf } from '../../process/harness.ts';
import { pipeline, suite } from '../../workspace.ts';
import { open } from '../open.ts';
import { endsIn, startsIn } from './tracked.ts';

const usage = 'usage: {input_tokens: 1000, output_tokens: 500}';

const spec = `
tools: {echo: {exec: {command: $bin/echo-args}}, queued: {exec: {command: $bin/echo-args, concurrency: 1}}}
evals: {score: {command: $bin/eval-score}}
hooks:
  toll: {command: $bin/allow.sh, hook: tool, phases: [before_execution]}
  told: {command: $bin/allow.sh, hook: tool, phases: [before_execution], mode: shadow}
  seen: {command: $bin/record-event, env: [RECORD_FILE=record], hook: tool, phases: [after_execution], mode: observe}
  reads: {command: $bin/allow.sh, hook: provider}
providers:
  - {id: priced, type: mock, model: large, pricing: {input_cost_per_1k: 0.003, output_cost_per_1k: 0.015}, additional_config: {responses: [{text: hello there you, ${usage}, repeat: true}]}}
  - {id: plain, type: mock, model: small, additional_config: {responses: [{text: hello, repeat: true}]}}
  - {id: broken, type: mock, model: none, fallback: [plain], additional_config: {responses: [{error: {status: 500, message: no}, repeat: true}]}}
`;

const chat = (provider: string, more = '') =>
  pipeline(
    `steps: [{id: answer, chat: {provider: ${provider}, messages: [{role: user, content: hi}]${more}}}]`,
    provider,
  );

const files = {
  'whole.pipeline.yaml': chat('priced'),
  'streamed.pipeline.yaml': chat('priced', ', stream: windowed'),
  'fallback.pipeline.yaml': chat('broken'),
  'outer.pipeline.yaml': pipeline(
    'steps: [{id: first, tool: echo}, {id: inner, pipeline: inner.pipeline.yaml}]',
    'outer',
  ),
  'inner.pipeline.yaml': pipeline('steps: [{id: second, tool: echo}]', 'inner'),
  'cases.suite.yaml': suite(`cases: [{id: one}]
repeat: {epochs: 2}
case: {id: '\${case.id}', content: hi}
evals: [{id: quality, type: score, params: {score: 0.25}}]
`),
};

async function endsOf(name: string): Promise<readonly OperationFinished[]> {
  const { runtime, events, folder } = await open(spec, {}, files);
  await runtime.run(join(folder, `${name}.pipeline.yaml`), {});
  return endsIn(events).filter(({ operation }) => operation === 'model');
}

const answered = {
  ...{ operation: 'model', name: 'large', provider: 'priced', status: 'ok', finishReason: 'stop' },
  ...{ inputTokens: 1000, outputTokens: 500, costUsd: 0.0105 },
  answeredBy: { provider: 'priced', model: 'large' },
};

test('a model call has its tokens, its cost and why it ended', async () => {
  const [call, ...others] = await endsOf('whole');
  expect(call).toMatchObject({ ...answered, isStreamed: false });
  expect(call).not.toHaveProperty('firstChunkMs');
  expect(others).toEqual([]);
});

test('a streamed call also has the time to its first part, within its duration', async () => {
  const [call] = await endsOf('streamed');
  expect(call).toMatchObject({ ...answered, isStreamed: true, firstChunkMs: expect.any(Number) });
  const { firstChunkMs = 0, durationMs = 0, queueMs = 0 } = call ?? {};
  expect(firstChunkMs).toBeLessThanOrEqual(durationMs + queueMs);
});

test('each provider of a fallback is an operation of its own', async () => {
  expect(await endsOf('fallback')).toMatchObject([
    { name: 'none', provider: 'broken', status: 'failed', error: { code: 'PROVIDER_FAILED' } },
    { name: 'small', provider: 'plain', status: 'ok', costUsd: 0 },
  ]);
});

test.each([false, true])(
  'a request has its model, provider, tokens and status; streamed: %s',
  async (stream) => {
    const { runtime, events } = await open(spec);
    const body = JSON.stringify({
      ...{ model: 'large', stream, messages: [{ role: 'user', content: 'hi' }] },
      ...(stream && { stream_options: { include_usage: true } }),
    });
    const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body });
    await (await runtime.gateway().fetch(request)).text();
    expect(endsIn(events)).toMatchObject([
      {
        ...{
          operation: 'gateway',
          name: 'chat',
          status: 'ok',
          httpStatus: 200,
          model: 'large',
          isStreamed: stream,
        },
        ...{ inputTokens: 1000, outputTokens: 500, costUsd: 0.0105 },
        answeredBy: { provider: 'priced', model: 'large' },
        ...(stream && { firstChunkMs: expect.any(Number) }),
      },
    ]);
  },
);

test('an eval and a case have their scores, and each epoch is a case', async () => {
  const { runtime, events, folder } = await open(spec, {}, files);
  await runtime.evals.run(join(folder, 'cases.suite.yaml'));
  const ends = endsIn(events);
  expect(ends.filter(({ operation }) => operation === 'eval')).toMatchObject([
    { name: 'score', eval: 'quality', score: 0.25, passed: false },
    { name: 'score', eval: 'quality', score: 0.25, passed: false },
  ]);
  const cases = ends.flatMap((end) => (end.operation === 'case' ? [end] : []));
  expect(cases.map(({ epoch }) => epoch).toSorted()).toEqual([1, 2]);
  expect(cases[0]).toMatchObject({ name: 'demo', case: 'one', score: 0.25, passed: false, status: 'ok' });
});

test('an operation and the decisions in it name the run and the step', async () => {
  const { runtime, events, folder } = await open(spec, {}, files);
  const { run_id } = await runtime.run(join(folder, 'outer.pipeline.yaml'), {});
  await runtime.close();
  const tools = startsIn(events).filter(({ operation }) => operation === 'tool');
  const [first, second] = tools;
  expect(first).toMatchObject({ run: run_id, step: 'first/call' });
  expect(second).toMatchObject({ step: 'second/call' });
  expect(second?.run).not.toBe(run_id);
  const [outer, inner] = startsIn(events).filter(({ operation }) => operation === 'pipeline');
  expect(inner).toMatchObject({ parent: outer?.id, run: second?.run });
  const places = (mode: string) =>
    allOf(events, 'decision').flatMap(({ operation, run, step, ...decision }) =>
      decision.mode === mode ? [{ operation, run, step }] : [],
    );
  const expected = tools.map(({ id, run, step }) => ({ operation: id, run, step }));
  // Shadows decide later, in a queue.
  expect({ filter: places('filter'), shadow: places('shadow') }).toEqual({
    filter: expected,
    shadow: expected,
  });
  const observed = allOf(events, 'call.finished').filter(({ name }) => name === 'seen');
  expect(observed.map(({ operation }) => operation)).toEqual(tools.map(({ id }) => id));
});

test('a decision that is made later belongs to its own call, also if many calls come at once', async () => {
  const { runtime, events } = await open(spec);
  await Promise.all(Array.from({ length: 10 }, () => runtime.tools.call('echo')));
  await runtime.close();
  const calls = new Map(
    startsIn(events).flatMap((start) => (start.operation === 'tool' ? [[start.call, start.id]] : [])),
  );
  const decisions = allOf(events, 'decision');
  expect(decisions).toHaveLength(20);
  expect(decisions.map(({ operation }) => operation)).toEqual(decisions.map(({ call }) => calls.get(call)));
});

test('the readers of a run get no event of operations and decisions', async () => {
  const { runtime, folder } = await open(spec, {}, files);
  const run = runtime.run(join(folder, 'inner.pipeline.yaml'), {});
  const types: string[] = [];
  for await (const { type } of run) types.push(type);
  expect(types).toEqual(['run.started', 'step.started', 'step.finished', 'run.finished']);
});

test('a wait for a slot is queue time, and not a part of the duration', async () => {
  const { runtime, events } = await open(spec);
  const before = Date.now();
  const since = performance.now();
  await Promise.all([1, 2, 3].map(() => runtime.tools.call('queued')));
  const took = performance.now() - since;
  const ends = endsIn(events);
  expect(Math.max(...ends.map(({ queueMs }) => queueMs))).toBeGreaterThan(0);
  for (const { at, durationMs, queueMs } of ends) {
    expect(at).toBeGreaterThanOrEqual(before);
    expect(durationMs + queueMs).toBeLessThanOrEqual(took);
  }
});

test('messages of errors show no secret', async () => {
  const env = { ...process.env, DESK_KEY: 'sk-very-secret-value' };
  const options: RuntimeOptions = { env };
  const { runtime, events } = await open(
    `tools: {leaks: {exec: {command: sh, args: ["-c", 'echo "{\\"error\\": \\"key $DESK_KEY\\"}"'], env: [DESK_KEY]}}}`,
    options,
  );
  await runtime.tools.call('leaks');
  expect(endsIn(events)).toMatchObject([{ status: 'failed', error: { code: 'TOOL_ERROR' } }]);
  expect(JSON.stringify(events)).not.toContain('very-secret');
});

test('the log has no line of an operation', async () => {
  const lines: string[] = [];
  const log = { write: (text: string) => void lines.push(text), isTerminal: false };
  const { runtime } = await open(spec, { log, logLevel: 'debug', logFormat: 'json' } as RuntimeOptions);
  await runtime.tools.call('echo');
  await runtime.close();
  expect(lines.join('')).toContain('tool echo: ok');
  expect(lines.join('')).not.toContain('operation.');
});

test('a listener receives the types that it names, and no other', async () => {
  const seen: RuntimeEvent[] = [];
  const types = ['operation.finished', 'decision'] as const;
  const { runtime } = await open(spec, { onEvent: { types, take: (event) => void seen.push(event) } });
  await runtime.tools.call('echo');
  expect(new Set(seen.map(({ type }) => type))).toEqual(new Set(types));
});
