import type Anthropic from '@anthropic-ai/sdk';
import { type MessagesReply, message, text } from '../upstreams/messages-upstream.ts';

export interface Scene {
  readonly title: string;
  readonly replies: readonly MessagesReply[];
  readonly run: (client: Anthropic) => Promise<unknown>;
}

const ask = {
  model: 'claude-test',
  max_tokens: 1000,
  messages: [{ role: 'user' as const, content: 'What is the weather in Paris?' }],
};
const betas = ['interleaved-thinking-2025-05-14', 'context-management-2025-06-27'];
const tools = [
  {
    name: 'weather',
    description: 'The weather of a place.',
    input_schema: { type: 'object' as const, properties: { place: { type: 'string' } } },
  },
];

const long = text('It is sunny in Paris. '.repeat(40));
const cited = text('Grass is green.', [
  {
    type: 'char_location',
    ...{ cited_text: 'The grass is green.', document_index: 0, document_title: 'Facts', file_id: null },
    ...{ start_char_index: 0, end_char_index: 20 },
  },
]);
const calls = [
  text('Let me look.'),
  { type: 'tool_use', id: 'toolu_01', name: 'weather', input: { place: 'Paris', days: [1, 2] } },
  { type: 'tool_use', id: 'toolu_02', name: 'weather', input: {} },
];
const thinking = {
  type: 'thinking',
  thinking: 'The user wants the weather, so I call the tool.',
  signature: Buffer.from(new Uint8Array(200).map((_, index) => 255 - index)).toString('base64'),
};
const searched = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Paris' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      {
        type: 'web_search_result',
        ...{ url: 'https://example.com/', title: 'Paris', page_age: null, encrypted_content: 'Eo8CCioIARgC' },
      },
    ],
  },
  text('It is sunny.'),
];

/** The second turn of a tool loop sends the model's answer back unchanged. */
async function answerCalls(client: Anthropic, isStream: boolean): Promise<unknown> {
  const create = async (messages: Anthropic.MessageParam[]) =>
    isStream
      ? await client.messages.stream({ ...ask, tools, messages }).finalMessage()
      : await client.messages.create({ ...ask, tools, messages });
  const first = await create(ask.messages);
  const results = first.content.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            type: 'tool_result' as const,
            tool_use_id: block.id,
            content: 'sunny',
            is_error: block.id === 'toolu_02',
          },
        ]
      : [],
  );
  const second = await create([
    ...ask.messages,
    { role: 'assistant', content: first.content },
    { role: 'user', content: results },
  ]);
  return [first, second];
}

const errors: readonly (readonly [number, string])[] = [
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [409, 'invalid_request_error'],
  [413, 'request_too_large'],
  [422, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [503, 'api_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
];

function errorOf(status: number, type: string): MessagesReply {
  return {
    status,
    error: {
      type: 'error',
      error: { type, message: `it is ${status}` },
      request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
    },
  };
}

async function listEvents(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const list: unknown[] = [];
  for await (const event of events) list.push(event);
  return list;
}

export const messageScenes: readonly Scene[] = [
  {
    title: 'a text',
    replies: [{ message: message([long]) }],
    run: async (client) => {
      const { data, request_id: id } = await client.messages.create(ask).withResponse();
      return { data, id };
    },
  },
  {
    title: 'a streamed text',
    replies: [{ message: message([long]) }],
    run: async (client) => await client.messages.stream(ask).finalMessage(),
  },
  {
    title: 'the events of a stream, one by one',
    replies: [{ message: message([thinking, long, ...calls], { stop_reason: 'tool_use' }) }],
    run: async (client) => await listEvents(await client.messages.create({ ...ask, stream: true })),
  },
  {
    title: 'the beta API',
    replies: [{ message: message([cited], { context_management: { applied_edits: [] } }) }],
    run: async (client) => await client.beta.messages.create({ ...ask, betas }),
  },
  {
    title: 'the beta API, streamed',
    replies: [{ message: message([...searched, cited], { context_management: { applied_edits: [] } }) }],
    run: async (client) => await client.beta.messages.stream({ ...ask, betas }).finalMessage(),
  },
  ...[false, true].map((isStream) => ({
    title: `parallel tools and signed thinking over two turns${isStream ? ', streamed' : ''}`,
    replies: [
      { message: message([thinking, ...calls], { stop_reason: 'tool_use' }) },
      { message: message([long]) },
    ],
    run: async (client: Anthropic) => await answerCalls(client, isStream),
  })),
  {
    title: 'structured output',
    replies: [{ message: message([text('{"city": "Paris"}')]) }],
    run: async (client) =>
      await client.messages.create({
        ...ask,
        output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      }),
  },
  {
    title: 'images, documents, search results and citations in what is asked',
    replies: [{ message: message([cited]) }],
    run: async (client) =>
      await client.messages.create({
        ...ask,
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
              {
                type: 'document',
                title: 'Facts',
                citations: { enabled: true },
                source: { type: 'text', media_type: 'text/plain', data: 'The grass is green.' },
              },
              { type: 'search_result', source: 'x', title: 'y', content: [{ type: 'text', text: 'z' }] },
              { type: 'text', text: 'What is green?' },
            ],
          },
        ],
      }),
  },
  {
    title: 'a refusal of the model',
    replies: [
      {
        message: message([], {
          stop_reason: 'refusal',
          stop_details: { type: 'refusal', category: 'cyber', explanation: null },
        }),
      },
    ],
    run: async (client) => await client.messages.stream(ask).finalMessage(),
  },
  {
    title: 'a count of tokens',
    replies: [],
    run: async (client) =>
      await client.messages.countTokens({ model: ask.model, messages: ask.messages, tools }),
  },
  {
    title: 'a count of tokens of the beta API',
    replies: [],
    run: async (client) =>
      await client.beta.messages.countTokens({ model: ask.model, messages: ask.messages, betas }),
  },
  {
    title: 'retries of an upstream that is busy',
    replies: [
      { ...errorOf(529, 'overloaded_error'), headers: { 'retry-after-ms': '1' } },
      { ...errorOf(429, 'rate_limit_error'), headers: { 'retry-after-ms': '1' } },
      { message: message([text('at last')]) },
    ],
    run: async (client) => await client.messages.create(ask, { maxRetries: 2 }),
  },
  {
    title: 'an error in the middle of a stream',
    replies: [
      {
        stream:
          'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      },
    ],
    run: async (client) => await client.messages.stream(ask).finalMessage(),
  },
  ...errors.flatMap(([status, type]) =>
    [false, true].map((isStream) => ({
      title: `an error ${status}${isStream ? ' in place of a stream' : ''}`,
      replies: [errorOf(status, type)],
      run: async (client: Anthropic) =>
        isStream ? await client.messages.stream(ask).finalMessage() : await client.messages.create(ask),
    })),
  ),
];
