import { describe, expect, it } from 'vitest';
import { Json } from '../../../../src/base/json/json.ts';
import { chatCodec } from '../../../../src/gateway/wire/chat/codec.ts';
import type { WireRules } from '../../../../src/gateway/wire/codec.ts';
import { media, strict } from './rules.ts';

const request = chatCodec.readRequest('{"model":"m","messages":[]}', strict);

const read = (value: unknown, rules: WireRules = strict) =>
  chatCodec.readAnswer(typeof value === 'string' ? value : JSON.stringify(value), rules, request);

const completion = (message: object, more: object = {}, beside: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt',
  choices: [
    { index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason: 'stop', ...more },
  ],
  ...beside,
});

function rewrite(body: unknown, message: object, rules?: WireRules): Readonly<Record<string, unknown>> {
  const written = read(body, rules).write([{ role: 'assistant', content: '', ...message }]);
  return JSON.parse(written).choices[0];
}

const unwritable = expect.objectContaining({ code: 'REPLY_MALFORMED' });
const refused = (code: string) =>
  expect.objectContaining({ refusal: expect.objectContaining({ status: 502, code }) });

const weather = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city": "Rome"}' },
};

describe('a chat answer', () => {
  it('shows hooks each choice as a separate message', () => {
    const body = completion(
      { content: 'A' },
      {},
      {
        usage: {
          prompt_tokens: 3,
          completion_tokens: 4,
          total_tokens: 7,
          prompt_tokens_details: { cached_tokens: 2 },
        },
      },
    );
    body.choices.push({
      index: 1,
      message: { role: 'assistant', content: null, tool_calls: [weather] } as never,
      logprobs: null,
      finish_reason: 'tool_calls',
    });
    const answer = read(body);
    const cost_info = { input_tokens: 3, output_tokens: 4 };
    expect(answer.messages).toEqual([
      { role: 'assistant', content: 'A', finish_reason: 'stop', cost_info },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_1', name: 'weather', args: new Json('{"city": "Rome"}') }],
        finish_reason: 'tool_use',
        cost_info,
      },
    ]);
    expect(answer.usage).toEqual({ input: 3, output: 4, cachedInput: 2 });
    expect(answer.toolCalls).toEqual([
      { callId: 'call_1', name: 'weather', args: new Json('{"city": "Rome"}'), choice: 1, index: 0 },
    ]);
  });

  it('shows hooks reasoning, refusals, citations and every other member', () => {
    const annotations = [
      {
        type: 'url_citation',
        url_citation: { start_index: 1, end_index: 2, url: 'https://a', title: 'T', note: 'n' },
      },
    ];
    const body = completion(
      { content: 'A', refusal: 'R', reasoning: 'why', reasoning_details: [{ text: 'why' }], annotations },
      {
        logprobs: { content: [{ token: 'A' }] },
        content_filter_results: { hate: { severity: 'safe' } },
        finish_reason: 'length',
      },
      {
        provider: 'Someone',
        service_tier: 'default',
        system_fingerprint: 'fp_1',
        usage: { note: 'x', prompt_tokens: 1 },
        citations: ['https://b'],
      },
    );
    expect(read(body).messages).toEqual([
      {
        role: 'assistant',
        content: 'A',
        reasoning: 'why',
        refusal: 'R',
        citations: [{ type: 'url', url: 'https://a', title: 'T' }],
        finish_reason: 'max_output_tokens',
        cost_info: { input_tokens: 1, output_tokens: 0 },
        other: new Json(
          '{"body.provider":"Someone","body.usage.note":"x","body.citations":["https://b"],"reasoning_details":[{"text":"why"}],' +
            '"annotations[0].url_citation.note":"n","choice.logprobs":{"content":[{"token":"A"}]},"choice.content_filter_results":{"hate":{"severity":"safe"}}}',
        ),
      },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['no JSON', 'oops', 'upstream_invalid'],
    ['a key twice', '{"choices":[],"choices":[]}', 'upstream_invalid'],
    ['no choices', { id: 'x' }, 'upstream_invalid'],
    ['an empty list of choices', completion({}, {}, { choices: [] }), 'upstream_invalid'],
    ['a choice without a message', completion({}, { message: null }), 'upstream_invalid'],
    ['another role', completion({ role: 'user', content: 'x' }), 'unknown_content'],
    ['an unknown part', completion({ content: [{ type: 'thinking', thinking: [] }] }), 'unknown_content'],
    ['an unknown call', completion({ tool_calls: [{ type: 'magic', id: 'x' }] }), 'unknown_content'],
    [
      'speech',
      completion({ content: null, audio: { id: 'a', data: 'AAAA', transcript: 'hello', expires_at: 1 } }),
      'unknown_content',
    ],
  ])('is refused with %s', (_what, body, code) => {
    expect(() => read(body)).toThrow(refused(code));
  });

  it('shows hooks the transcript of permitted audio, which they may only remove', () => {
    const body = completion({
      content: null,
      audio: { id: 'a', data: 'AAAA', transcript: 'hello', expires_at: 1 },
    });
    const [message] = read(body, media).messages;
    const part = {
      type: 'audio',
      media: { mime_type: 'audio/*', size_bytes: 3, sha256: expect.any(String) },
      transcript: 'hello',
    };
    expect(message).toEqual({ role: 'assistant', content: '', parts: [part], finish_reason: 'stop' });
    const [told] = Array.isArray(message?.['parts']) ? message['parts'] : [];
    expect(rewrite(body, { content: 'text' }, media)).toMatchObject({
      message: { role: 'assistant', content: 'text' },
    });
    expect(rewrite(body, { content: 'text' }, media)).not.toHaveProperty('message.audio');
    expect(() => rewrite(body, { parts: [{ ...told, transcript: 'bye' }] }, media)).toThrow(unwritable);
  });

  it('is judged as an error if it has an error instead of choices', () => {
    expect(read({ error: { message: 'rate limited', code: 429 } }).messages).toEqual([
      {
        role: 'assistant',
        content: 'rate limited',
        finish_reason: 'error',
        other: new Json('{"error.code":429}'),
      },
    ]);
  });
});

describe('a chat answer that hooks have changed', () => {
  it('is the same string when nothing differs', () => {
    const body =
      '{ "id":"x","object":"chat.completion","choices" : [ {"index":0,"message":{"role":"assistant","content":"\\u0041"},"finish_reason":"stop"} ] }';
    const answer = read(body);
    expect(answer.write(answer.messages)).toBe(body);
    expect(answer.write(answer.messages.map((message) => ({ ...message, meta: { mark: 1 } })))).toBe(body);
  });

  it('has the new text in its place, and all other choices unchanged', () => {
    const body =
      '{"choices":[{"index":0,"message":{"role":"assistant","content":"A"}, "x":1.0},{"index":1,"message":{"role":"assistant","content":"B" }}]}';
    const answer = read(body);
    const [first, second] = answer.messages;
    if (first === undefined || second === undefined) throw new Error('missing');
    expect(answer.write([first, { ...second, content: 'c"' }])).toBe(body.replace('"B"', '"c\\""'));
  });

  it('loses what a replaced message does not repeat', () => {
    const body = completion(
      {
        content: 'A',
        refusal: 'R',
        reasoning: 'why',
        reasoning_details: [{ text: 'why' }],
        annotations: [],
        tool_calls: [weather],
        extra: 'x',
      },
      { logprobs: { content: [{ token: 'A' }] }, finish_reason: 'tool_calls' },
      { provider: 'Someone' },
    );
    const written = read(body).write([{ role: 'assistant', content: 'B' }]);
    expect(JSON.parse(written)).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'gpt',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'B', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
    });
  });

  it('loses the tokens of a changed text and the copies of a changed reasoning, even if the hook repeats them', () => {
    const body = completion(
      { content: 'secret', reasoning: 'secret', reasoning_details: [{ text: 'secret' }] },
      { logprobs: { content: [{ token: 'secret' }] } },
    );
    const [message] = read(body).messages;
    const written = read(body).write([{ ...message, role: 'assistant', content: 'x', reasoning: 'y' }]);
    expect(written).not.toContain('secret');
    expect(JSON.parse(written).choices[0]).toEqual({
      index: 0,
      message: { role: 'assistant', content: 'x', reasoning: 'y' },
      logprobs: null,
      finish_reason: 'stop',
    });
  });

  it('has a finish reason that fits its tool calls', () => {
    const calls = [{ id: 'a', name: 'f', args: { x: 1 } }];
    expect(rewrite(completion({ content: 'A' }), { content: 'A', tool_calls: calls })).toMatchObject({
      message: { tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }] },
      finish_reason: 'tool_calls',
    });
    expect(rewrite(completion({ content: 'A' }), { content: 'B', finish_reason: 'safety' })).toMatchObject({
      finish_reason: 'content_filter',
    });
    expect(
      rewrite(completion({ content: 'A' }, { finish_reason: 'my words' }), { content: 'B' }),
    ).toMatchObject({ finish_reason: 'stop' });
  });

  it('has fewer or other citations', () => {
    const cite = (url: string) => ({
      type: 'url_citation',
      url_citation: { start_index: 0, end_index: 1, url, title: url },
    });
    const told = (url: string) => ({ type: 'url', url, title: url });
    const body = completion({ content: 'A', annotations: [cite('a'), cite('b')] });
    expect(rewrite(body, { content: 'A', citations: [told('b')] })).toMatchObject({
      message: { annotations: [cite('b')] },
    });
    expect(rewrite(body, { content: 'A', citations: [told('a'), told('c')] })).toMatchObject({
      message: { annotations: [cite('a'), cite('c')] },
    });
    expect(() => rewrite(body, { content: 'A', citations: [told('new')] })).toThrow(unwritable);
  });

  it.each<[string, object]>([
    ['the role of a user', { role: 'user' }],
    ['a refusal that is no text', { refusal: 1 }],
    ['a reasoning that is no text', { reasoning: {} }],
    ['a picture', { parts: [{ type: 'image', media: { url: 'https://a' } }] }],
    ['tool calls without names', { tool_calls: [{ id: 'a' }] }],
    ['a new member of the rest', { other: { 'choice.x': 'y' } }],
    ['a member that answers do not have', { tool_result: { id: 'a', name: 'b' } }],
    ['members of its own', { thoughts: 'x' }],
  ])('is denied with %s', (_what, message) => {
    expect(() => rewrite(completion({ content: 'A' }), { content: 'B', ...message })).toThrow(unwritable);
  });
});

