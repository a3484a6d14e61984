import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { canary } from '../canary.ts';
import { type Api, apiOf, apis, play } from './apis.ts';
import { ask, streamOf, textOf } from './bench.ts';

const lookup = {
  type: 'function' as const,
  name: 'lookup',
  description: 'Finds an order.',
  inputSchema: { type: 'object' as const, properties: { order: { type: 'integer' as const } } },
};

/** Not representable as a double. */
const order = 9_007_199_254_740_993n;

interface Answer {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly finish: string;
  readonly tokens: readonly (number | undefined)[];
}

type Ask = (model: Parameters<typeof streamOf>[0], options: LanguageModelV4CallOptions) => Promise<Answer>;

const generate: Ask = async (model, options) => {
  const { content, finishReason, usage } = await model.doGenerate(options);
  return {
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: content.flatMap((part) =>
      part.type === 'tool-call' ? [{ id: part.toolCallId, name: part.toolName, input: part.input }] : [],
    ),
    finish: finishReason.unified,
    tokens: [usage.inputTokens.total, usage.outputTokens.total],
  };
};

const stream: Ask = async (model, options) => {
  const parts = await streamOf(model, options);
  const last = parts.at(-1);
  if (last?.type !== 'finish') throw new Error(`the stream ended with ${last?.type}`);
  return {
    text: parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join(''),
    calls: parts.flatMap((part) =>
      part.type === 'tool-call' ? [{ id: part.toolCallId, name: part.toolName, input: part.input }] : [],
    ),
    finish: last.finishReason.unified,
    tokens: [last.usage.inputTokens.total, last.usage.outputTokens.total],
  };
};

const cells = apis.flatMap((api) => [
  { api, how: 'in one piece', call: generate },
  { api, how: 'as a stream', call: stream },
]);

describe.each(cells)('$api.title, $how', ({ api, call }) => {
  test('returns an answer with its text, its finish reason and its tokens', async () => {
    const { model } = await play(api, [{ text: ['Hello, ', 'Ada'], usage: { input: 7, output: 3 } }]);
    expect(await call(model, ask('hi'))).toStrictEqual({
      text: 'Hello, Ada',
      calls: [],
      finish: 'stop',
      tokens: [7, 3],
    });
  });

  test('reports an answer that is too long or filtered', async () => {
    const { model } = await play(api, [
      { text: 'Once', finish: 'length' },
      { text: 'I', finish: 'filter' },
    ]);
    const finishes = [(await call(model, ask('hi'))).finish, (await call(model, ask('hi'))).finish];
    expect(finishes).toStrictEqual(['length', 'content-filter']);
  });

  test('runs a tool loop of two rounds, and arguments keep their digits in both directions', async () => {
    const { model, fake } = await play(api, [
      { text: 'One moment.', toolCalls: [{ name: 'lookup', args: { order, note: '12345678901234567890' } }] },
      { text: 'It is on its way.' },
    ]);
    const first = await call(model, ask('Where is it?', { tools: [lookup] }));
    expect(first).toStrictEqual({
      text: 'One moment.',
      calls: [
        {
          id: expect.any(String),
          name: 'lookup',
          input: `{"order":${order},"note":"12345678901234567890"}`,
        },
      ],
      finish: 'tool-calls',
      tokens: [10, 5],
    });
    const second = await call(model, { prompt: continued(first), tools: [lookup] });
    expect(second.text).toBe('It is on its way.');
    expect(roundTrip[api.wire](fake.requests[1]?.text ?? '')).toStrictEqual({
      sent: String(order),
      result: true,
    });
  });

  test('two calls of one answer keep their order', async () => {
    const args = [{ order: 1 }, { order: 2 }];
    const { model } = await play(api, [{ toolCalls: args.map((each) => ({ name: 'lookup', args: each })) }]);
    const { calls } = await call(model, ask('hi', { tools: [lookup] }));
    expect(calls.map(({ input }) => input)).toStrictEqual(['{"order":1}', '{"order":2}']);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });
});

function continued(first: Answer): LanguageModelV4Prompt {
  const call = first.calls[0] ?? { id: '', name: '' };
  return [
    { role: 'user', content: [{ type: 'text', text: 'Where is it?' }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: first.text },
        {
          type: 'tool-call',
          toolCallId: call.id,
          toolName: call.name,
          input: { order: JSON.rawJSON(String(order)) },
        },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: call.id,
          toolName: call.name,
          output: { type: 'json', value: { status: 'shipped' } },
        },
      ],
    },
  ];
}

