import { expect, onTestFinished, test } from 'vitest';
import { type StepDetails, stringifyJson } from '../../src/index.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { openFake } from '../models/wire/fake.ts';
import { openDesk, writePipeline } from './desk.ts';

const spec = `
providers:
  - id: main
    type: mock
    model: scripted
    pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}
    additional_config:
      responses:
        - {tool_calls: [{name: echo, args: {n: 12345678901234567890}}]}
        - {text: It is so.}
tools:
  echo: {exec: {command: $bin/echo-args}}
  fail: {exec: {command: $bin/answers, args: ['{"error": "no such order"}']}}
hooks:
  guard:
    command: $bin/allow-metadata.sh
    hook: tool
    phases: [before_execution]
`;

async function stepsOf(steps: AsyncIterable<StepDetails>): Promise<StepDetails[]> {
  const all: StepDetails[] = [];
  for await (const step of steps) all.push(step);
  return all;
}

const took = expect.any(Number);
const at = expect.stringMatching(/^\d{4}-.*Z$/);

test('a run shows the result of each step, and which inner one failed [DS-SHOW-01]', async () => {
  const desk = await openDesk(spec);
  const { run_id } = await desk.run(
    `
steps:
  - {id: ask, chat: {provider: main, messages: "\${input.question}", tools: [echo]}}
  - id: mails
    for_each: [1, 2]
    steps:
      - {id: compose, tool: echo, args: {n: "\${item}"}}
      - {id: send, if: "\${item == 2}", tool: fail, args: {to: "\${steps.compose.result.n}"}}
`,
    { question: 'Is it so?' },
  );
  const steps = await stepsOf(desk.runtime.runs.steps(run_id));
  expect(steps.map(({ step, kind, status }) => [step, kind, status].join(' '))).toEqual([
    'ask chat ok',
    'mails[0]/compose tool ok',
    'mails[0]/send tool skipped',
    'mails[0] steps ok',
    'mails[1]/compose tool ok',
    'mails[1]/send tool failed',
    'mails[1] steps failed',
    'mails for_each failed',
  ]);
  const call = { what: 'tool call', attempts: 1, duration_ms: took };
  const [ask] = steps;
  const asked = { what: 'model call', status: 'ok', attempts: 1, duration_ms: took };
  expect(ask).toMatchObject({
    work: [
      {
        ...asked,
        path: 'ask/attempt-1/round-1',
        finish_reason: 'tool_use',
        input_tokens: null,
        cost_usd: null,
      },
      {
        ...call,
        path: 'ask/attempt-1/round-1/call-1',
        tool: 'echo',
        status: 'ok',
        metadata: expect.anything(),
      },
      { ...asked, path: 'ask/attempt-1/round-2', message: { content: 'It is so.' } },
    ],
    view: { text: 'It is so.', messages: [{ role: 'user', content: 'Is it so?' }, {}, {}, {}] },
  });
  expect(stringifyJson(ask)).toContain('"args":{"n":12345678901234567890}');
  expect(steps[5]).toMatchObject({
    step: 'mails[1]/send',
    error: { code: 'TOOL_ERROR', message: expect.stringContaining('no such order') },
    ended_at: at,
    work: [{ ...call, path: 'mails[1]/send/call', tool: 'fail', args: { to: 2 }, status: 'failed' }],
  });
  expect(steps.at(-1)).toMatchObject({ failed_at: 'mails[1]/send', error: { code: 'TOOL_ERROR' } });
  const { totals } = await desk.runtime.runs.show(run_id);
  expect(totals).toMatchObject({
    steps: 8,
    tool_calls: 4,
    model_calls: 2,
    unmeasured_calls: 2,
    cost_usd: null,
  });
  // An id matches the step in every item; a path matches one.
  const sent = await stepsOf(desk.runtime.runs.steps(run_id, { step: 'send' }));
  const one = await stepsOf(desk.runtime.runs.steps(run_id, { step: 'mails[1]' }));
  expect([sent, one].map((list) => list.map(({ step }) => step))).toEqual([
    ['mails[0]/send', 'mails[1]/send'],
    ['mails[1]/compose', 'mails[1]/send', 'mails[1]'],
  ]);
});

test('a result of megabytes is read whole only where it is shown whole [DS-SHOW-02]', async () => {
  const desk = await openDesk(spec);
  const text = 'é'.repeat(3_000_000);
  const { run_id } = await desk.run('steps: [{id: one, tool: echo, args: "${input}"}]\n', { text });
  const [short] = await stepsOf(desk.runtime.runs.steps(run_id, { maxCharacters: 200 }));
  expect(stringifyJson(short).length).toBeLessThan(2_000);
  expect(stringifyJson(short)).toContain('(3000002 characters)');
  const [whole] = await stepsOf(desk.runtime.runs.steps(run_id));
  expect(stringifyJson(whole?.view)).toContain(text);
});

