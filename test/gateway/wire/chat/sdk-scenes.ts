import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { embed, generateText, jsonSchema, Output, streamText, tool } from 'ai';
import OpenAI from 'openai';
import type { OpenAiReply } from '../../upstreams/openai-upstream.ts';
import { cutText } from '../../upstreams/openai-upstream.ts';
import { beside, frame, streamOf, streams } from './streams.ts';

export interface Scene {
  readonly title: string;
  readonly replies: readonly OpenAiReply[];
  run(baseURL: string): Promise<unknown>;
}

const apiKey = 'sk-client';

export function openai(baseURL: string, more: object = {}): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0, logLevel: 'off', ...more });
}

const hello = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello "you" \u00e9\u{1F600}' }] };

const completion = (message: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 7,
  model: 'm',
  service_tier: 'default',
  system_fingerprint: 'fp_1',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, refusal: null, annotations: [], ...message },
      logprobs: null,
      finish_reason: 'stop',
      ...more,
    },
  ],
  usage: {
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    completion_tokens_details: { reasoning_tokens: 1 },
  },
});

const call = (id: string, city: string) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: JSON.stringify({ city }) },
});
const calls = completion(
  { tool_calls: [call('call_1', 'Rome'), call('call_2', 'Oslo')] },
  { finish_reason: 'tool_calls' },
);
const said = completion({ content: 'It is sunny.' });
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};
const weather = {
  type: 'function' as const,
  function: { name: 'weather', description: 'Weather of a city', parameters, strict: true },
};
const response_format = {
  type: 'json_schema' as const,
  json_schema: { name: 'place', strict: true, schema: parameters },
};

/** Every member of the SDK's types except those that request audio. */
const everything: OpenAI.ChatCompletionCreateParamsNonStreaming = {
  model: 'm',
  messages: [
    { role: 'developer', content: 'Be kind.', name: 'dev' },
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }], name: 'ann' },
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], refusal: 'No.', name: 'bot' },
  ],
  frequency_penalty: -2,
  function_call: 'none',
  functions: [{ name: 'f', description: 'd', parameters: { a: 1.5 } }],
  logit_bias: { 50256: -100 },
  logprobs: true,
  max_completion_tokens: 9,
  max_tokens: 9,
  metadata: { a: 'b' },
  modalities: ['text'],
  n: 1,
  parallel_tool_calls: true,
  prediction: { type: 'content', content: [{ type: 'text', text: 'It is' }] },
  presence_penalty: 2,
  prompt_cache_key: 'key-1',
  prompt_cache_retention: '24h',
  reasoning_effort: 'low',
  response_format,
  safety_identifier: 'user-1',
  seed: -9007199254740991,
  service_tier: 'flex',
  stop: ['\n', 'end'],
  store: true,
  stream: false,
  temperature: 0.7,
  tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function' }] } },
  tools: [
    weather,
    {
      type: 'custom',
      custom: { name: 'run', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
    },
  ],
  top_logprobs: 2,
  top_p: 0.5,
  user: 'user-1',
  verbosity: 'low',
  web_search_options: {
    search_context_size: 'low',
    user_location: { type: 'approximate', approximate: { city: 'Rome' } },
  },
};

async function listOf<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

const failures = [400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503].map(
  (status): Scene => ({
    title: `an error with ${status}`,
    replies: [
      {
        status,
        headers: { 'retry-after': '7' },
        body: {
          error: { message: `no ${status}`, type: 'x_error', param: 'messages[0]', code: 'some_code' },
        },
      },
    ],
    run: (baseURL) => openai(baseURL).chat.completions.create(hello),
  }),
);

const streamed = Object.entries(streams).flatMap(([what, frames]): Scene[] => {
  const replies = [{ stream: cutText(streamOf(frames), 37) }];
  return [
    {
      title: `a stream with ${what}`,
      replies,
      run: async (baseURL) =>
        await listOf(
          await openai(baseURL).chat.completions.create({
            ...hello,
            stream: true,
            stream_options: { include_usage: true },
          }),
        ),
    },
    {
      title: `a stream with ${what}, put together`,
      replies,
      run: (baseURL) => openai(baseURL).chat.completions.stream(hello).finalChatCompletion(),
    },
  ];
});

