import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringifyJson } from '../../src/index.ts';
import { type Fake, openFake, type Turn, type wires } from '../models/wire/fake.ts';
import { type Desk, hookRecording, openDesk, recording } from './desk.ts';

const kinds = [
  { title: 'openai', wire: 'openai', fields: 'type: openai' },
  {
    title: 'openai (Responses)',
    wire: 'responses',
    fields: 'type: openai, additional_config: {api_mode: responses}',
  },
  { title: 'anthropic', wire: 'anthropic', fields: 'type: anthropic', model: 'claude-sonnet-4-5' },
  { title: 'gemini', wire: 'gemini', fields: 'type: gemini' },
  { title: 'openai-compatible', wire: 'openai', fields: 'type: openai-compatible' },
] as const satisfies readonly Kind[];

interface Kind {
  readonly title: string;
  readonly wire: keyof typeof wires;
  readonly fields: string;
  readonly model?: string;
}

interface Opened {
  readonly desk: Desk;
  readonly fake: Fake;
}

async function open(kind: Kind, script: readonly Turn[], more = ''): Promise<Opened> {
  const fake = await openFake(kind.wire, script);
  onTestFinished(() => fake.close());
  const model = kind.model ?? 'm';
  const desk = await openDesk(`
state_store: {type: sqlite}
tools:
  look: {exec: ${recording('answers', 'looks', '{"result": "rainy"}')}}
  json: {exec: {command: $bin/answers, args: ['{"result": "j"}']}}
providers:
  - {id: main, model: ${model}, base_url: "${fake.url}", credential: {api_key: secret-key-1}, ${kind.fields}}
${more}
`);
  return { desk, fake };
}

const closed =
  '{type: object, additionalProperties: false, required: [city, days], properties: {city: {type: string}, days: {type: integer}}}';
const compatible: Kind = kinds[4];

function chat(more = '', schema = closed): string {
  return `
steps: [{id: answer, chat: {provider: main, messages: Where?, output: {schema: ${schema}}, ${more}}}]
output: \${steps.answer}
`;
}

const good = '{"city": "Graz", "days": 3}';

function schemaSent(fake: Fake, request = 0): string {
  const { response_format, text, output_config, generationConfig, tools } =
    fake.requests[request]?.body ?? {};
  return JSON.stringify({ response_format, text, output_config, generationConfig, tools });
}

test.each(kinds)(
  'the schema goes to $title, and a valid answer is an object [DS-ANSWER-01]',
  async (kind) => {
    const { desk, fake } = await open(kind, [{ text: good }]);
    const end = await desk.run(chat());
    expect(end.output).toMatchObject({
      status: 'ok',
      text: good,
      object: { city: 'Graz', days: 3 },
      rounds: 1,
    });
    expect(schemaSent(fake)).toContain('"days"');
    expect(JSON.stringify(fake.requests[0]?.body)).not.toContain('Answer with one JSON value');
  },
);

test('expressions see the object’s members, and the run ends with typed values', async () => {
  const { desk } = await open(compatible, [{ text: good }]);
  const end = await desk.run(
    chat().replace('output: ${steps.answer}', 'output: {next: "${steps.answer.object.days + 1}"}'),
  );
  expect(end.output).toEqual({ next: 4 });
});

test.each([
  { title: 'says all members, strictly', schema: closed, strict: true },
  {
    title: 'leaves members open, loosely',
    schema: '{type: object, properties: {city: {type: string}}}',
    strict: false,
  },
])('OpenAI enforces a schema that $title', async ({ schema, strict }) => {
  for (const kind of [kinds[0], compatible]) {
    const { desk, fake } = await open(kind, [{ text: good }]);
    expect(await desk.run(chat('', schema))).toMatchObject({ status: 'completed' });
    expect(fake.requests[0]?.body['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { strict },
    });
  }
});

test('an older model of Anthropic answers through a tool, with every digit', async () => {
  const kind = { ...kinds[2], model: 'claude-3-haiku-20240307' };
  const answer = { city: 'Graz', days: 9007199254740993n };
  const { desk, fake } = await open(kind, [{ toolCalls: [{ name: 'json', args: answer }] }]);
  const end = await desk.run(chat());
  expect(stringifyJson(end.output)).toContain('"object":{"city":"Graz","days":9007199254740993}');
  expect(fake.requests[0]?.body['tool_choice']).toMatchObject({ type: 'any' });
});

