import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunDocument } from '../../../src/contract/run.ts';
import { stringifyJson } from '../../../src/index.ts';
import { recorded } from '../../runtime/open.ts';
import { hookRecording, mostAtOnce, openDesk, outline, recording } from '../desk.ts';

function specOf(responses: readonly string[], more = ''): string {
  return `
state_store: {type: sqlite}
tools:
  echo:
    description: Says what it hears.
    input_schema: {type: object, properties: {n: {type: integer}}}
    exec: {command: $bin/echo-args}
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  fail: {exec: {command: $bin/answers, args: ['{"error": "no such order"}']}}
  crash: {exec: {command: $bin/crash.sh}}
  hidden: {exec: ${recording('answers', 'hidden', '{"result": "hidden"}')}}
  overlap: {exec: {command: $bin/overlap, runtime: server}}
providers:
  - id: main
    type: mock
    model: scripted
    pricing: {input_cost_per_1k: 0.5, output_cost_per_1k: 2}
    additional_config:
      responses:
${responses.map((response) => `        - {${response}}\n`).join('')}
${more.includes('hooks:') ? more : `${more}\nhooks:`}
  asked: {hook: provider, phases: [before_call], ${hookRecording('answers', 'asked', '{"allow": true}')}}
`;
}

const chat = (more = '') => `
steps: [{id: answer, chat: {provider: main, messages: "Hello.", tools: [echo, note, fail, crash, overlap], ${more}}}]
output: \${steps.answer}
`;

interface View {
  readonly status: string;
  readonly text: string;
  readonly tool_calls: readonly Record<string, unknown>[];
  readonly messages: readonly Record<string, unknown>[];
  readonly [member: string]: unknown;
}

function viewOf({ output }: RunDocument): View {
  return output as View;
}

const passed = {
  verdict: 'allow',
  hook: null,
  reason: '',
  enforced: false,
  metadata: {},
};

test('a chat’s answer has every member of the turn', async () => {
  const desk = await openDesk(
    specOf([
      'when: round == 1, text: Let me see., tool_calls: [{name: echo, args: {n: 7}}], usage: {input_tokens: 10, output_tokens: 5}',
      'text: "It is ${messages[size(messages) - 1].content}.", usage: {input_tokens: 20, output_tokens: 7}',
    ]),
  );
  const end = await desk.run(chat('system: Be kind., max_rounds: 2'));
  expect(end.output).toEqual({
    status: 'ok',
    text: 'It is {"n":7}.',
    rounds: 2,
    finish_reason: 'stop',
    provider: 'main',
    model: 'scripted',
    usage: { input_tokens: 30, output_tokens: 12, cost_usd: 0.039 },
    tool_calls: [{ name: 'echo', args: { n: 7 }, status: 'ok', result: '{"n":7}', error: '' }],
    messages: [
      { role: 'user', content: 'Hello.' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [{ id: 'call_1_1', name: 'echo', args: { n: 7 } }],
        finish_reason: 'tool_use',
        cost_info: { input_tokens: 10, output_tokens: 5 },
      },
      { role: 'tool', content: '{"n":7}', tool_result: { id: 'call_1_1', name: 'echo' } },
      {
        role: 'assistant',
        content: 'It is {"n":7}.',
        finish_reason: 'stop',
        cost_info: { input_tokens: 20, output_tokens: 7 },
      },
    ],
    guardrails: [],
    metadata: { phase: 'after_call', ...passed, before_call: passed, after_call: passed },
  });
  const requests = desk.lines('asked').map((line) => JSON.parse(line).request);
  expect(requests).toMatchObject([
    { provider_id: 'main', system_prompt: 'Be kind.', round: 1, messages: [{ content: 'Hello.' }] },
    { round: 2, system_prompt: 'Be kind.', metadata: { session_id: end.run_id } },
  ]);
  expect(outline(end)).toEqual(['answer chat ok']);
});

test('messages may be a text, a list, or an expression that gives either', async () => {
  const desk = await openDesk(specOf(["text: '${messages.map(m, m.role + m.content)}'"]));
  const list =
    '[{role: user, content: "n is ${input.n}"}, {role: assistant, content: b}, {role: user, content: c}]';
  for (const [messages, said] of [
    ['"n is ${input.n}"', ['usern is 12345678901234567890']],
    [list, ['usern is 12345678901234567890', 'assistantb', 'userc']],
    ['"${input.talk}"', ['userhi']],
  ] as const) {
    const end = await desk.run(
      `steps: [{id: answer, chat: {provider: main, messages: ${messages}}}]\noutput: \${steps.answer.text}\n`,
      '{"n": 12345678901234567890, "talk": [{"role": "user", "content": "hi"}]}',
    );
    expect(JSON.parse(String(end.output))).toEqual(said);
  }
});