export const openaiScenes: readonly Scene[] = [
  {
    title: 'a text',
    replies: [{ body: said }],
    run: (baseURL) => openai(baseURL).chat.completions.create(hello),
  },
  {
    title: 'its request id and headers',
    replies: [{ body: said, headers: { 'x-ratelimit-remaining-requests': '9' } }],
    run: async (baseURL) => {
      const { request_id, response } = await openai(baseURL).chat.completions.create(hello).withResponse();
      return [
        request_id,
        ...['openai-version', 'x-ratelimit-remaining-requests'].map((name) => response.headers.get(name)),
      ];
    },
  },
  {
    title: 'every member that a request may have',
    replies: [{ body: said }],
    run: (baseURL) => openai(baseURL).chat.completions.create(everything),
  },
  {
    title: 'one answer as a response, as an object and as both',
    replies: [{ body: said }],
    run: async (baseURL) => {
      const called = openai(baseURL).chat.completions.create(hello);
      const [raw, value, both] = [await called.asResponse(), await called, await called.withResponse()];
      return [raw instanceof Response, raw.status, value, both.data === value, both.response === raw];
    },
  },
  {
    title: 'parallel tools, run by the SDK',
    replies: [{ body: calls }, { body: said }],
    run: async (baseURL) => {
      const runner = openai(baseURL).chat.completions.runTools({
        ...hello,
        tools: [
          {
            type: 'function',
            function: {
              name: 'weather',
              description: 'd',
              parameters,
              parse: (text: string) => JSON.parse(text) as { city: string },
              function: ({ city }: { city: string }) => `sunny in ${city}`,
            },
          },
        ],
      });
      return [await runner.finalContent(), runner.messages];
    },
  },
  {
    title: 'a structured output',
    replies: [{ body: completion({ content: '{"city":"Rome"}' }) }],
    run: (baseURL) => openai(baseURL).chat.completions.parse({ ...hello, response_format }),
  },
  {
    title: 'two choices',
    replies: [{ body: { ...said, choices: [said.choices[0], { ...said.choices[0], index: 1 }] } }],
    run: (baseURL) => openai(baseURL).chat.completions.create({ ...hello, n: 2 }),
  },
  {
    title: 'reasoning, citations, tokens and members of other servers',
    replies: [
      {
        body: {
          ...completion(
            {
              content: 'A',
              reasoning: 'why',
              reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }],
              annotations: [
                {
                  type: 'url_citation',
                  url_citation: { start_index: 0, end_index: 1, url: 'https://a', title: 't' },
                },
              ],
            },
            {
              logprobs: {
                content: [{ token: 'A', logprob: -0.5, bytes: [65], top_logprobs: [] }],
                refusal: null,
              },
            },
          ),
          provider: 'Someone',
          long: '12345678901234567890',
        },
      },
    ],
    run: (baseURL) => openai(baseURL).chat.completions.create({ ...hello, logprobs: true }),
  },
  ...failures,
  {
    title: 'an error that is no JSON',
    replies: [{ status: 502, headers: { 'content-type': 'text/html' }, body: '<html>bad gateway</html>' }],
    run: (baseURL) => openai(baseURL).chat.completions.create(hello),
  },
  {
    title: 'retries',
    replies: [
      { status: 500, headers: { 'retry-after-ms': '1' }, body: { error: { message: 'again' } } },
      { status: 429, headers: { 'retry-after-ms': '1' }, body: { error: { message: 'again' } } },
      { body: said },
    ],
    run: (baseURL) => openai(baseURL, { maxRetries: 3 }).chat.completions.create(hello),
  },
  {
    title: 'no retry where the server says so',
    replies: [{ status: 500, headers: { 'x-should-retry': 'false' }, body: { error: { message: 'never' } } }],
    run: (baseURL) => openai(baseURL, { maxRetries: 3 }).chat.completions.create(hello),
  },
  ...streamed,
  {
    title: 'an error in a stream',
    replies: [
      {
        stream: [
          `data: ${JSON.stringify(frame({ role: 'assistant', content: '' }))}\n\n`,
          'data: {"error":{"message":"overloaded","type":"server_error","code":"x"}}\n\n',
        ],
      },
    ],
    run: async (baseURL) =>
      await listOf(await openai(baseURL).chat.completions.create({ ...hello, stream: true })),
  },
  {
    title: 'a stream with CRLF, comments and no end',
    replies: [
      {
        stream: [
          ': OPENROUTER PROCESSING\r\n\r\n',
          streamOf([frame({ role: 'assistant', content: 'Hi' }), frame({}, { finish_reason: 'stop' })])
            .replace('data: [DONE]\n\n', '')
            .replaceAll('\n', '\r\n'),
        ],
      },
    ],
    run: async (baseURL) =>
      await listOf(await openai(baseURL).chat.completions.create({ ...hello, stream: true })),
  },
  {
    title: 'embeddings in base64',
    replies: [
      {
        body: {
          object: 'list',
          model: 'm',
          data: [
            {
              object: 'embedding',
              index: 0,
              embedding: Buffer.from(new Float32Array([0.1, -2]).buffer).toString('base64'),
            },
          ],
          usage: { prompt_tokens: 1, total_tokens: 1 },
        },
      },
    ],
    run: (baseURL) => openai(baseURL).embeddings.create({ model: 'm', input: ['a', 'b'] }),
  },
  {
    title: 'embeddings as numbers',
    replies: [
      {
        body: {
          object: 'list',
          model: 'm',
          data: [{ object: 'embedding', index: 0, embedding: [0.1, -2e-7] }],
          usage: { prompt_tokens: 1, total_tokens: 1 },
        },
      },
    ],
    run: (baseURL) =>
      openai(baseURL).embeddings.create({ model: 'm', input: 'a', encoding_format: 'float', dimensions: 2 }),
  },
];