test.each([
  { method: 'none', format: undefined },
  { method: 'json', format: { type: 'json_object' } },
])(
  'an API that is declared `structured_output: $method` gets the schema in the prompt [DS-ANSWER-01]',
  async ({ method, format }) => {
    const kind = { ...compatible, fields: `type: openai-compatible, structured_output: ${method}` };
    const { desk, fake } = await open(kind, [{ text: `\`\`\`json\n${good}\n\`\`\`` }]);
    expect((await desk.run(chat('system: Be brief.'))).output).toMatchObject({ object: { days: 3 } });
    const body = fake.requests[0]?.body;
    expect(body?.['response_format']).toEqual(format);
    const [system] = (body?.['messages'] ?? []) as { role: string; content: string }[];
    expect(system).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/^Be brief\.\n\nAnswer with one JSON/),
    });
    expect(system?.content).toContain('"days"');
  },
);

test.each([
  {
    title: 'of no object',
    more: '',
    schema: '{type: array, items: {type: integer}}',
    text: '[1, 2]',
    object: [1, 2],
  },
  {
    title: 'beside a tool named json',
    more: 'tools: [json]',
    schema: closed,
    text: good,
    object: { days: 3 },
  },
])('a schema $title goes into the prompt', async ({ more, schema, text, object }) => {
  const { desk, fake } = await open(kinds[0], [{ text }]);
  expect((await desk.run(chat(more, schema))).output).toMatchObject({ object });
  expect(fake.requests[0]?.body['response_format']).toBeUndefined();
});

test('an answer that does not fit is repaired once, by a model call that is counted [DS-ANSWER-02]', async () => {
  const { desk, fake } = await open(compatible, [{ text: '{"city": 7}' }, { text: good }]);
  const { output } = await desk.run(chat());
  expect(output).toMatchObject({
    object: { days: 3 },
    rounds: 2,
    usage: { input_tokens: 20, output_tokens: 10 },
    messages: [{ role: 'user' }, { role: 'assistant', content: good }],
  });
  const messages = JSON.stringify(fake.requests[1]?.body['messages']);
  expect(messages).toContain('- city: must be string');
  expect(messages).toContain("must have required property 'days'");
});

const misfits = [
  { title: 'no JSON', text: 'Graz, I think.', says: 'it is not JSON' },
  { title: 'nothing', text: '', says: 'it is not JSON' },
  { title: 'JSON with words around it', text: `Here: ${good}`, says: 'it is not JSON' },
  {
    title: 'a value of the wrong type',
    text: '{"city": "Graz", "days": "3"}',
    says: 'days: must be integer',
  },
  {
    title: 'a key that stands twice',
    text: '{"city": "Graz", "days": 1, "days": 2}',
    says: 'days: duplicate key',
  },
  {
    title: 'a member too many',
    text: '{"city": "Graz", "days": 1, "__proto__": {"x": 1}}',
    says: '__proto__',
  },
];

test.each(misfits)(
  '$title fails the chat with the path, after one repair [DS-ANSWER-03]',
  async ({ text, says }) => {
    const { desk, fake } = await open(compatible, [{ text }]);
    const end = await desk.run(chat().replace('{id: answer,', '{id: answer, on_error: continue,'));
    expect(end.output).toMatchObject({
      status: 'failed',
      text: '',
      messages: [{ role: 'user' }],
      error: { code: 'OUTPUT_INVALID', message: expect.stringContaining(says) },
    });
    expect(end.output).not.toHaveProperty('object');
    expect(fake.requests).toHaveLength(2);
  },
);

test('the error quotes the start of the answer, without the secrets of the runtime', async () => {
  const { desk } = await open(compatible, [{ text: `The key is secret-key-1. ${'x'.repeat(200)}` }]);
  const { error } = await desk.run(chat());
  expect(error?.message).toMatch(/it starts with "The key is .*x…"$/);
  const { steps } = await desk.run(chat().replace('{id: answer,', '{id: answer, on_error: continue,'));
  expect(steps).toMatchObject([{ error: { message: error?.message } }]);
  expect(JSON.stringify([error, steps, desk.events])).not.toContain('secret-key-1');
});

test.each([
  { title: 'no round is left', more: 'max_rounds: 1', turn: { text: 'no' } },
  { title: 'the answer was cut off', more: '', turn: { text: '{"city', finish: 'length' } as const },
])('no repair happens when $title', async ({ more, turn }) => {
  const { desk, fake } = await open(compatible, [turn]);
  expect(await desk.run(chat(more))).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_INVALID' } });
  expect(fake.requests).toHaveLength(1);
});

