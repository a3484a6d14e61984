import { expect, test } from 'vitest';
import { parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { lastAnswer, readContext } from '../../../src/suites/case/prepared-case.ts';

const openai = [
  { role: 'developer', content: 'Be kind.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Weather ' },
      { type: 'image_url', image_url: { url: 'https://x.example/i.png' } },
      { type: 'text', text: 'here and there?' },
    ],
  },
  {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: [
      {
        id: 'c1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"NYC","id":12345678901234567890}' },
      },
      { id: 'c2', type: 'function', function: { name: 'clock', arguments: '' } },
    ],
  },
  { role: 'tool', tool_call_id: 'c2', content: 'noon' },
  { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '22C' }] },
  { role: 'assistant', content: 'Warm.', name: 'Ann' },
];

const promptkit = [
  { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
  {
    role: 'assistant',
    content: '',
    tool_calls: [
      { id: 'a', name: 'weather', args: { city: 'NYC' } },
      { id: 'b', name: 'clock' },
    ],
  },
  { role: 'tool', tool_result: { id: 'a', name: 'weather', content: '22C', error: '', latency_ms: 12 } },
  { role: 'tool', content: '', tool_result: { id: 'b', name: 'clock', error: 'no clock', latency_ms: 1 } },
  { role: 'assistant', content: 'Warm.', finish_reason: 'stop' },
];

test('messages of OpenAI have their text in `content` and list the tool calls', () => {
  const { messages, tool_calls } = readContext({ messages: openai });
  expect(messages).toEqual([
    { ...openai[0], role: 'system' },
    { ...openai[1], content: 'Weather here and there?' },
    { ...openai[2], content: '' },
    openai[3],
    { ...openai[4], content: '22C' },
    openai[5],
  ]);
  expect(parseLossless(stringifyJson(tool_calls))).toEqual([
    {
      name: 'weather',
      args: { city: 'NYC', id: JSON.rawJSON('12345678901234567890') },
      result: '22C',
      error: '',
      index: 2,
    },
    { name: 'clock', args: {}, result: 'noon', error: '', index: 2 },
  ]);
});

test('messages of PromptKit have their text in `content` and list the tool calls', () => {
  const { messages, tool_calls } = readContext({ messages: promptkit });
  expect(messages).toEqual([
    { ...promptkit[0], content: 'hi' },
    promptkit[1],
    { ...promptkit[2], content: '22C' },
    promptkit[3],
    promptkit[4],
  ]);
  expect(tool_calls).toEqual([
    { name: 'weather', args: { city: 'NYC' }, result: '22C', error: '', index: 1 },
    { name: 'clock', args: {}, result: '', error: 'no clock', index: 1 },
  ]);
});

const call = (name: string, id?: string) => ({ name, ...(id === undefined ? {} : { id }) });
const asks = (...calls: object[]) => ({ role: 'assistant', tool_calls: calls });
const answers = (content: string, id?: string) => ({
  role: 'tool',
  content,
  ...(id === undefined ? {} : { tool_call_id: id }),
});

const conversations = [
  {
    title: 'by id, in any order',
    messages: [asks(call('a', '1'), call('b', '2')), answers('two', '2'), answers('one', '1')],
    results: ['one', 'two'],
  },
  {
    title: 'by order where nobody has ids',
    messages: [asks(call('a'), call('b')), answers('one'), answers('two')],
    results: ['one', 'two'],
  },
  {
    title: 'by order where only the calls have ids',
    messages: [asks(call('a', '1'), call('b', '2')), answers('one'), answers('two')],
    results: ['one', 'two'],
  },
  {
    title: 'by order to what is left over by the ids',
    messages: [asks(call('a'), call('b', '2')), answers('two', '2'), answers('one')],
    results: ['one', 'two'],
  },
  {
    title: 'never by order across the next calls',
    messages: [asks(call('a')), asks(call('b')), answers('two')],
    results: ['', 'two'],
  },
  {
    title: 'by id to the call that was asked last, where ids begin again each turn',
    messages: [
      asks(call('a', '1')),
      asks(call('b', '1')),
      answers('two', '1'),
      asks(call('c', '1')),
      answers('3', '1'),
    ],
    results: ['', 'two', '3'],
  },
  {
    title: 'never to a call that comes later',
    messages: [answers('one', '1'), asks(call('a', '1'))],
    results: [''],
  },
  { title: 'never to another id', messages: [asks(call('a', '1')), answers('one', '2')], results: [''] },
];

test.each(conversations)('results belong to calls $title', ({ messages, results }) => {
  expect(readContext({ messages }).tool_calls.map(({ result }) => result)).toEqual(results);
});

test('tool calls that the row lists take precedence over those of its messages', () => {
  const messages = [asks({ strange: true })];
  const own = [{ name: 'add', args: { a: 1 }, result: { sum: 3 }, index: 1 }];
  expect(readContext({ messages, tool_calls: own }).tool_calls).toEqual([
    { name: 'add', args: { a: 1 }, result: '{"sum":3}', error: '', index: 1 },
  ]);
  expect(readContext({ messages, tool_calls: [] }).tool_calls).toEqual([]);
});

test.each([
  { title: 'absent', context: undefined },
  { title: 'null', context: null },
  { title: 'of nulls', context: { messages: null, turn_index: null, tool_calls: null, variables: null } },
])('a context that is $title is empty', ({ context }) => {
  const empty = { messages: [], turn_index: 0, tool_calls: [], variables: {}, metadata: {} };
  expect(readContext(context)).toEqual(empty);
});

const wrap = (toolCall: unknown) => [
  { role: 'user', content: '' },
  { role: 'assistant', tool_calls: [toolCall] },
];
const ask = (args: unknown) => wrap({ id: 'x', function: { name: 'f', arguments: args } });

const misfits = [
  {
    messages: [{ role: 'user', content: 7 }],
    message: '[0].content must be text or a list of parts, not the number 7',
  },
  {
    messages: [{ role: 'user', content: ['a'] }],
    message: '[0].content[0] must be a mapping, not the string "a"',
  },
  {
    messages: [{ role: 'user', content: [{ type: 'text' }] }],
    message: '[0].content[0].text must be text, not nothing',
  },
  {
    messages: [{ role: 'function', content: '' }],
    message: '[0].role must be one of system, user, assistant, tool, not the string "function"',
  },
  {
    messages: [{ role: 'assistant', content: '', tool_calls: {} }],
    message: '[0].tool_calls must be a list, not a mapping',
  },
  { messages: wrap('f'), message: '[1].tool_calls[0] must be a mapping, not the string "f"' },
  { messages: wrap({ id: 'x' }), message: '[1].tool_calls[0].name must be text, not nothing' },
  { messages: wrap({ id: 7, name: 'f' }), message: '[1].tool_calls[0].id must be text, not the number 7' },
  {
    messages: wrap({ function: 'f' }),
    message: '[1].tool_calls[0].function must be a mapping, not the string "f"',
  },
  { messages: wrap({ function: {} }), message: '[1].tool_calls[0].function.name must be text, not nothing' },
  {
    messages: ask('{"a":'),
    message:
      '[1].tool_calls[0].function.arguments must be the JSON text of an object, not the string "{\\"a\\":"',
  },
  {
    messages: ask('12345678901234567890'),
    message:
      '[1].tool_calls[0].function.arguments must be the JSON text of an object, not the string "12345678901234567890"',
  },
  {
    messages: ask([]),
    message: '[1].tool_calls[0].function.arguments must be the JSON text of an object, not a list',
  },
  {
    messages: [{ role: 'tool', content: '', tool_call_id: 7 }],
    message: '[0].tool_call_id must be text, not the number 7',
  },
  {
    messages: [{ role: 'tool', tool_result: { id: 'x', error: {} } }],
    message: '[0].tool_result.error must be text, not a mapping',
  },
];

test.each(misfits)('DATASET_INVALID: $message', ({ messages, message }) => {
  expect(() => readContext({ messages })).toThrow(
    expect.objectContaining({ code: 'DATASET_INVALID', message: `context.messages${message}` }),
  );
});

test.each([
  { title: 'the last of several', roles: ['user', 'assistant', 'user', 'assistant'], answer: 'text 3' },
  { title: 'one that is not the last message', roles: ['assistant', 'tool', 'user'], answer: 'text 0' },
  { title: 'none', roles: ['system', 'user'], answer: undefined },
  { title: 'none without messages', roles: [], answer: undefined },
] as const)('the last answer is $title', ({ roles, answer }) => {
  expect(lastAnswer(roles.map((role, index) => ({ role, content: `text ${index}` })))).toBe(answer);
});
