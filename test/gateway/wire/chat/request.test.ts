import { describe, expect, it } from 'vitest';
import { Json } from '../../../../src/base/json/json.ts';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import { chatCodec } from '../../../../src/gateway/wire/chat/codec.ts';
import type { RequestPayload, WireRules } from '../../../../src/gateway/wire/codec.ts';
import { media, strict } from './rules.ts';

const open = (value: unknown, rules: WireRules = strict) =>
  chatCodec.readRequest(typeof value === 'string' ? value : JSON.stringify(value), rules);

const told = (messages: unknown[], rules?: WireRules) => open({ model: 'm', messages }, rules).payload;

function changed(
  body: Readonly<Record<string, unknown>>,
  change: (payload: RequestPayload) => Partial<RequestPayload>,
  rules?: WireRules,
): unknown {
  const request = open({ model: 'm', ...body }, rules);
  return JSON.parse(request.write({ ...request.payload, ...change(request.payload) }, 'm'));
}

const refused = (status: number, code: string, param?: string) =>
  expect.objectContaining({ refusal: expect.objectContaining({ status, code, ...(param && { param }) }) });

const unwritable = expect.objectContaining({ code: 'REPLY_MALFORMED' });

const weather = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city": "Rome"}' },
};

describe('a chat request', () => {
  it('shows hooks every role', () => {
    const { messages, system_prompt, round } = told([
      { role: 'system', content: 'Be kind.' },
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be ' },
          { type: 'text', text: 'brief.' },
        ],
      },
      { role: 'user', content: 'Hello', name: 'ann' },
      { role: 'assistant', content: null, tool_calls: [weather], reasoning_content: 'Rome?' },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      { role: 'system', content: 'Now in French.' },
      { role: 'assistant', content: '', refusal: 'No.' },
    ]);
    expect(system_prompt).toBe('Be kind.\n\nBe brief.');
    expect(round).toBe(3);
    expect(messages).toEqual([
      { role: 'user', content: 'Hello', other: new Json('{"name":"ann"}') },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_1', name: 'weather', args: new Json('{"city": "Rome"}') }],
        reasoning: 'Rome?',
      },
      { role: 'tool', content: 'sunny', tool_result: { id: 'call_1', name: 'weather' } },
      { role: 'system', content: 'Now in French.' },
      { role: 'assistant', content: '', refusal: 'No.' },
    ]);
  });

  it('shows hooks legacy calls and custom tools, and finds the call of each result', () => {
    const request = open({
      model: 'm',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: 'not json' } },
        { role: 'function', name: 'f', content: 'done' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'g', input: 'x = 1' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'ok' }] },
        { role: 'tool', tool_call_id: 'gone', content: 'lost' },
      ],
    });
    expect(request.payload.messages[1]?.['tool_calls']).toEqual([
      { id: '', name: 'f', args: Json.from('not json') },
    ]);
    expect(request.toolResults).toEqual([
      {
        callId: '',
        call: { name: 'f', args: Json.from('not json') },
        content: 'done',
        isError: false,
        index: 2,
      },
      { callId: 'c', call: { name: 'g', args: Json.from('x = 1') }, content: 'ok', isError: false, index: 4 },
      { callId: 'gone', call: undefined, content: 'lost', isError: false, index: 5 },
    ]);
    expect(request.places).toEqual([0, 1, 2, 3, 4, 5].map((index) => `messages[${index}]`));
  });

  it('shows hooks the rest of its body with its exact texts, without the numbers of known settings', () => {
    const body =
      '{"model":"m","messages":[],"temperature":0.5,"n":2,"stream":true,"stream_options":{"include_usage":true},' +
      '"user":"ann","seed":12345678901234567890,"max_tokens":7,"tools":[{"type":"function","function":{"name":"f",' +
      '"description":"d","parameters":{"type":"object","default":1.00}}}],"web_search_options":{ "a" : 1.50 },"top_p":"x"}';
    const request = open(body);
    expect(request.payload.other.text).toBe(
      '{"user":"ann","tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object",' +
        '"default":1.00}}}],"web_search_options":{ "a" : 1.50 },"top_p":"x"}',
    );
    expect(request.payload.tools).toEqual([
      { name: 'f', description: 'd', input_schema: { type: 'object', default: 1 } },
    ]);
    expect(request.payload.options).toEqual({ max_tokens: 7, temperature: 0.5 });
    expect([request.model, request.isStream, request.choices, request.maxTokens]).toEqual(['m', true, 2, 7]);
  });

  it('shows hooks pictures, audio and files without their bytes, and the text of text files', () => {
    const { messages } = told(
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look: ' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGVsbG8=' } },
          ],
        },
      ],
      media,
    );
    expect(messages).toEqual([
      {
        role: 'user',
        content: 'Look: hello',
        parts: [
          { type: 'text', text: 'Look: ' },
          { type: 'image', media: { mime_type: 'image/*', url: 'https://example.com/a.png' } },
          {
            type: 'image',
            media: { mime_type: 'image/png', size_bytes: 8, sha256: expect.stringMatching(/^\w{64}$/) },
          },
          {
            type: 'audio',
            media: { mime_type: 'audio/wav', size_bytes: 3, sha256: expect.stringMatching(/^\w{64}$/) },
          },
          { type: 'document', text: 'hello', media: { mime_type: 'text/plain', filename: 'a.txt' } },
        ],
      },
    ]);
  });

  it.each<[string, unknown, string, string]>([
    ['no JSON', '{', 'invalid_request', ''],
    ['a key twice', '{"model":"m","messages":[],"messages":[]}', 'invalid_request', ''],
    ['no model', { messages: [] }, 'invalid_request', 'model'],
    ['no messages', { model: 'm' }, 'invalid_request', 'messages'],
    ['a message that is none', { model: 'm', messages: ['hi'] }, 'invalid_request', 'messages[0]'],
    [
      'an unknown role',
      { model: 'm', messages: [{ role: 'oracle', content: 'x' }] },
      'unknown_content',
      'messages[0].role',
    ],
    ['no role', { model: 'm', messages: [{ content: 'x' }] }, 'unknown_content', 'messages[0].role'],
    [
      'a content of another kind',
      { model: 'm', messages: [{ role: 'user', content: { a: 'x' } }] },
      'invalid_request',
      'messages[0].content',
    ],
    [
      'a part that is a text',
      { model: 'm', messages: [{ role: 'user', content: ['x'] }] },
      'unknown_content',
      'messages[0].content[0]',
    ],
    [
      'an unknown part',
      { model: 'm', messages: [{ role: 'user', content: [{ type: 'thing' }] }] },
      'unknown_content',
      'messages[0].content[0]',
    ],
    [
      'a picture',
      {
        model: 'm',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a' } }] }],
      },
      'unknown_content',
      'messages[0].content[0]',
    ],
    [
      'an unknown call',
      { model: 'm', messages: [{ role: 'assistant', tool_calls: [{ type: 'magic' }] }] },
      'unknown_content',
      'messages[0].tool_calls[0]',
    ],
    [
      'speech of an earlier answer',
      { model: 'm', messages: [{ role: 'assistant', audio: { id: 'a' } }] },
      'unreadable_reference',
      'messages[0].audio',
    ],
    ['a stream that is a text', { model: 'm', messages: [], stream: 'yes' }, 'invalid_request', 'stream'],
  ])('is refused with %s', (_what, body, code, param) => {
    expect(() => open(body)).toThrow(refused(400, code, param));
  });

  it('is refused with an uploaded file unless references to it may pass', () => {
    const body = {
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }],
    };
    expect(() => open(body, media)).toThrow(refused(400, 'unreadable_reference'));
    const request = open(body, { ...media, references: new Set(['file_id']) });
    expect(request.payload.messages[0]?.['other']).toEqual(new Json('{"content[0].file.file_id":"file-1"}'));
  });
});

