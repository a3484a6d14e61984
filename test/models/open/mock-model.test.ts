import { expect, test } from 'vitest';
import { checkMock } from '../../../src/config/mock-responses.ts';
import {
  ask,
  assistant,
  collect,
  errorOf,
  faultOf,
  openModel,
  openScript,
  outline,
  streamOf,
  textOf,
  user,
} from '../bench.ts';

const noTokens = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

test('a mock answers with the text and the tool calls of its script', async () => {
  const model = await openScript([
    {
      text: 'One moment.',
      tool_calls: [
        { name: 'lookup', args: { order: 7 } },
        { id: 'mine', name: 'ping' },
      ],
      usage: { input_tokens: 12, output_tokens: 3 },
    },
  ]);
  expect(await model.doGenerate(ask('hi'))).toStrictEqual({
    content: [
      { type: 'text', text: 'One moment.' },
      { type: 'tool-call', toolCallId: 'call_1_1', toolName: 'lookup', input: '{"order":7}' },
      { type: 'tool-call', toolCallId: 'mine', toolName: 'ping', input: '{}' },
    ],
    finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
    usage: {
      inputTokens: { total: 12, noCache: 12, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 3, text: 3, reasoning: undefined },
    },
    warnings: [],
    response: { modelId: 'scripted' },
  });
});

test('a mock streams its text word by word and its tool input in pieces', async () => {
  const model = await openScript([
    { text: 'One two', tool_calls: [{ name: 'lookup', args: { customer: 'Ada Lovelace' } }] },
  ]);
  expect(await streamOf(model, ask('hi'))).toStrictEqual([
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', modelId: 'scripted' },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'One ' },
    { type: 'text-delta', id: '0', delta: 'two' },
    { type: 'text-end', id: '0' },
    { type: 'tool-input-start', id: 'call_1_1', toolName: 'lookup' },
    { type: 'tool-input-delta', id: 'call_1_1', delta: '{"customer":"Ada' },
    { type: 'tool-input-delta', id: 'call_1_1', delta: ' Lovelace"}' },
    { type: 'tool-input-end', id: 'call_1_1' },
    {
      type: 'tool-call',
      toolCallId: 'call_1_1',
      toolName: 'lookup',
      input: '{"customer":"Ada Lovelace"}',
    },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool-calls' }, usage: noTokens },
  ]);
});

test.each([
  { title: 'pieces that are given', response: { chunks: ['Hel', 'lo'] }, deltas: ['Hel', 'lo'] },
  { title: 'white space around words', response: { text: '  a \n b ' }, deltas: ['  ', 'a \n ', 'b '] },
  { title: 'an empty text', response: { text: '' }, deltas: [''] },
  { title: 'nothing at all', response: {}, deltas: [] },
])('a mock streams $title', async ({ response, deltas }) => {
  const parts = await streamOf(await openScript([response]), ask('hi'));
  expect(parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : []))).toStrictEqual(deltas);
});

test('the first unused response whose condition holds answers; the last one repeats', async () => {
  const model = await openScript([
    { when: "messages[0].content == 'b'", text: 'for b' },
    { text: 'first' },
    { when: '${round == 1}', text: 'last' },
  ]);
  const answers: string[] = [];
  for (const text of ['a', 'b', 'b', 'b']) answers.push(await textOf(model, ask(text)));
  expect(answers).toStrictEqual(['first', 'for b', 'last', 'last']);
});

test('a response with `repeat` answers as often as its condition holds', async () => {
  const model = await openScript([{ when: 'round == 1', repeat: true, text: 'one' }, { text: 'more' }]);
  const answers: string[] = [];
  for (const text of ['a', 'b']) answers.push(await textOf(model, ask(text)));
  answers.push(await textOf(model, { prompt: [user('a'), assistant('one')] }));
  expect(answers).toStrictEqual(['one', 'one', 'more']);
});

test('a script that depends on round and messages continues in another process', async () => {
  const script = [
    { when: 'round == 1', text: 'ask' },
    { when: "round == 2 && messages[1].content == 'ask'", text: 'answer' },
  ];
  const before = await textOf(await openScript(script), ask('hi'));
  const after = await textOf(await openScript(script), { prompt: [user('hi'), assistant(before)] });
  expect([before, after]).toStrictEqual(['ask', 'answer']);
});

test('`round` counts the answers since the last user message', async () => {
  const model = await openScript([{ text: '${round}' }]);
  const prompts = [
    [user('a')],
    [user('a'), assistant('x')],
    [user('a'), assistant('x'), assistant('y')],
    [user('a'), assistant('x'), user('b')],
  ];
  const rounds: string[] = [];
  for (const prompt of prompts) rounds.push(await textOf(model, { prompt }));
  expect(rounds).toStrictEqual(['1', '2', '3', '1']);
});