test('tools are called first, and the answer after them fits', async () => {
  const { desk, fake } = await open(compatible, [
    { toolCalls: [{ name: 'look', args: {} }] },
    { text: good },
  ]);
  const { output } = await desk.run(chat('tools: [look], tool_choice: required'));
  expect(output).toMatchObject({ object: { city: 'Graz' }, rounds: 2, tool_calls: [{ name: 'look' }] });
  expect(fake.requests.map(({ body }) => body['tool_choice'])).toEqual(['required', 'auto']);
});

test('a filter that breaks the JSON of an answer leaves no object [DS-ANSWER-04]', async () => {
  const reply =
    '{"allow": true, "replace": {"message": {"role": "assistant", "content": "{\\"city\\": [hidden]}"}}}';
  const hook = `hooks:\n  redact: {hook: provider, phases: [after_call], ${hookRecording('answers', 'seen', reply)}}`;
  const { desk } = await open(compatible, [{ text: good }], hook);
  const end = await desk.run(chat());
  expect(end).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_INVALID' } });
  expect(JSON.stringify(end)).not.toContain('Graz');
  expect(desk.lines('seen')).toHaveLength(2);
});

test('the object comes from the answer as a filter changed it [DS-ANSWER-04]', async () => {
  const reply =
    '{"allow": true, "replace": {"message": {"role": "assistant", "content": "{\\"city\\": \\"[hidden]\\", \\"days\\": 3}"}}}';
  const hook = `hooks:\n  redact: {hook: provider, phases: [after_call], ${hookRecording('answers', 'seen', reply)}}`;
  for (const stream of ['', 'stream: windowed']) {
    const { desk } = await open(compatible, [{ text: good }], hook);
    const end = await desk.run(chat(stream));
    expect(JSON.stringify(end)).not.toContain('Graz');
    expect(end.output).toMatchObject({ object: { city: '[hidden]', days: 3 } });
  }
});

test('a denied answer stays denied, and no repair is requested', async () => {
  const hook =
    'hooks:\n  guard: {hook: provider, phases: [after_call], command: $bin/answers, args: [\'{"allow": false, "reason": "no"}\']}';
  const { desk, fake } = await open(compatible, [{ text: 'no' }], hook);
  expect(await desk.run(chat())).toMatchObject({ status: 'denied', error: { code: 'DENIED' } });
  expect(fake.requests).toHaveLength(1);
});

test('a stream sends nothing of an answer that does not fit', async () => {
  const { desk } = await open(compatible, [
    { text: ['{"ci', 'ty": 1}'] },
    { text: ['{"city": "Graz", ', '"days": 3}'] },
  ]);
  expect(await desk.run(chat('stream: windowed'))).toMatchObject({ status: 'completed' });
  const texts = desk.events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
  expect(texts).toEqual([good]);
});

test('an answer that a guardrail has not judged is not quoted, and a valid one is judged', async () => {
  const judged = 'guardrails: [{eval: contains, params: {patterns: [Graz]}}]';
  const { desk } = await open(compatible, [{ text: 'hush hush' }]);
  const { error } = await desk.run(chat(judged));
  expect(error).toMatchObject({ code: 'OUTPUT_INVALID' });
  expect(error?.message).not.toContain('hush');
  const { desk: other } = await open(compatible, [{ text: good.replace('Graz', 'Linz') }]);
  expect(await other.run(chat(judged))).toMatchObject({ error: { code: 'THRESHOLD_MISSED' } });
});

test('a resumed run has its earlier object [DS-ANSWER-05]', async () => {
  const script = [{ text: 'no' }, { text: good }, { fault: { kind: 'hang' } }, { text: 'Rain.' }] as const;
  const { desk, fake } = await open(compatible, script);
  const pipeline = `
steps:
  - {id: answer, chat: {provider: main, messages: Where?, output: {schema: ${closed}}}}
  - {id: more, chat: {provider: main, messages: "About \${steps.answer.object.city}?"}}
output: \${steps.answer.object}
`;
  const giveUp = new AbortController();
  const running = desk.run(pipeline, {}, { signal: giveUp.signal });
  running.catch(() => {});
  await expect.poll(() => fake.requests.length, { timeout: 15_000 }).toBe(3);
  giveUp.abort();
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  const [run] = await desk.runtime.runs.list();
  const again = await desk.reopen();
  expect(await again.runtime.runs.resume(run?.run_id ?? '')).toMatchObject({
    status: 'completed',
    output: { city: 'Graz', days: 3 },
  });
  expect(fake.requests).toHaveLength(4);
  expect(JSON.stringify(fake.requests[3]?.body['messages'])).toContain('About Graz?');
});