test.each([
  { title: 'no list', talk: 7 },
  { title: 'a list of texts', talk: ['hi'] },
  { title: 'messages without a role', talk: [{ content: 'hi' }] },
  { title: 'messages of a strange role', talk: [{ role: 'developer', content: 'hi' }] },
])('messages that are $title fail the chat, and no model is called', async ({ talk }) => {
  const desk = await openDesk(specOf(['text: hi']));
  const end = await desk.run('steps: [{id: answer, chat: {provider: main, messages: "${input.talk}"}}]\n', {
    talk,
  });
  expect(end).toMatchObject({ status: 'failed', error: { code: 'EXPRESSION_FAILED' } });
  expect(desk.lines('asked')).toEqual([]);
});

const told = [
  {
    title: 'an error of the tool',
    call: '{name: fail}',
    content: 'Tool "fail" failed: no such order',
    error: 'no such order',
    status: 'failed',
  },
  {
    title: 'a crash, without its stderr',
    call: '{name: crash}',
    content: 'Tool "crash" failed: the process exited with code 3: rules.txt: no such file',
    error: 'the process exited with code 3: rules.txt: no such file',
    status: 'failed',
  },
  {
    title: 'a tool that does not exist',
    call: '{name: nobody}',
    content: 'Tool "nobody" failed: there is no tool "nobody"',
    error: 'there is no tool "nobody"',
    status: 'failed',
  },
  {
    title: 'a tool that it was not offered',
    call: '{name: hidden}',
    content: 'Tool "hidden" failed: there is no tool "hidden"',
    error: 'there is no tool "hidden"',
    status: 'failed',
  },
  {
    title: 'arguments that do not fit',
    call: '{name: echo, args: {n: seven}}',
    content: 'Tool "echo" failed: tool "echo": the arguments do not fit input_schema: n: must be integer',
    error: 'tool "echo": the arguments do not fit input_schema: n: must be integer',
    status: 'failed',
  },
  {
    title: 'a denial',
    call: '{name: note}',
    content: 'Tool "note" was blocked by hook "guard": not this one',
    error: 'Tool "note" was blocked by hook "guard": not this one',
    status: 'denied',
  },
];

test.each(told)(
  'the model receives $title, and continues [DS-CHAT-01]',
  async ({ call, content, error, status }) => {
    const guard =
      'hooks:\n  guard: {hook: tool, phases: [before_execution], command: $bin/answers, args: [\'{"allow": false, "reason": "not this one"}\']}';
    const desk = await openDesk(
      specOf(
        [`when: round == 1, tool_calls: [${call}]`, "text: '${messages[size(messages) - 1].content}'"],
        status === 'denied' ? guard : '',
      ),
    );
    const view = viewOf(await desk.run(chat()));
    expect(view).toMatchObject({ status: 'ok', text: content, rounds: 2 });
    expect(view.tool_calls).toEqual([expect.objectContaining({ status, error, result: content })]);
    expect([...desk.lines('hidden'), ...desk.lines('notes')]).toEqual([]);
  },
);

test('native tool hooks get the ids that the model gave its calls, before and after them', async () => {
  const desk = await openDesk(
    specOf(
      ['when: round == 1, tool_calls: [{name: note, id: toolu_7}, {name: fail, id: toolu_8}]', 'text: done'],
      `hooks:\n  seen: {hook: tool, ${hookRecording('answers', 'seen', '{"allow": true}')}}`,
    ),
  );
  await desk.run(chat('tool_concurrency: 1'));
  await desk.runtime.close();
  const took = expect.toSatisfy((ms: unknown) => typeof ms === 'number' && ms > 0);
  expect(recorded(join(desk.folder, 'seen'))).toMatchObject(
    [
      { name: 'note', call_id: 'toolu_7' },
      { name: 'fail', call_id: 'toolu_8' },
    ].flatMap((call) => [
      { phase: 'before_execution', request: call },
      { phase: 'after_execution', request: call, response: { ...call, latency_ms: took } },
    ]),
  );
});

test('the calls of one round run concurrently up to the limit, and are reported in order', async () => {
  const call = (ms: number) => `{name: overlap, args: {file: $folder/marks, ms: ${ms}}}`;
  const desk = await openDesk(
    specOf([
      `when: round == 1, tool_calls: [${[500, 250, 250, 10].map(call).join(', ')}, {name: echo, args: {n: 1}}]`,
      'text: done',
    ]),
  );
  const view = viewOf(await desk.run(chat('tool_concurrency: 2')));
  expect(view.messages.map(({ role, content }) => `${role} ${content}`)).toEqual([
    'user Hello.',
    'assistant ',
    'tool done',
    'tool done',
    'tool done',
    'tool done',
    'tool {"n":1}',
    'assistant done',
  ]);
  expect(view.tool_calls.map(({ args }) => (args as { ms?: number }).ms)).toEqual([
    500,
    250,
    250,
    10,
    undefined,
  ]);
  expect(mostAtOnce(desk)).toBe(2);
});