/** Whether the tool result was sent, and the digits of the order in the call. */
const roundTrip: Readonly<Record<Api['wire'], (text: string) => object>> = {
  openai: (text) => ({
    sent: /"arguments":"\{\\"order\\":(\d+)\}"/.exec(text)?.[1],
    result: text.includes('"role":"tool"') && text.includes('"content":"{\\"status\\":\\"shipped\\"}"'),
  }),
  responses: (text) => ({
    sent: /"arguments":"\{\\"order\\":(\d+)\}"/.exec(text)?.[1],
    result:
      text.includes('"type":"function_call_output"') &&
      text.includes('"output":"{\\"status\\":\\"shipped\\"}"'),
  }),
  anthropic: (text) => ({
    sent: /"input":\{"order":(\d+)\}/.exec(text)?.[1],
    result:
      text.includes('"type":"tool_result"') && text.includes('"content":"{\\"status\\":\\"shipped\\"}"'),
  }),
  gemini: (text) => ({
    sent: /"args":\{"order":(\d+)\}/.exec(text)?.[1],
    result: text.includes('"functionResponse"') && text.includes('"status":"shipped"'),
  }),
};

const asked = {
  prompt: [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] },
  ],
  tools: [lookup],
};

const settings = { defaults: { temperature: 0.25, maxTokens: 99 }, headers: { 'x-team': 'desk' } };

const schema = { properties: { order: { type: 'integer' } } };

const sent: Readonly<Record<string, { path: string; headers: object; body: object }>> = {
  openai: {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${canary}`, 'x-team': 'desk' },
    body: {
      model: 'test-model',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
      temperature: 0.25,
      max_tokens: 99,
      tools: [{ type: 'function', function: { name: 'lookup', description: 'Finds an order.' } }],
    },
  },
  'openai (Responses)': {
    path: '/v1/responses',
    headers: { authorization: `Bearer ${canary}`, 'x-team': 'desk' },
    body: {
      model: 'test-model',
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      ],
      temperature: 0.25,
      max_output_tokens: 99,
      store: false,
      tools: [{ type: 'function', name: 'lookup', description: 'Finds an order.' }],
    },
  },
  claude: {
    path: '/v1/messages',
    headers: { 'x-api-key': canary, 'anthropic-version': '2023-06-01', 'x-team': 'desk' },
    body: {
      model: 'test-model',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      temperature: 0.25,
      max_tokens: 99,
      tools: [{ name: 'lookup', description: 'Finds an order.', input_schema: schema }],
    },
  },
  gemini: {
    path: '/v1beta/models/test-model:generateContent',
    headers: { 'x-goog-api-key': canary, 'x-team': 'desk' },
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { temperature: 0.25, maxOutputTokens: 99 },
      tools: [{ functionDeclarations: [{ name: 'lookup', description: 'Finds an order.' }] }],
    },
  },
  'openai-compatible': {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${canary}`, 'x-team': 'desk' },
    body: {
      model: 'test-model',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
      temperature: 0.25,
      max_tokens: 99,
      tools: [{ type: 'function', function: { name: 'lookup', description: 'Finds an order.' } }],
    },
  },
};

test.each(apis)(
  '$title receives the model, the messages, the tools, the settings and the key',
  async (api) => {
    const { model, fake } = await play(api, [{ text: 'ok' }], settings);
    await model.doGenerate(asked);
    expect(fake.requests).toHaveLength(1);
    expect(fake.requests[0]).toMatchObject({ method: 'POST', ...sent[api.title] });
  },
);

test.each(apis)('a call’s settings override those of the entry at $title', async (api) => {
  const { model, fake } = await play(api, [{ text: 'ok' }], settings);
  await model.doGenerate({ ...asked, temperature: 0, maxOutputTokens: 5 });
  const text = fake.requests[0]?.text;
  expect(text).toMatch(/"temperature":0[,}]/);
  expect(text).toMatch(/"max_?(completion_|output_)?tokens":5[,}]|"maxOutputTokens":5[,}]/i);
});

test.each(apis)('top_p of the entry is sent to $title', async (api) => {
  const { model, fake } = await play(api, [{ text: 'ok' }], { defaults: { topP: 0.5 } });
  await model.doGenerate(asked);
  expect(fake.requests[0]?.text).toMatch(/"(top_p|topP)":0\.5/);
});

test.each(apis)('a header of the entry replaces the one that $title would have', async (api) => {
  const headers = { Authorization: 'Bearer other', 'X-API-Key': 'other', 'x-goog-api-key': 'other' };
  const { model, fake } = await play(api, [{ text: 'ok' }], { headers });
  await model.doGenerate(asked);
  expect(fake.requests[0]?.headers).toMatchObject({
    authorization: 'Bearer other',
    'x-api-key': 'other',
    'x-goog-api-key': 'other',
  });
});

test('a call may ask OpenAI to store its answer', async () => {
  const { model, fake } = await play(apiOf('openai (Responses)'), [{ text: 'ok' }]);
  await textOf(model, ask('hi', { providerOptions: { openai: { store: true } } }));
  expect(fake.requests[0]?.body['store']).toBe(true);
});
