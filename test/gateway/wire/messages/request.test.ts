import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import type { WireRules } from '../../../../src/gateway/wire/codec.ts';
import { messagesCodec } from '../../../../src/gateway/wire/messages/codec.ts';
import { RefusedCall } from '../../../../src/gateway/wire/refusal.ts';
import { asRead } from './trees.ts';

const none: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };
const user = (content: unknown) => ({ role: 'user', content });

function body(messages: readonly unknown[], more: Record<string, unknown> = {}): string {
  return JSON.stringify({ model: 'm', max_tokens: 1, messages, ...more });
}

function refusalOf(text: string, rules = none) {
  try {
    messagesCodec.readRequest(text, rules);
  } catch (error) {
    if (error instanceof RefusedCall) return error.refusal;
    throw error;
  }
  return undefined;
}

const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjcK' };

describe('a request is refused', () => {
  test.each<[string, string, string, string | undefined]>([
    [
      'with a block of an unknown kind',
      body([user([{ type: 'hologram' }])]),
      'unknown_content',
      'messages[0].content[0]',
    ],
    [
      'with an image',
      body([user([{ type: 'image', source: png }])]),
      'unknown_content',
      'messages[0].content[0]',
    ],
    [
      'with a file',
      body([user([{ type: 'document', source: pdf }])]),
      'unknown_content',
      'messages[0].content[0]',
    ],
    [
      'with an image in the result of a tool',
      body([user([{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: png }] }])]),
      'unknown_content',
      'messages[0].content[0].content[0]',
    ],
    [
      'with bytes in a result of the provider',
      body([
        {
          role: 'assistant',
          content: [
            { type: 'web_fetch_tool_result', tool_use_id: 't', content: { content: { source: pdf } } },
          ],
        },
      ]),
      'unknown_content',
      'messages[0].content[0].content.content.source',
    ],
    [
      'with an uploaded file',
      body([user([{ type: 'document', source: { type: 'file', file_id: 'f' } }])]),
      'unreadable_reference',
      'messages[0].content[0].source.file_id',
    ],
    [
      'with a file for the container',
      body([user([{ type: 'container_upload', file_id: 'f' }])]),
      'unreadable_reference',
      'messages[0].content[0].file_id',
    ],
    ['in a container', body([], { container: 'c' }), 'unreadable_reference', 'container'],
    [
      'of a thread',
      body([], { thread: { type: 'continue', previous_message_id: 'm' } }),
      'unreadable_reference',
      'thread',
    ],
    ['with other models', body([], { fallbacks: [{ model: 'x' }] }), 'unreadable_reference', 'fallbacks'],
    [
      'with a tool of another model',
      body([], { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'x' }] }),
      'unreadable_reference',
      'tools[0].model',
    ],
    [
      'with a block of the system that is no text',
      body([], { system: [{ type: 'image', source: png }] }),
      'unknown_content',
      'system[0]',
    ],
    ['with a role of its own', body([{ role: 'tool', content: 'x' }]), 'invalid_request', 'messages[0].role'],
    ['without content', body([{ role: 'user' }]), 'invalid_request', 'messages[0].content'],
    ['with content that is an object', body([user({ text: 'x' })]), 'invalid_request', 'messages[0].content'],
    [
      'with a text that is a number',
      body([user([{ type: 'text', text: 1 }])]),
      'invalid_request',
      'messages[0].content[0].text',
    ],
    ['without a model', '{"messages":[]}', 'invalid_request', 'model'],
    ['that may be a stream', body([], { stream: 'yes' }), 'invalid_request', 'stream'],
    ['that is no JSON', '{"model":', 'invalid_request', undefined],
    [
      'with a key twice',
      '{"model":"m","messages":[{"role":"user","content":"a","content":"b"}]}',
      'invalid_request',
      undefined,
    ],
  ])('%s', (_, text, code, param) => {
    expect(refusalOf(text)).toMatchObject({ status: 400, code, param, isRetryable: false });
  });

  test('unless the config lets it pass, and then hooks see it', () => {
    const rules = {
      ...none,
      opaque: new Set(['image', 'hologram']),
      references: new Set(['container', 'fallbacks']),
    };
    const text = body(
      [
        user([
          { type: 'hologram', secret: 'x' },
          { type: 'image', source: png },
        ]),
      ],
      {
        container: 'c',
        fallbacks: 'default',
      },
    );
    const { payload } = messagesCodec.readRequest(text, rules);
    expect(asRead(payload.messages)).toEqual([
      {
        role: 'user',
        content: '',
        parts: [
          { type: 'hologram' },
          {
            type: 'image',
            media: { mime_type: 'image/png', size_bytes: 8, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
          },
        ],
      },
    ]);
    expect(payload.other.value).toEqual({ container: 'c', fallbacks: 'default' });
  });
});