describe('a chat request that hooks have changed', () => {
  it('is the same string when nothing differs, or only marks do', () => {
    const body = '{ "model":"m",\n "messages" : [ {"role":"user","content":"\\u0041 \\/ b", "x": 1.0} ] }';
    const request = open(body);
    expect(request.write(request.payload, 'm')).toBe(body);
    const marked = request.payload.messages.map((message) => ({ ...message, meta: { mark: 1 } }));
    expect(request.write({ ...request.payload, messages: marked }, 'm')).toBe(body);
    const rebuilt = JSON.parse(JSON.stringify(request.payload.messages)) as ChatMessage[];
    expect(request.write({ ...request.payload, messages: rebuilt }, 'm')).toBe(body);
    expect(request.write(request.payload, 'up"stream')).toBe(body.replace('"m"', '"up\\"stream"'));
  });

  it('has the new texts in their places', () => {
    const body =
      '{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"A", "n" : 1.0},{"role":"user","content":"B"}]}';
    const request = open(body);
    const [first, second] = request.payload.messages;
    if (first === undefined || second === undefined) throw new Error('missing');
    const messages = [{ ...first, content: 'x"y' }, second];
    expect(request.write({ ...request.payload, system_prompt: 'T', messages }, 'm')).toBe(
      '{"model":"m","messages":[{"role":"system","content":"T"},{"role":"user","content":"x\\"y", "n" : 1.0},{"role":"user","content":"B"}]}',
    );
  });

  it('loses what a replaced message does not repeat', () => {
    const call = {
      role: 'assistant',
      content: 'c',
      refusal: 'r',
      reasoning: 'why',
      reasoning_details: [{ text: 'why' }],
      tool_calls: [weather],
      name: 'bot',
    };
    expect(
      changed({ messages: [call, { role: 'user', content: 'u', name: 'ann' }] }, () => ({
        messages: [
          { role: 'assistant', content: 'd' },
          { role: 'user', content: 'v' },
        ],
      })),
    ).toEqual({
      model: 'm',
      messages: [
        { role: 'assistant', content: 'd', refusal: null },
        { role: 'user', content: 'v' },
      ],
    });
  });

  it('may lose messages and gain plain ones', () => {
    const messages = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }));
    const rewrite = (list: ChatMessage[]) => changed({ messages }, () => ({ messages: list }));
    expect(
      rewrite([
        { role: 'user', content: 'a' },
        { role: 'user', content: 'c' },
      ]),
    ).toEqual({ model: 'm', messages: [messages[0], messages[2]] });
    expect(rewrite([{ role: 'system', content: 'n' }, ...messages] as ChatMessage[])).toEqual({
      model: 'm',
      messages: [{ role: 'system', content: 'n' }, ...messages],
    });
    expect(rewrite([])).toEqual({ model: 'm', messages: [] });
  });

  it('has changed names and arguments of tool calls, and fewer of them', () => {
    const second = { id: 'call_2', type: 'function', function: { name: 'time', arguments: '{}' } };
    const messages = [{ role: 'assistant', content: 'x', tool_calls: [weather, second] }];
    const rewrite = (calls: unknown) =>
      changed({ messages }, () => ({ messages: [{ role: 'assistant', content: 'x', tool_calls: calls }] }));
    expect(rewrite([{ id: 'call_1', name: 'climate', args: { city: 'Oslo' } }])).toEqual({
      model: 'm',
      messages: [
        {
          role: 'assistant',
          content: 'x',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'climate', arguments: '{"city":"Oslo"}' } },
          ],
        },
      ],
    });
    expect(rewrite([])).toEqual({ model: 'm', messages: [{ role: 'assistant', content: 'x' }] });
    expect(rewrite([{ id: 'call_2', name: 'time', args: 'broken {' }])).toEqual({
      model: 'm',
      messages: [
        {
          role: 'assistant',
          content: 'x',
          tool_calls: [{ ...second, function: { name: 'time', arguments: 'broken {' } }],
        },
      ],
    });
  });

  it('keeps pictures in their places', () => {
    const picture = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    const content = [{ type: 'text', text: 'secret ' }, picture, { type: 'text', text: 'end' }];
    const body = { messages: [{ role: 'user', content }] };
    const parts = told(body.messages, media).messages[0]?.['parts'];
    const list = Array.isArray(parts) ? parts : [];
    const rewrite = (message: object) =>
      changed(body, () => ({ messages: [{ role: 'user', content: '', ...message }] }), media);
    expect(
      rewrite({ content: 'public end', parts: [{ type: 'text', text: 'public ' }, list[1], list[2]] }),
    ).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'public ' }, picture, content[2]] }],
    });
    expect(rewrite({ content: 'end', parts: [{ type: 'text', text: 'end' }] })).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'end' }] }],
    });
    expect(rewrite({ content: 'only text' })).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'only text' }],
    });
    expect(() => rewrite({ parts: [{ type: 'image', media: { url: 'https://other' } }] })).toThrow(
      unwritable,
    );
  });

  it('has changed texts of text files in their old form', () => {
    const file = { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGVsbG8=' } };
    const body = { messages: [{ role: 'user', content: [file] }] };
    const after = changed(
      body,
      ({ messages: [message] }) => {
        const [part] = Array.isArray(message?.['parts']) ? message['parts'] : [];
        return { messages: [{ role: 'user', content: 'bye', parts: [{ ...part, text: 'bye' }] }] };
      },
      media,
    );
    expect(after).toEqual({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [{ ...file, file: { ...file.file, file_data: 'data:text/plain;base64,Ynll' } }],
        },
      ],
    });
  });

  it.each<[string, string[], string, unknown]>([
    ['a text to nothing', ['S'], '', []],
    ['nothing to a text', [], 'T', [{ role: 'system', content: 'T' }]],
    [
      'each of two',
      ['A', 'B'],
      'a\n\nb',
      [
        { role: 'system', content: 'a' },
        { role: 'system', content: 'b' },
      ],
    ],
    [
      'the second of two with empty lines',
      ['A\n\nB', 'C'],
      'A\n\nB\n\nc',
      [
        { role: 'system', content: 'A\n\nB' },
        { role: 'system', content: 'c' },
      ],
    ],
  ])('has the new system prompt, %s', (_what, before, system_prompt, after) => {
    const messages = before.map((content) => ({ role: 'system', content }));
    const user = { role: 'user', content: 'u' };
    expect(changed({ messages: [...messages, user] }, () => ({ system_prompt }))).toEqual({
      model: 'm',
      messages: [...(after as unknown[]), user],
    });
  });

  it('has changes of other members in their places', () => {
    const body = { user: 'ann', metadata: { a: 'x' }, messages: [] };
    expect(changed(body, () => ({ other: new Json('{"metadata":{"a":"y"},"stop":["z"]}') }))).toEqual({
      model: 'm',
      metadata: { a: 'y' },
      stop: ['z'],
      messages: [],
    });
  });

  it('has fewer tools, or other descriptions of them', () => {
    const tool = (name: string) => ({
      type: 'function',
      function: { name, description: name, parameters: {} },
    });
    const body = { messages: [], tools: [tool('a'), tool('b')] };
    expect(changed(body, ({ tools }) => ({ tools: tools.slice(1) }))).toEqual({
      model: 'm',
      messages: [],
      tools: [tool('b')],
    });
    expect(changed(body, () => ({ tools: [] }))).toEqual({ model: 'm', messages: [] });
    expect(() =>
      changed(body, ({ tools }) => ({ tools: tools.map((each) => ({ ...each, name: 'c' })) })),
    ).toThrow(unwritable);
  });

  it.each<[string, Partial<RequestPayload>]>([
    ['a system prompt of two that cannot be parted', { system_prompt: 'something else' }],
    [
      'a user’s message with tool calls',
      { messages: [{ role: 'user', content: 'u', tool_calls: [{ id: 'a', name: 'b', args: {} }] }] },
    ],
    [
      'a new message that is no text alone',
      {
        messages: [
          { role: 'user', content: 'u' },
          { role: 'tool', content: 'x', tool_result: { id: 'a', name: 'b' } },
        ],
      },
    ],
    ['a member of the rest that is told elsewhere', { other: new Json('{"messages":[]}') }],
    ['another model', { other: new Json('{"model":"big"}') }],
    ['a rest that is no object', { other: new Json('[1]') }],
  ])('is denied with %s', (_what, change) => {
    const messages = [
      { role: 'system', content: 'A\n\nB' },
      { role: 'system', content: 'C\n\nD' },
      { role: 'user', content: 'u' },
    ];
    expect(() => changed({ messages }, () => change)).toThrow(unwritable);
  });

  it('is denied when a tool message loses its id', () => {
    const messages = [{ role: 'tool', tool_call_id: 'a', content: 'x' }];
    expect(() => changed({ messages }, () => ({ messages: [{ role: 'tool', content: 'y' }] }))).toThrow(
      unwritable,
    );
    expect(() =>
      changed({ messages }, () => ({
        messages: [{ role: 'tool', content: 'y', tool_result: { id: 'b', name: '' } }],
      })),
    ).toThrow(unwritable);
    expect(
      changed({ messages }, () => ({
        messages: [{ role: 'tool', content: 'y', tool_result: { id: 'a', name: '' } }],
      })),
    ).toEqual({
      model: 'm',
      messages: [{ role: 'tool', tool_call_id: 'a', content: 'y' }],
    });
  });
});