test('recursive schemas, and deep and long answers, are supported', async () => {
  const tree =
    '{type: object, required: [leaves], additionalProperties: false, properties: {leaves: {type: array, items: {$ref: "#"}}}}';
  const deep = (levels: number): string =>
    levels === 0 ? '{"leaves":[]}' : `{"leaves":[${deep(levels - 1)}]}`;
  const wide = `{"leaves":[${Array.from({ length: 100_000 }, () => '{"leaves":[]}').join(',')}]}`;
  const { desk } = await open(compatible, [{ text: wide }]);
  expect(
    await desk.run(
      chat('', tree).replace('output: ${steps.answer}', 'output: ${size(steps.answer.object.leaves)}'),
    ),
  ).toMatchObject({
    status: 'completed',
    output: 100_000,
  });
  const { desk: other } = await open(compatible, [{ text: deep(40) }]);
  expect(await other.run(chat('', tree))).toMatchObject({ status: 'completed' });
  const { desk: third } = await open(compatible, [{ text: deep(3000) }]);
  expect(await third.run(chat('', tree))).toMatchObject({ status: 'failed' });
});

test.each([
  {
    title: 'openai',
    kind: kinds[0],
    sent: {
      top_p: 0.5,
      stop: ['END'],
      seed: 7,
      tool_choice: { type: 'function', function: { name: 'look' } },
    },
    warned: [],
  },
  {
    title: 'anthropic',
    kind: kinds[2],
    sent: { top_p: 0.5, stop_sequences: ['END'], tool_choice: { type: 'tool', name: 'look' } },
    warned: ['its API does not support seed, so the call goes without it'],
  },
  {
    title: 'openai (Responses)',
    kind: kinds[1],
    sent: { top_p: 0.5, tool_choice: { type: 'function', name: 'look' } },
    warned: [
      'its API does not support seed, so the call goes without it',
      'its API does not support stop, so the call goes without it',
    ],
  },
])(
  '$title receives top_p, stop, seed and tool_choice, and ignored settings are reported once [DS-ANSWER-06]',
  async ({ kind, sent, warned }) => {
    const { desk, fake } = await open(kind, [{ toolCalls: [{ name: 'look', args: {} }] }, { text: 'Rain.' }]);
    const settings = 'tools: [look], tool_choice: {tool: look}, top_p: 0.5, stop: [END], seed: 7';
    expect(
      await desk.run(`steps: [{id: a, chat: {provider: main, messages: Hi., ${settings}}}]\n`),
    ).toMatchObject({
      status: 'completed',
    });
    expect(fake.requests[0]?.body).toMatchObject(sent);
    expect(fake.requests[1]?.body['tool_choice']).not.toEqual(fake.requests[0]?.body['tool_choice']);
    const notes = desk.events.flatMap((event) =>
      event.type === 'note' && event.name === 'main' ? [event.message] : [],
    );
    expect(notes.toSorted()).toEqual(warned);
  },
);

test('a model that may not call tools receives that setting', async () => {
  const { desk, fake } = await open(compatible, [{ text: 'Rain.' }]);
  const settings = 'tools: [look], tool_choice: none';
  await desk.run(`steps: [{id: a, chat: {provider: main, messages: Hi., ${settings}}}]\n`);
  expect(fake.requests[0]?.body['tool_choice']).toBe('none');
});

test.each([
  { title: 'has it as its answer', text: good, status: 'passed' },
  { title: 'has an error in place of what does not fit', text: 'Graz', status: 'failed' },
])('a suite whose subject answers with JSON $title', async ({ text, status }) => {
  const { desk } = await open(compatible, [{ text }]);
  const file = join(desk.folder, 'x.suite.yaml');
  writeFileSync(
    file,
    `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: x}
spec:
  runtime: ./runtime.yaml
  cases: [{id: one}]
  subject: {chat: {provider: main, messages: "Where?", output: {schema: ${closed}}}}
  evals: [{id: said, type: contains, params: {patterns: [Graz]}}]
`,
  );
  expect(await desk.runtime.evals.run(file)).toMatchObject({ status });
});