const call = { type: 'tool_use', id: 't1', name: 'look', input: { at: 'x' } };
const result = { type: 'tool_result', tool_use_id: 't1', content: 'seen', is_error: true };
const talk = [
  user('hi'),
  { role: 'assistant', content: [{ type: 'text', text: 'let me' }, call] },
  user([result, { type: 'text', text: 'and?' }]),
];

test('messages are shown as docs/reference/guard.md says, each result as a separate message', () => {
  const request = messagesCodec.readRequest(body(talk), none);
  expect(asRead(request.payload.messages)).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'let me', tool_calls: [{ id: 't1', name: 'look', args: { at: 'x' } }] },
    { role: 'tool', content: 'seen', tool_result: { id: 't1', name: 'look', error: 'seen' } },
    { role: 'user', content: 'and?' },
  ]);
  expect(request.places).toEqual([
    'messages[0]',
    'messages[1]',
    'messages[2].content[0]',
    'messages[2].content[1]',
  ]);
  expect(request.toolResults).toMatchObject([
    { callId: 't1', call: { name: 'look' }, content: 'seen', isError: true, index: 2 },
  ]);
  expect(request.payload.round).toBe(1);
});

type Change = (messages: readonly ChatMessage[]) => readonly ChatMessage[];

function write(change: Change, text = body(talk)): unknown {
  const request = messagesCodec.readRequest(text, none);
  const messages = change(asRead(request.payload.messages));
  return JSON.parse(request.write({ ...request.payload, messages }, 'm')).messages;
}

const plain = (role: 'user' | 'assistant', content: string): ChatMessage => ({ role, content });
const without =
  (index: number): Change =>
  (messages) =>
    messages.filter((_, at) => at !== index);
const edit =
  (index: number, more: Record<string, unknown>): Change =>
  (messages) =>
    messages.map((message, at) => (at === index ? { ...message, ...more } : message));

describe('hooks may', () => {
  test.each<[string, Change, unknown]>([
    ['take a message out', without(0), talk.slice(1)],
    ['take a part of a message out', without(3), [talk[0], talk[1], user([result])]],
    ['put a message in', (messages) => [plain('user', 'new'), ...messages], [user('new'), ...talk]],
    ['put a message behind all', (messages) => [...messages, plain('user', 'new')], [...talk, user('new')]],
    ['mark messages', edit(0, { meta: { signalbox_pii: 'x' } }), talk],
    [
      'rename a call',
      edit(1, { tool_calls: [{ id: 't1', name: 'peek', args: { at: 'y' } }] }),
      [
        talk[0],
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'let me' },
            { ...call, name: 'peek', input: { at: 'y' } },
          ],
        },
        talk[2],
      ],
    ],
    [
      'change what a tool said',
      edit(2, { content: 'x', tool_result: { id: 't1', name: 'look' } }),
      [
        talk[0],
        talk[1],
        user([
          { ...result, content: 'x', is_error: false },
          { type: 'text', text: 'and?' },
        ]),
      ],
    ],
  ])('%s', (_, change, written) => {
    expect(write(change)).toEqual(written);
  });
});

describe('a change that cannot be written exactly denies', () => {
  test.each<[string, Change]>([
    [
      'a call that was not made',
      edit(1, {
        tool_calls: [
          { id: 't1', name: 'look', args: { at: 'x' } },
          { id: 't2', name: 'x', args: {} },
        ],
      }),
    ],
    ['a call without its result', without(2)],
    ['a result without its call', edit(1, { tool_calls: [] })],
    ['another order', (messages) => messages.toReversed()],
    [
      'a message between the parts of another',
      (messages) => [...messages.slice(0, 3), plain('user', 'new'), ...messages.slice(3)],
    ],
    [
      'a new message with a call',
      (messages) => [
        ...messages,
        { ...plain('assistant', 'x'), tool_calls: [{ id: 'x', name: 'y', args: {} }] },
      ],
    ],
    ['a new message of the system', (messages) => [...messages, { role: 'system', content: 'x' }]],
    ['another result', edit(2, { tool_result: { id: 't9', name: 'look' } })],
    ['reasoning that was not there', edit(1, { reasoning: 'x' })],
    ['citations that were not there', edit(1, { citations: [{ cited_text: 'x' }] })],
    ['a file that was not there', edit(0, { parts: [{ type: 'image', media: { url: 'x' } }] })],
    ['what is left over of nothing', edit(0, { other: { x: 1 } })],
    ['a member that no body has', edit(0, { mood: 'good' })],
  ])('%s', (_, change) => {
    expect(() => write(change)).toThrow(expect.objectContaining({ code: 'REPLY_MALFORMED' }));
  });
});

