import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openFake, type Turn, type wires } from '../models/wire/fake.ts';
import { open } from '../runtime/open.ts';

/** Every digit must survive the way from the model to the tool and back. */
const big = 12_345_678_901_234_567_890n;

const script: readonly Turn[] = [
  {
    text: 'Let me see.',
    toolCalls: [
      { name: 'echo', args: { city: 'Oslo', stamp: big } },
      { name: 'echo', args: { city: 'Rome' } },
    ],
    usage: { input: 20, output: 10 },
  },
  { text: ['It is ', 'colder in ', 'Oslo.'], usage: { input: 40, output: 6 } },
];

const apis: readonly { type: string; wire: keyof typeof wires }[] = [
  { type: 'openai-compatible', wire: 'openai' },
  { type: 'openai', wire: 'openai' },
  { type: 'claude', wire: 'anthropic' },
  { type: 'gemini', wire: 'gemini' },
];

const modes = [
  { mode: 'in one piece', stream: '' },
  { mode: 'as a stream that is held', stream: ', stream: hold' },
  { mode: 'as a stream behind a window', stream: ', stream: windowed' },
];

const cells = apis.flatMap((api) => modes.map((mode) => ({ ...api, ...mode })));

test.each(cells)('$type runs a loop of two rounds, answered $mode', async ({ type, wire, stream }) => {
  const fake = await openFake(wire, script);
  onTestFinished(() => fake.close());
  const { runtime, events, folder } = await open(`
providers:
  - {id: main, type: ${type}, model: test-model, base_url: "${fake.url}", credential: {credential_env: DESK_KEY}}
state_store: {type: memory}
tools:
  echo: {input_schema: {type: object, required: [city]}, exec: {command: $bin/echo-args}}
hooks:
  audit: {hook: provider, mode: observe, command: $bin/allow.sh}
`);
  const pipeline = join(folder, 'loop.pipeline.yaml');
  writeFileSync(
    pipeline,
    `apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: loop}
spec:
  runtime: ./runtime.yaml
  steps:
    - {id: answer, chat: {provider: main, system: Be brief., messages: Where is it colder?, tools: [echo]${stream}}}
  output: "\${steps.answer}"
`,
  );
  const document = await runtime.run(pipeline);
  expect(document).toMatchObject({
    status: 'completed',
    output: {
      status: 'ok',
      text: 'It is colder in Oslo.',
      rounds: 2,
      finish_reason: 'stop',
      usage: { input_tokens: 60, output_tokens: 16 },
      tool_calls: [
        { name: 'echo', status: 'ok', args: { city: 'Oslo' } },
        { name: 'echo', status: 'ok', args: { city: 'Rome' }, result: '{"city":"Rome"}', error: '' },
      ],
    },
  });
  expect(fake.requests).toHaveLength(2);
  expect(fake.requests[0]?.text).toContain('Be brief.');
  // Once as the model's arguments, once as the tool's result.
  expect(fake.requests[1]?.text.match(new RegExp(String(big), 'g'))).toHaveLength(2);
  // The second request carries both results, each under its call.
  expect(fake.requests[1]?.text.match(/Rome/g)?.length).toBeGreaterThanOrEqual(2);
  const text = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
  expect(text).toBe(stream === '' ? '' : 'Let me see.It is colder in Oslo.');
});