test('steps are read a page at a time [DS-SHOW-02]', async () => {
  const desk = await openDesk(spec);
  const { run_id } = await desk.run(
    'steps: [{id: many, for_each: "${input.items}", steps: [{id: x, if: "${false}", tool: echo}]}]\n',
    {
      items: Array.from({ length: 700 }, (_, index) => index),
    },
  );
  const paths = (await stepsOf(desk.runtime.runs.steps(run_id))).map(({ step }) => step);
  expect(paths).toHaveLength(1_401);
  expect(paths.slice(0, 3)).toEqual(['many[0]/x', 'many[0]', 'many[1]/x']);
  expect((await desk.runtime.runs.show(run_id)).totals).toMatchObject({ steps: 1_401, tool_calls: 0 });
});

test('a run is running while a process executes it, and interrupted from then on [DS-SHOW-03]', async () => {
  const desk = await openDesk(spec);
  const { run_id } = await desk.run('steps: [{id: one, tool: echo}]\n');
  const found = await desk.runtime.runs.list({ status: 'completed' });
  const store = await openSqliteStore(`${desk.folder}/.signalbox/state.db`);
  const known = await store.findRun(run_id);
  if (known === undefined) throw new Error('there is no run');
  await store.createRun({ ...known, id: 'run_dead' });
  const claim = await store.claimRun('run_dead');
  const seen = async () => (await desk.runtime.runs.list()).map((run) => `${run.run_id} ${run.status}`);
  expect([found.length, await seen()]).toEqual([1, ['run_dead running', `${run_id} completed`]]);
  await claim?.release();
  expect(await seen()).toEqual(['run_dead cut_off', `${run_id} completed`]);
  expect(await desk.runtime.runs.list({ status: 'running' })).toEqual([]);
  expect(await desk.runtime.runs.list({ status: 'cut_off', limit: 1 })).toMatchObject([
    { run_id: 'run_dead' },
  ]);
  await store.close();
});

test('tokens and cost are shown if the provider reports them and has a price [DS-SHOW-01]', async () => {
  const fake = await openFake('openai', [{ text: 'Hello.' }, { fault: { kind: 'status', status: 400 } }]);
  onTestFinished(() => fake.close());
  const desk = await openDesk(`
providers:
  - {id: main, type: openai-compatible, model: m, base_url: "${fake.url}", pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}}
`);
  const { run_id } = await desk.run(
    'steps: [{id: hello, chat: {provider: main, messages: Hi}}, {id: again, chat: {provider: main, messages: Hi}}]\n',
  );
  const steps = await stepsOf(desk.runtime.runs.steps(run_id));
  const { totals } = await desk.runtime.runs.show(run_id);
  const [call] = steps[0]?.work ?? [];
  const { input_tokens: input, output_tokens: output } = totals;
  expect(input).toBeGreaterThan(0);
  expect(call).toMatchObject({ input_tokens: input, output_tokens: output });
  expect(totals).toMatchObject({ cost_usd: (input + 2 * output) / 1000, model_calls: 2, unpriced_calls: 1 });
  expect(steps[1]).toMatchObject({ status: 'failed', work: [{ error: { code: 'PROVIDER_FAILED' } }] });
});

const inner =
  'steps: [{id: one, tool: echo, args: {n: "${input.n}"}}]\noutput: {n: "${steps.one.result.n}"}\n';
const endings = [
  {
    title: 'groups, branches, loops and a run below',
    status: 'completed',
    steps: `
  - {id: slow, parallel: [{id: late, wait: 60ms}, {id: soon, tool: echo, args: {n: 1.50}}]}
  - {id: each, for_each: [1, 2, 3], concurrency: 3, steps: [{id: odd, if: "\${item != 2}", tool: echo, args: {n: "\${item}"}}]}
  - {id: turns, while: {condition: "\${index < 2}", max: 3}, tool: echo, args: {n: 1}}
  - {id: below, pipeline: ./inner.pipeline.yaml, input: {n: 12345678901234567890}}
output: {long: "${'x'.repeat(1_500)}\${steps.below.output.n}", again: "${'x'.repeat(1_500)}\${steps.below.output.n}"}`,
  },
  {
    title: 'a chat',
    status: 'completed',
    steps: '\n  - {id: ask, chat: {provider: main, messages: "Is it so?", tools: [echo]}}',
  },
  {
    title: 'a failure that is continued',
    status: 'completed',
    steps:
      '\n  - {id: bad, tool: fail, args: {}, on_error: continue}\n  - {id: good, tool: echo, args: {n: 1}}',
  },
  {
    title: 'a failure that ends it',
    status: 'failed',
    steps: '\n  - {id: good, tool: echo, args: {n: 1}}\n  - {id: bad, tool: fail, args: {}}',
  },
  {
    title: 'more steps than are held in memory',
    status: 'completed',
    steps:
      '\n  - {id: each, for_each: "${input.items}", concurrency: 16, steps: [{id: no, if: "${1 == 2}", tool: echo}]}',
  },
];

test.each(endings)(
  'a new run returns the document that a later read returns: $title',
  async ({ status, steps }) => {
    const desk = await openDesk(spec);
    writePipeline(desk.folder, inner, 'inner');
    const document = await desk.run(`steps:${steps}\n`, { items: Array.from({ length: 600 }, (_, n) => n) });
    expect(document.status).toBe(status);
    expect(stringifyJson(document)).toBe(stringifyJson(await desk.runtime.runs.document(document.run_id)));
  },
);