test('a system prompt of blocks is changed in its blocks, and keeps their marks', () => {
  const system = [
    { type: 'text', text: 'One.\n\nOf Jane.' },
    { type: 'text', text: 'Two of Jane.', cache_control: { type: 'ephemeral' } },
  ];
  const request = messagesCodec.readRequest(body([user('hi')], { system }), none);
  expect(request.payload.system_prompt).toBe('One.\n\nOf Jane.\n\nTwo of Jane.');
  const put = (system_prompt: string) =>
    JSON.parse(request.write({ ...request.payload, system_prompt }, 'other')) as Record<string, unknown>;
  expect(put(request.payload.system_prompt.replaceAll('Jane', '[name]'))).toMatchObject({
    model: 'other',
    system: [
      { type: 'text', text: 'One.\n\nOf [name].' },
      { type: 'text', text: 'Two of [name].', cache_control: { type: 'ephemeral' } },
    ],
  });
  expect(put('All new.')['system']).toEqual([
    { type: 'text', text: 'All new.', cache_control: { type: 'ephemeral' } },
  ]);
});

test('tools may be removed, and other members of a body changed in their places', () => {
  const tools = ['a', 'b'].map((name) => ({ name, description: `does ${name}`, input_schema: {} }));
  const request = messagesCodec.readRequest(
    body([], { tools, stop_sequences: ['x'], metadata: { user_id: 'jane' } }),
    none,
  );
  const { payload } = request;
  const fewer = request.write({ ...payload, tools: payload.tools.slice(1) }, 'm');
  expect(JSON.parse(fewer).tools).toEqual(tools.slice(1));
  const other = { tools, stop_sequences: ['x'], metadata: { user_id: 'she' } };
  const changed = request.write({ ...payload, other: asRead(other) as never }, 'm');
  expect(JSON.parse(changed).metadata).toEqual({ user_id: 'she' });
  const added = [...payload.tools, { name: 'c', description: '', input_schema: {} }];
  expect(() => request.write({ ...payload, tools: added }, 'm')).toThrow(
    expect.objectContaining({ code: 'REPLY_MALFORMED' }),
  );
});

describe('a file that may pass', () => {
  const rules: WireRules = { ...none, opaque: new Set(['image', 'file']) };
  const secret = 'Jane Doe';

  test.each([
    ['image', { ...png, data: `iVBO ${secret}` }],
    ['document', { ...pdf, data: secret }],
    ['document', { type: 'base64', media_type: 'text/plain', data: `aGk= ${secret}` }],
  ])('is refused when its bytes are more than base64: %s %j', (type, source) => {
    expect(refusalOf(body([user([{ type, source }])]), rules)).toMatchObject({
      code: 'invalid_request',
      param: 'messages[0].content[0].source.data',
    });
  });

  test.each([
    ['image', { ...png, media_type: [secret] }],
    ['document', { ...pdf, media_type: { [secret]: null } }],
    ['document', { type: 'text', media_type: [secret], data: 'd' }],
  ])('has a media type of another JSON type in `other`: %s %j', (type, source) => {
    const { messages } = messagesCodec.readRequest(body([user([{ type, source }])]), rules).payload;
    expect(asRead(messages[0]?.['other'])).toEqual({ 'content[0].source.media_type': source.media_type });
  });
});

test('tools that a hook changes in `tools` and in `other` at once deny', () => {
  const tools = ['a', 'b'].map((name) => ({ name, description: `does ${name}`, input_schema: {} }));
  const request = messagesCodec.readRequest(body([], { tools }), none);
  const listings = [{ ...request.payload.tools[0], description: 'x' }, request.payload.tools[1]];
  const other = { tools: [{ ...tools[0], description: 'y' }, tools[1]] };
  expect(() => request.write({ ...request.payload, tools: listings, other } as never, 'm')).toThrow(
    expect.objectContaining({ code: 'REPLY_MALFORMED' }),
  );
});
