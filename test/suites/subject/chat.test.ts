import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask as askCheck } from '../../builtins/checks/asking.ts';
import { hookRecording } from '../../pipelines/desk.ts';
import { ask, openBench, steady, writePipeline } from './bench.ts';

const provider = (responses: string) => `
providers:
  - id: main
    type: mock
    model: scripted
    pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}
    additional_config:
      responses:
${responses.trim().replaceAll(/^/gm, '        ')}
  - {id: free, type: mock, model: other, additional_config: {responses: [{text: 'For free.', repeat: true, usage: {input_tokens: 1, output_tokens: 2}}]}}
`;

const tools = `
tools:
  echo: {description: Says it again., exec: {command: $bin/echo-args}}
  approved: {exec: {command: $bin/echo-args}, approval: {message: 'May it?'}}
`;

const twice = `
- {tool_calls: [{name: echo, args: {q: one}}, {name: echo, args: {q: two}}], usage: {input_tokens: 100, output_tokens: 20}}
- {text: 'It is so.', usage: {input_tokens: 200, output_tokens: 30}}
`;

const roles = (messages: readonly { readonly role: string; readonly content: string }[]) =>
  messages.map(({ role, content }) => `${role}: ${content}`);

test('a chat answers a case with its tools, and reports their use', async () => {
  const bench = await openBench(provider(twice) + tools);
  const subject = bench.subject(`
chat:
  provider: main
  system: You serve \${case.city}.
  messages: \${case.question}
  tools: [echo]
`);
  const { messages, result, ...answer } = await ask(subject, { city: 'Oslo', question: 'Is it so?' });
  expect(steady({ ...answer, messages: [], result: null })).toEqual({
    text: 'It is so.',
    result: null,
    messages: [],
    cached: false,
    attempts: 1,
    tool_calls: [
      { name: 'echo', args: { q: 'one' }, result: '{"q":"one"}', error: '', index: 1 },
      { name: 'echo', args: { q: 'two' }, result: '{"q":"two"}', error: '', index: 1 },
    ],
    metadata: {
      input_tokens: 300,
      output_tokens: 50,
      total_tokens: 350,
      cost_usd: 0.4,
      provider: 'main',
      model: 'scripted',
    },
  });
  expect(roles(messages)).toEqual([
    'user: Is it so?',
    'assistant: ',
    'tool: {"q":"one"}',
    'tool: {"q":"two"}',
    'assistant: It is so.',
  ]);
  expect(result).toMatchObject({ text: 'It is so.', rounds: 2, finish_reason: 'stop' });
});

test('no chat is stored, and session hooks receive its start and end', async () => {
  const hooks = `hooks:
  diary: {hook: session, mode: observe, ${hookRecording('record-event', 'diary')}}
`;
  const bench = await openBench(provider('- {text: Hello., repeat: true}') + hooks);
  const subject = bench.subject('chat: {provider: main, messages: Hello.}');
  await ask(subject, {});
  await expect.poll(() => bench.count('diary')).toBe(3);
  expect(existsSync(join(bench.folder, '.signalbox'))).toBe(false);
});

test.each([
  {
    title: 'a model that fails',
    responses: '- {error: {status: 400, message: no such model}}',
    error: /^PROVIDER_FAILED: .*no such model/,
  },
  {
    title: 'an answer that a guardrail withholds',
    responses: '- {text: A secret.}',
    more: ', guardrails: [{eval: refuses, threshold: {min_score: 1}}]',
    error: /^THRESHOLD_MISSED: .*refuses/,
  },
  {
    title: 'a tool that waits for a person',
    responses: '- {tool_calls: [{name: approved, args: {}}]}',
    more: ', tools: [approved]',
    error: /^PENDING_EXPIRED: tool "approved" needs an approval, .*May it\?/,
  },
])('$title gives no answer', async ({ responses, more = '', error }) => {
  const evals = 'evals:\n  refuses: {command: $bin/eval-score, args: ["0"]}\n';
  const bench = await openBench(provider(responses) + tools + evals);
  const subject = bench.subject(`chat: {provider: main, messages: Hello.${more}}`);
  const answer = steady(await ask(subject, {}));
  expect(answer).toMatchObject({ text: '', result: null, error: expect.stringMatching(error) });
  expect(bench.events.filter(({ type }) => type === 'pending.opened')).toEqual([]);
});

