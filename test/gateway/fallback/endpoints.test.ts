import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { answerJson } from '../upstream-server.ts';
import { tellMessage } from '../upstreams/message-events.ts';
import { streamOf } from '../wire/responses/streamed.ts';
import { type Answer, answerChat, ask, noting, open, path } from './open.ts';

const busy = answerJson({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, 529);
const anthropic = ['anthropic', 'anthropic'] as const;
const input = [{ role: 'user', content: 'Hi' }];

const message = {
  ...{
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'n',
    stop_reason: 'end_turn',
    stop_sequence: null,
  },
  content: [{ type: 'text', text: 'from the second' }],
  usage: { input_tokens: 1, output_tokens: 2 },
};

const response = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'n', error: null },
  ...{ incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true, tools: [] },
  ...{ temperature: 1, top_p: 1, tool_choice: 'auto' },
  output: [
    {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'from the second', annotations: [] }],
    },
  ],
};

interface Endpoint {
  readonly at: string;
  readonly body: unknown;
  readonly answer: unknown;
  readonly types?: readonly [string, string];
}

const endpoints: readonly Endpoint[] = [
  { at: '/v1/responses', body: { model: 'm', input }, answer: response },
  {
    at: '/v1/embeddings',
    body: { model: 'm', input: 'Hi' },
    answer: { object: 'list', model: 'n', data: [{ object: 'embedding', index: 0, embedding: [1] }] },
  },
  {
    at: '/v1/messages',
    body: { model: 'm', max_tokens: 9, messages: input },
    answer: message,
    types: anthropic,
  },
  {
    at: '/v1/messages/count_tokens',
    body: { model: 'm', messages: input },
    answer: { input_tokens: 7 },
    types: anthropic,
  },
];

test.each(endpoints)(
  'the next upstream is tried at $at [DS-UPSTREAM-01]',
  async ({ at, body, answer, types }) => {
    for (const spec of ['', noting()]) {
      const opened = await open({
        ...{ main: busy, second: answerJson(answer), spec: `state_store: {type: memory}\n${spec}` },
        ...(types && { types }),
      });
      const told = await opened.gateway.post(at, body);
      expect([told.status, await told.json()]).toEqual([200, answer]);
      expect(opened.second.seen.map(({ url, body: sent }) => [url, JSON.parse(sent).model])).toEqual([
        [at, 'n'],
      ]);
    }
  },
);

test('each upstream gets only its own key, headers and model [DS-UPSTREAM-02]', async () => {
  for (const types of [['openai-compatible', 'vllm'], anthropic] as const) {
    const [at, body] = types === anthropic ? ['/v1/messages', { ...ask, max_tokens: 9 }] : [path, ask];
    for (const hooks of ['', noting()]) {
      const opened = await open({
        main: busy,
        second: busy,
        types,
        spec: `state_store: {type: memory}\n${hooks}`,
      });
      await (
        await opened.gateway.post(at, body, { authorization: 'Bearer of-client', 'x-api-key': 'of-client' })
      ).text();
      const seen = [opened.main.seen, opened.second.seen].map(([request]) => ({
        text: JSON.stringify([request?.headers, request?.body]),
        credential: request?.headers['x-api-key'] ?? request?.headers.authorization,
        team: request?.headers['x-team-token'],
        body: request?.body,
      }));
      const prefix = types === anthropic ? '' : 'Bearer ';
      for (const [index, [own, other, model]] of [
        ['main', 'second', 'm'],
        ['second', 'main', 'n'],
      ].entries()) {
        expect(seen[index]).toEqual({
          text: expect.not.stringMatching(`of-(${other}|client)`),
          credential: `${prefix}key-of-${own}`,
          team: `header-of-${own}`,
          body: JSON.stringify({ ...(body as object), model }),
        });
      }
    }
  }
});

const frame = (event: { readonly type: string; readonly [member: string]: unknown }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const streaming =
  (text: string): Answer =>
  (_request, reply) =>
    void reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
const overloaded = { type: 'overloaded_error', message: 'busy' };

test.each([
  {
    at: '/v1/messages',
    asked: { model: 'm', max_tokens: 9, messages: input, stream: true },
    types: anthropic,
    told:
      frame({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }) +
      frame({ type: 'ping' }) +
      frame({ type: 'error', error: overloaded }),
    stream: tellMessage(message, { cut: (text) => [text] }),
  },
  {
    at: '/v1/responses',
    asked: { model: 'm', input, stream: true },
    types: ['openai', 'openai'] as const,
    told:
      frame({ type: 'response.created', sequence_number: 0, response: { ...response, output: [] } }) +
      frame({ type: 'response.failed', sequence_number: 1, response: { error: { code: 'server_error' } } }),
    stream: streamOf(response, 4),
  },
])(
  'a stream at $at that reports an overload before it begins falls back, and its error is not forwarded [DS-UPSTREAM-01]',
  async ({ at, asked, types, told, stream }) => {
    for (const spec of ['', noting()]) {
      const opened = await open({
        ...{ main: streaming(told), second: streaming(stream), types },
        spec: `state_store: {type: memory}\n${spec}`,
      });
      const answer = await opened.gateway.post(at, asked);
      expect([answer.status, await answer.text()]).toEqual([200, stream]);
      expect([opened.main.seen.length, opened.second.seen.length]).toEqual([1, 1]);
    }
  },
);

const flaky = (answer: Answer): Answer => {
  let calls = 0;
  return (request, response) => (++calls % 2 === 1 ? busy : answer)(request, response);
};

test('the official SDKs get the answer of the fallback, streamed or not, without retries', async () => {
  const openai = await open({ main: flaky(answerChat('from the first')) });
  const fetch = (opened: typeof openai) => (url: string | URL | Request, init?: RequestInit) =>
    opened.gateway.gateway.fetch(new Request(url, init));
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://127.0.0.1/v1',
    fetch: fetch(openai),
    maxRetries: 0,
  });
  const question = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
  const texts = [];
  for (let call = 0; call < 2; call++) {
    texts.push((await client.chat.completions.create(question)).choices[0]?.message.content);
  }
  const streamed = [];
  for (let call = 0; call < 2; call++) {
    let text = '';
    const stream = await client.chat.completions.create({ ...question, stream: true });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    streamed.push(text);
  }
  const both = ['from the second', 'from the first'];
  expect([texts, streamed]).toEqual([both, both]);
  const messages = await open({ main: busy, second: answerJson(message), types: anthropic });
  const claude = new Anthropic({
    apiKey: 'none',
    baseURL: 'http://127.0.0.1',
    fetch: fetch(messages),
    maxRetries: 0,
  });
  expect(await claude.messages.create({ ...question, max_tokens: 9 })).toMatchObject({
    content: message.content,
  });
});