test('a text and arguments may hold expressions over messages, system and tools', async () => {
  const model = await openScript([
    {
      text: 'You said ${messages[0].content}; I am ${system} with ${tools}; a literal $${x}.',
      tool_calls: [
        { name: 'echo', args: { said: '${messages[0].content}', list: '${[1, 2]}', id: 9007199254740993n } },
        { name: 'all', args: '${messages[0]}' },
      ],
    },
  ]);
  const { content } = await model.doGenerate({
    prompt: [{ role: 'system', content: 'a clerk' }, user('hi')],
    tools: [{ type: 'function', name: 'echo', inputSchema: { type: 'object' } }],
  });
  expect(
    content.map((part) => ('input' in part ? part.input : 'text' in part ? part.text : '')),
  ).toStrictEqual([
    'You said hi; I am a clerk with ["echo"]; a literal ${x}.',
    '{"said":"hi","list":[1,2],"id":9007199254740993}',
    expect.stringContaining('"content":"hi"'),
  ]);
});

test('a condition and an answer read the arguments of an earlier call', async () => {
  const model = await openScript([
    {
      when: 'messages[1].tool_calls[0].args.order == 7',
      text: 'no. ${messages[1].tool_calls[0].args.order}',
    },
    { text: 'other' },
  ]);
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'lookup', input: { order: 7 } } as const;
  expect(await textOf(model, { prompt: [user('hi'), { role: 'assistant', content: [call] }] })).toBe('no. 7');
});

test('calls of different answers of one conversation have different ids', async () => {
  const model = await openScript([{ tool_calls: [{ name: 'again' }] }]);
  const first = await model.doGenerate(ask('a'));
  const second = await model.doGenerate({ prompt: [user('a'), assistant('x'), user('b')] });
  const ids = [first, second].flatMap(({ content }) =>
    content.map((part) => (part.type === 'tool-call' ? part.toolCallId : '')),
  );
  expect(ids).toStrictEqual(['call_1_1', 'call_2_1']);
});

const failing = [
  {
    title: 'an error with a status',
    responses: [{ error: { status: 503, message: 'overloaded' } }],
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed with status 503: overloaded',
      details: { status: 503, retryable: true },
    },
  },
  {
    title: 'an error without a word',
    responses: [{ error: {} }],
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed: scripted failure',
      details: { retryable: false },
    },
  },
  {
    title: 'no response that fits',
    responses: [{ when: 'round == 2', text: 'later' }],
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed: no response of the script is left for round 1',
      details: { retryable: false },
    },
  },
  {
    title: 'a condition that cannot be evaluated',
    responses: [
      { text: 'a', when: 'false' },
      { when: 'messages[4].content == "x"', text: 'b' },
    ],
    fault: {
      code: 'PROVIDER_FAILED',
      message: expect.stringContaining('provider "main" failed: responses[1].when: `${messages[4].content'),
      details: { retryable: false },
    },
  },
  {
    title: 'a condition that is no condition',
    responses: [{ when: 'round', text: 'b' }],
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed: responses[0].when: gives the number 1, not true or false',
      details: { retryable: false },
    },
  },
  {
    title: 'arguments that are no mapping',
    responses: [{ tool_calls: [{ name: 'a', args: '${round}' }] }],
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed: responses[0].tool_calls: `args` gives the number 1, not a mapping',
      details: { retryable: false },
    },
  },
];

test.each(failing)('a mock fails with $title, streamed or not', async ({ responses, fault }) => {
  const generated = await faultOf((await openScript(responses)).doGenerate(ask('hi')));
  const streamed = await faultOf((await openScript(responses)).doStream(ask('hi')));
  expect([generated, streamed]).toStrictEqual([fault, fault]);
});

test('an error beside text breaks the stream off after the text', async () => {
  const script = [{ text: 'One two', error: { message: 'gone' } }];
  const parts = await streamOf(await openScript(script), ask('hi'));
  expect(outline(parts)).toStrictEqual([
    'stream-start',
    'response-metadata',
    'text-start',
    'text-delta One ',
    'text-delta two',
    'text-end',
    'error',
  ]);
  expect(errorOf(parts)).toStrictEqual({
    code: 'PROVIDER_FAILED',
    message: 'provider "main" failed: gone',
    details: { retryable: false },
  });
});