const city = jsonSchema<{ city: string }>(parameters);
const tools = {
  weather: tool({ description: 'd', inputSchema: city, execute: ({ city: name }) => `sunny in ${name}` }),
};
const textStream = streamOf([
  ...(streams['a text'] ?? []),
  beside({ usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }),
]);

const models = {
  'the AI SDK for OpenAI': (baseURL: string) => createOpenAI({ baseURL, apiKey }).chat('m'),
  'the AI SDK for compatible servers': (baseURL: string) =>
    createOpenAICompatible({
      name: 'some',
      baseURL,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })('m'),
};

export const aiScenes: readonly Scene[] = Object.entries(models).flatMap(([who, model]): Scene[] => [
  {
    title: `${who}: a text`,
    replies: [{ body: completion({ content: 'A', reasoning_content: 'why' }) }],
    run: async (baseURL) => {
      const { text, reasoningText, finishReason, usage } = await generateText({
        model: model(baseURL),
        prompt: 'Hello',
        maxRetries: 0,
      });
      return { text, reasoningText, finishReason, usage };
    },
  },
  {
    title: `${who}: parallel tools`,
    replies: [{ body: calls }, { body: said }],
    run: async (baseURL) => {
      const { text, toolCalls, steps } = await generateText({
        model: model(baseURL),
        prompt: 'Weather?',
        tools,
        maxRetries: 0,
        stopWhen: ({ steps: done }) => done.length >= 2,
      });
      return { text, toolCalls, results: steps.map(({ toolResults }) => toolResults) };
    },
  },
  {
    title: `${who}: a structured output`,
    replies: [{ body: completion({ content: '{"city":"Rome"}' }) }],
    run: async (baseURL) => {
      const { output } = await generateText({
        model: model(baseURL),
        prompt: 'Where?',
        output: Output.object({ schema: city }),
        maxRetries: 0,
      });
      return output;
    },
  },
  {
    title: `${who}: a stream`,
    replies: [{ stream: cutText(textStream, 11) }],
    run: async (baseURL) =>
      await listOf(streamText({ model: model(baseURL), prompt: 'Hello', maxRetries: 0 }).textStream),
  },
  {
    title: `${who}: a stream of tool calls`,
    replies: [{ stream: [streamOf(streams['parallel tool calls'] ?? [])] }],
    run: async (baseURL) => {
      const { toolCalls, finishReason } = streamText({
        model: model(baseURL),
        prompt: 'Weather?',
        tools: {
          weather: tool({ inputSchema: city }),
          time: tool({ inputSchema: jsonSchema({ type: 'object' }) }),
        },
        maxRetries: 0,
      });
      return [await toolCalls, await finishReason];
    },
  },
  {
    title: `${who}: an error`,
    replies: [{ status: 400, body: { error: { message: 'bad', type: 'invalid_request_error', code: 'x' } } }],
    run: (baseURL) => generateText({ model: model(baseURL), prompt: 'Hello', maxRetries: 0 }),
  },
]);

export const otherScenes: readonly Scene[] = [
  {
    title: 'LangChain: a text',
    replies: [{ body: said }],
    run: async (baseURL) => (await langchain(baseURL).invoke([new HumanMessage('Hello')])).content,
  },
  {
    title: 'LangChain: tools',
    replies: [{ body: calls }],
    run: async (baseURL) => (await langchain(baseURL).bindTools([weather]).invoke('Weather?')).tool_calls,
  },
  {
    title: 'LangChain: a stream',
    replies: [{ stream: cutText(textStream, 23) }],
    run: async (baseURL) =>
      (await listOf(await langchain(baseURL).stream('Hello'))).map(({ content }) => content),
  },
  {
    title: 'LangChain: an error',
    replies: [
      { status: 429, body: { error: { message: 'slow down', type: 'x', code: 'rate_limit_exceeded' } } },
    ],
    run: (baseURL) => langchain(baseURL).invoke('Hello'),
  },
  {
    title: 'the AI SDK: an embedding',
    replies: [
      {
        body: {
          object: 'list',
          model: 'm',
          data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }],
          usage: { prompt_tokens: 1, total_tokens: 1 },
        },
      },
    ],
    run: async (baseURL) => {
      const { embedding, usage } = await embed({
        model: createOpenAI({ baseURL, apiKey }).embedding('m'),
        value: 'a',
        maxRetries: 0,
      });
      return { embedding, usage };
    },
  },
];

function langchain(baseURL: string): ChatOpenAI {
  return new ChatOpenAI({ model: 'm', apiKey, maxRetries: 0, configuration: { baseURL, logLevel: 'off' } });
}