describe('an error of an upstream', () => {
  it.each<[string, string, unknown, object | undefined]>([
    [
      'of OpenAI',
      '{"error":{"message":"bad","type":"invalid_request_error","param":null,"code":null}}',
      'bad',
      { 'error.type': 'invalid_request_error' },
    ],
    ['of a text', '{"error":"bad","hint":"h"}', 'bad', { hint: 'h' }],
    ['of FastAPI', '{"detail":"bad"}', 'bad', undefined],
    ['of FastAPI with a list', '{"detail":[{"msg":"bad"}]}', '', { detail: [{ msg: 'bad' }] }],
    ['that is a JSON text', '"bad"', 'bad', undefined],
    ['that is a list', '["bad"]', '', { body: ['bad'] }],
    ['that is HTML', '<html>bad</html>', '<html>bad</html>', undefined],
    ['that is empty', '', '', undefined],
  ])('%s is shown to hooks', (_what, body, content, other) => {
    const answer = chatCodec.readError(body);
    const [message] = answer.messages;
    expect(message?.content).toBe(content);
    const left = message?.['other'];
    expect(left instanceof Json ? left.value : undefined).toEqual(other);
    expect(answer.write(answer.messages)).toBe(body);
  });

  it('is changed in its place', () => {
    const answer = chatCodec.readError('{ "error":{"message":"my secret","type":"t secret"} }');
    expect(answer.write([{ role: 'assistant', content: 'x' }])).toBe('{ "error":{"message":"x"} }');
    expect(chatCodec.readError('secret').write([{ role: 'assistant', content: 'x' }])).toBe('x');
  });
});
