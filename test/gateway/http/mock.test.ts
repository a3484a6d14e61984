import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { openTestGateway } from '../open-gateway.ts';

const spec = `
state_store: {type: memory}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: 'messages[messages.size() - 1].content == "tool"', repeat: true, tool_calls: [{name: look, args: {q: tea}}]}
        - {when: 'messages[messages.size() - 1].content == "fail"', repeat: true, error: {status: 429, message: too many}}
        - {chunks: [Hel, lo, " there"], usage: {input_tokens: 3, output_tokens: 4}}
hooks:
  nothing: {command: ./allow.sh, hook: provider}
gateway:
  stream: windowed
`;
const allow = '#!/bin/sh\ncat >/dev/null\necho \'{"allow": true}\'\n';

async function open() {
  const gateway = await openTestGateway(spec, { 'allow.sh': allow });
  const client = new OpenAI({
    baseURL: 'http://127.0.0.1/v1',
    apiKey: 'none',
    maxRetries: 0,
    fetch: (url, init) => gateway.gateway.fetch(new Request(url, init)),
  });
  const anthropic = new Anthropic({
    baseURL: 'http://127.0.0.1',
    apiKey: 'none',
    maxRetries: 0,
    fetch: (url, init) => gateway.gateway.fetch(new Request(url, init)),
  });
  return { client, anthropic, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

const ask = (content: string) => ({ model: 'scripted', messages: [{ role: 'user' as const, content }] });

test('a scripted model answers a chat', async () => {
  await using opened = await open();
  const { choices, usage } = await opened.client.chat.completions.create(ask('hi'));
  expect([choices[0]?.message.content, choices[0]?.finish_reason, usage]).toEqual([
    'Hello there',
    'stop',
    { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  ]);
});

test('a scripted model streams a chat', async () => {
  await using opened = await open();
  const stream = await opened.client.chat.completions.create({
    ...ask('hi'),
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  expect([
    chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
    chunks.at(-1)?.usage?.total_tokens,
  ]).toEqual(['Hello there', 7]);
});

test('a scripted model calls tools, also in a stream', async () => {
  await using opened = await open();
  const whole = await opened.client.chat.completions.create(ask('tool'));
  const stream = opened.client.chat.completions.stream(ask('tool'));
  const streamed = await stream.finalChatCompletion();
  const call = { type: 'function', function: { name: 'look', arguments: '{"q":"tea"}' } };
  expect([whole.choices[0]?.message.tool_calls, streamed.choices[0]?.message.tool_calls]).toMatchObject([
    [call],
    [call],
  ]);
});

test('a scripted failure has the API’s error form', async () => {
  await using opened = await open();
  await expect(opened.client.chat.completions.create(ask('fail'))).rejects.toMatchObject({
    status: 429,
    message: expect.stringContaining('too many'),
  });
});

test('a scripted model returns embeddings', async () => {
  await using opened = await open();
  const { data } = await opened.client.embeddings.create({ model: 'scripted', input: ['a', 'b', 'a'] });
  expect([data.map(({ embedding }) => embedding.length), data[0]?.embedding]).toEqual([
    [8, 8, 8],
    data[2]?.embedding,
  ]);
});

test('the gateway lists the models', async () => {
  await using opened = await open();
  const { data } = await opened.client.models.list();
  expect(data.map(({ id }) => id)).toEqual(['scripted']);
});

test('a scripted model answers alike at every endpoint, streamed or not', async () => {
  await using opened = await open();
  const { client, anthropic } = opened;
  const asked = { model: 'scripted', input: 'hi' };
  const response = await client.responses.create(asked);
  const streamed = await client.responses.stream(asked).finalResponse();
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const message = await anthropic.messages.create({ model: 'scripted', max_tokens: 9, messages });
  const stream = anthropic.messages.stream({ model: 'scripted', max_tokens: 9, messages });
  const counted = await anthropic.messages.countTokens({ model: 'scripted', messages });
  expect([
    response.output_text,
    streamed.output_text,
    message.content,
    (await stream.finalMessage()).content,
    counted.input_tokens > 0,
  ]).toMatchObject([
    'Hello there',
    'Hello there',
    [{ type: 'text', text: 'Hello there' }],
    [{ type: 'text', text: 'Hello there' }],
    true,
  ]);
});

test('a scripted model calls tools at every endpoint, streamed or not', async () => {
  await using opened = await open();
  const { client, anthropic } = opened;
  const asked = { model: 'scripted', input: 'tool' };
  const response = await client.responses.create(asked);
  const streamed = await client.responses.stream(asked).finalResponse();
  const messages = [{ role: 'user' as const, content: 'tool' }];
  const message = await anthropic.messages.create({ model: 'scripted', max_tokens: 9, messages });
  const stream = anthropic.messages.stream({ model: 'scripted', max_tokens: 9, messages });
  const call = { type: 'function_call', name: 'look', arguments: '{"q":"tea"}' };
  const use = { type: 'tool_use', name: 'look', input: { q: 'tea' } };
  expect([
    response.output,
    streamed.output,
    message.content,
    (await stream.finalMessage()).content,
  ]).toMatchObject([[call], [call], [use], [use]]);
});

test('a provider of embeddings serves only embeddings, with the vectors of its script [DS-EMBED-06]', async () => {
  const spec = `
providers:
  - id: embed
    type: mock
    model: e
    role: embedding
    additional_config: {embeddings: [{text: Oslo, vector: [3, 4]}, {text: bad, error: {message: down}}]}
hooks:
  allow: {command: ./allow.sh, hook: provider}
gateway: {}`;
  await using gateway = await openTestGateway(spec, {
    'allow.sh': '#!/bin/sh\ncat > /dev/null\necho \'{"allow": true}\'\n',
  });
  const known = await gateway.post('/v1/embeddings', { model: 'e', input: ['Oslo', 'x'] });
  const { data } = JSON.parse(await known.text());
  expect([data[0].embedding, data[1].embedding.length]).toEqual([[3, 4], 2]);
  expect((await gateway.post('/v1/embeddings', { model: 'e', input: 'bad' })).status).toBe(502);
  const chat = await gateway.post('/v1/chat/completions', {
    model: 'e',
    messages: [{ role: 'user', content: 'a' }],
  });
  expect(chat.status).toBeGreaterThanOrEqual(400);
  expect(chat.status).toBeLessThan(500);
});