test('a long number that the model writes reaches the tool, the model and the view with its digits', async () => {
  const desk = await openDesk(
    specOf([
      "when: round == 1, tool_calls: [{name: echo, args: {n: '${12345678901234567}', big: '${messages[0].content}'}}]",
      "text: '${messages[size(messages) - 1].content}'",
    ]),
  );
  const end = await desk.run(
    'steps: [{id: answer, chat: {provider: main, messages: "n ${input.n}", tools: [echo, note]}}]\noutput: ${steps.answer}\n',
    '{"n": 12345678901234567890}',
  );
  expect(viewOf(end).text).toBe('{"n":12345678901234567,"big":"n 12345678901234567890"}');
  expect(stringifyJson(end.output)).toContain(
    '"args":{"n":12345678901234567,"big":"n 12345678901234567890"}',
  );
});

test('a model that only calls tools is stopped after max_rounds calls', async () => {
  const desk = await openDesk(specOf(['text: once more, tool_calls: [{name: note}]']));
  const end = await desk.run(
    chat('max_rounds: 3').replace('{id: answer,', '{id: answer, on_error: continue,'),
  );
  const view = viewOf(end);
  expect(view).toMatchObject({ status: 'failed', text: '', rounds: 3, error: { code: 'ROUNDS_EXHAUSTED' } });
  expect(view.tool_calls).toHaveLength(3);
  expect(desk.lines('asked')).toHaveLength(3);
  expect(desk.lines('notes')).toHaveLength(3);
});

const failures = [
  {
    title: 'answers with an error',
    response: 'error: {status: 400, message: too long}',
    code: 'PROVIDER_FAILED',
  },
  { title: 'has no answer left', response: 'when: round == 7, text: never', code: 'PROVIDER_FAILED' },
];

test.each(failures)('a provider that $title fails the chat', async ({ response, code }) => {
  const desk = await openDesk(specOf([response]));
  expect(await desk.run(chat())).toMatchObject({ status: 'failed', error: { code } });
});

test('a provider that fails after tool calls leaves their results in the view', async () => {
  const desk = await openDesk(
    specOf(['when: round == 1, tool_calls: [{name: note}]', 'error: {status: 400, message: too long}']),
  );
  const view = viewOf(await desk.run(chat().replace('{id: answer,', '{id: answer, on_error: continue,')));
  expect(view).toMatchObject({
    status: 'failed',
    text: '',
    rounds: 1,
    tool_calls: [{ name: 'note', status: 'ok', result: 'noted' }],
    error: { code: 'PROVIDER_FAILED' },
  });
});

test('temperature and max_tokens go to the model, and tools are offered only if named', async () => {
  const desk = await openDesk(specOf(["text: '${tools}'"]));
  const offered = viewOf(await desk.run(chat('temperature: 0.5, max_tokens: 7')));
  expect(offered.text).toBe('["echo","note","fail","crash","overlap"]');
  const none = await desk.run(
    'steps: [{id: answer, chat: {provider: main, messages: hi}}]\noutput: ${steps.answer.text}\n',
  );
  expect(none.output).toBe('[]');
});

const streams = [
  { stream: 'hold', pieces: ['one two three'] },
  { stream: 'windowed', pieces: ['one two three'] },
] as const;

test.each(streams)(
  'a streamed answer ($stream) is the same, and its text is reported as it arrives',
  async ({ stream, pieces }) => {
    const responses = [
      'when: round == 1, tool_calls: [{name: echo, args: {n: 7}}]',
      'chunks: ["one ", "two ", three], usage: {input_tokens: 1, output_tokens: 2}',
    ];
    const plain = viewOf(await (await openDesk(specOf(responses))).run(chat()));
    const desk = await openDesk(specOf(responses));
    const end = await desk.run(chat(`stream: ${stream}`));
    const { metadata, ...streamed } = viewOf(end);
    const { metadata: _, ...whole } = plain;
    expect(streamed).toEqual(whole);
    expect(metadata).toMatchObject({ phase: 'after_call', verdict: 'allow' });
    const texts = desk.events.flatMap((event) => (event.type === 'text' ? [event] : []));
    expect(texts.map(({ text }) => text).join('')).toBe(pieces.join(''));
    expect(new Set(texts.map(({ run, step }) => `${run} ${step}`))).toEqual(
      new Set([`${end.run_id} answer`]),
    );
  },
);

test('an answer that is not streamed is not reported as text', async () => {
  const desk = await openDesk(specOf(['text: hello']));
  await desk.run(chat());
  expect(desk.events.filter(({ type }) => type === 'text')).toEqual([]);
});