test('a pipeline answers with its output and the usage of all its chats', async () => {
  const bench = await openBench(provider(twice) + tools);
  writePipeline(
    bench.folder,
    `
input: {type: object, required: [question]}
steps:
  - id: zero
    chat: {provider: free, messages: Hello.}
  - id: first
    chat: {provider: main, messages: '\${input.question}', tools: [echo]}
  - id: both
    parallel:
      - id: second
        for_each: '\${[1]}'
        chat: {provider: free, messages: 'And then?'}
output: {reply: '\${steps.first.text} \${steps.second.items[0].text}', id: 12345678901234567890}
`,
  );
  const subject = bench.subject("pipeline: demo.pipeline.yaml\ninput: {question: '${case.question}'}");
  const { messages, tool_calls, ...answer } = await ask(subject, { question: 'Is it so?' });
  expect(JSON.stringify(answer.result)).toBe('{"reply":"It is so. For free.","id":12345678901234567890}');
  expect(answer.text).toBe('{"reply":"It is so. For free.","id":12345678901234567890}');
  expect(roles(messages)).toEqual([
    'user: Hello.',
    'assistant: For free.',
    'user: Is it so?',
    'assistant: ',
    'tool: {"q":"one"}',
    'tool: {"q":"two"}',
    'assistant: It is so.',
    'user: And then?',
    'assistant: For free.',
  ]);
  expect(tool_calls.map(({ index }) => index)).toEqual([3, 3]);
  // One of the two has no price, so the sum is unknown. There is no single model.
  expect(steady({ ...answer, messages: [], tool_calls: [] }).metadata).toEqual({
    input_tokens: expect.any(Number),
    output_tokens: expect.any(Number),
    total_tokens: expect.any(Number),
  });
});

test.each([
  { title: 'an output that is a text', output: '${input.a}', answer: { text: 'one', result: 'one' } },
  { title: 'an output that is null', output: '${null}', answer: { text: 'null', result: null } },
  {
    title: 'a step that fails',
    output: '${input.b}',
    answer: { text: '', result: null, error: /./ },
  },
])('$title is judged as that', async ({ output, answer: { error, ...answer } }) => {
  const bench = await openBench(tools);
  writePipeline(bench.folder, `steps: [{id: a, tool: echo, args: {q: 1}}]\noutput: ${output}\n`);
  const made = steady(
    await ask(bench.subject("pipeline: demo.pipeline.yaml\ninput: {a: '${case.a}'}"), { a: 'one' }),
  );
  expect(made).toMatchObject({ ...answer, ...(error && { error: expect.stringMatching(error) }) });
});

test('an input that does not fit is a fault of its case', async () => {
  const bench = await openBench(tools);
  writePipeline(bench.folder, 'input: {type: object, required: [a]}\nsteps: [{id: a, tool: echo}]\n');
  const made = steady(await ask(bench.subject('pipeline: demo.pipeline.yaml'), {}));
  expect(made).toMatchObject({ text: '', error: expect.stringMatching(/^INPUT_INVALID: /) });
});

test('a signal ends a chat, and its session', async () => {
  const hooks = `hooks:
  diary: {hook: session, mode: observe, ${hookRecording('record-event', 'diary')}}
`;
  const bench = await openBench(provider('- {text: Late., delay_ms: 60000}') + hooks);
  const ending = new AbortController();
  const asked = ask(bench.subject('chat: {provider: main, messages: Hello.}'), {}, { signal: ending.signal });
  await expect.poll(() => bench.events.some(({ type }) => type === 'step.started')).toBe(true);
  ending.abort();
  await expect(asked).rejects.toMatchObject({
    code: 'ABORTED',
    message: expect.not.stringContaining('run_'),
  });
  await expect.poll(() => bench.count('diary')).toBe(2);
});

test('a budget check is unscored if the provider reports no usage', async () => {
  const bench = await openBench(provider('- {text: Hello.}'));
  const subject = bench.subject('chat: {provider: main, messages: Hello.}');
  const { metadata } = await ask(subject, {});
  expect(metadata).toEqual({ provider: 'main', model: 'scripted', latency_ms: expect.any(Number) });
  const context = { metadata };
  const params = { max_cost_usd: 1, max_input_tokens: 10, max_output_tokens: 10, max_total_tokens: 20 };
  const outcomes = Object.entries(params).map(([name, most]) =>
    askCheck('cost_budget', { params: { [name]: most }, context }),
  );
  expect((await Promise.all(outcomes)).map(({ status }) => status)).toEqual(Array(4).fill('unscored'));
});