test('a mock is not retried unless max_retries says so', async () => {
  const script = [{ error: { status: 503 } }, { text: 'well' }];
  const fault = await faultOf((await openScript(script)).doGenerate(ask('hi')));
  const patient = await openScript(script, { additionalConfig: { max_retries: 1, retry_base_ms: 1 } });
  expect([fault.code, await textOf(patient, ask('hi'))]).toStrictEqual(['PROVIDER_FAILED', 'well']);
});

test('a delay is cut short by the request timeout and by the caller', async () => {
  const slow = [{ text: 'late', delay_ms: 60_000 }];
  const impatient = await openScript(slow, { requestTimeoutMs: 20 });
  const patient = await openScript(slow);
  const caller = new AbortController();
  const [generated, streamed, given] = await Promise.all([
    faultOf(impatient.doGenerate(ask('hi'))),
    faultOf(impatient.doStream(ask('hi'))),
    faultOf(patient.doGenerate(ask('hi', { abortSignal: caller.signal }))),
    caller.abort(),
  ]);
  expect([generated.code, streamed.code, given.code]).toStrictEqual([
    'PROVIDER_TIMEOUT',
    'PROVIDER_TIMEOUT',
    'ABORTED',
  ]);
});

test('an aborted stream waits for nothing', async () => {
  const model = await openScript([{ chunks: ['a', 'b'], delay_ms: 50 }, { text: 'next' }]);
  const { stream } = await model.doStream(ask('hi'));
  const reader = stream.getReader();
  await reader.read();
  await reader.cancel();
  expect(await textOf(model, ask('hi'))).toBe('next');
});

const unsound = [
  { title: 'no responses', config: {}, says: ['responses: is required'] },
  { title: 'an empty list', config: { responses: [] }, says: ['responses: must not be empty'] },
  {
    title: 'an unknown key',
    config: { responses: [{ text: 'a' }, { txet: 'b' }] },
    says: ['responses[1].txet: unknown key'],
  },
  {
    title: 'a condition that is no expression',
    config: { responses: [{ when: 'round ==', text: 'a' }] },
    says: [expect.stringContaining('responses[0].when: `${round ==}` is not a valid expression')],
  },
  {
    title: 'an unknown variable, and another one',
    config: { responses: [{ text: '${mesages}' }, { tool_calls: [{ name: 'a', args: { b: '${c}' } }] }] },
    says: [
      expect.stringContaining('responses[0].text: `${mesages}` is not a valid expression'),
      expect.stringContaining('responses[1].tool_calls[0].args.b: `${c}` is not a valid expression'),
    ],
  },
  {
    title: 'text beside chunks, and an error beside tool calls',
    config: {
      responses: [
        { text: 'a', chunks: ['b'] },
        { error: {}, tool_calls: [] },
      ],
    },
    says: [
      'responses[0].chunks: cannot be combined with `text`',
      'responses[1].tool_calls: cannot be combined with `error`: a call that fails has no tool calls',
    ],
  },
  {
    title: 'arguments in words',
    config: { responses: [{ tool_calls: [{ name: 'a', args: 'order ${round}' }] }] },
    says: ['responses[0].tool_calls[0].args: must be a mapping or one `${…}`'],
  },
  {
    title: 'a status that is none',
    config: { responses: [{ error: { status: 7 } }] },
    says: ['responses[0].error.status: must be at least 100 (got: 7)'],
  },
];

test.each(unsound)('a script with $title is unusable', async ({ config, says }) => {
  const fault = await faultOf(openModel({ additionalConfig: config }));
  expect(fault.code).toBe('PROVIDER_UNUSABLE');
  expect(fault.message.replace('provider "main": additional_config: ', '').split('; responses')).toHaveLength(
    says.length,
  );
  expect(checkMock(config)).toHaveLength(says.length);
  expect(says.every((say) => typeof say !== 'string' || fault.message.includes(say))).toBe(true);
});

test('problems of a script have their paths', () => {
  const config = {
    responses: [{ when: 'a', text: 'x' }, { tool_calls: [{ name: 'a', args: { b: '${c}' } }] }],
  };
  expect(checkMock(config).map(({ path }) => path)).toStrictEqual([
    ['responses', 0, 'when'],
    ['responses', 1, 'tool_calls', 0, 'args', 'b'],
  ]);
});

test('a stream ends when its caller stops reading and aborts', async () => {
  const model = await openScript([{ chunks: ['a', 'b', 'c'] }]);
  const caller = new AbortController();
  const { stream } = await model.doStream(ask('hi', { abortSignal: caller.signal }));
  caller.abort();
  expect(errorOf(await collect(stream)).code).toBe('ABORTED');
});
