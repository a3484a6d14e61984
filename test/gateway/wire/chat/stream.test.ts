import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { ChatStreamWriter, chatCodec } from '../../../../src/gateway/wire/chat/codec.ts';
import { ChatStreamReader } from '../../../../src/gateway/wire/chat/stream-reader.ts';
import type { StreamPart, WireAnswer } from '../../../../src/gateway/wire/codec.ts';
import { strict } from './rules.ts';
import { beside, eventsOf, frame, streamOf, streams } from './streams.ts';

const request = chatCodec.readRequest(
  '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}',
  strict,
);

function readStream(text: string): { readonly answer: WireAnswer; readonly parts: StreamPart[] } {
  const reader = new ChatStreamReader(strict);
  const parts = eventsOf(text).map((event) => reader.push(event));
  return { answer: reader.answer(), parts };
}

async function assemble(text: string): Promise<unknown> {
  const client = new OpenAI({
    apiKey: 'x',
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const completion = await client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion();
  return JSON.parse(JSON.stringify(completion), (key, value) =>
    key === 'parsed' || key === 'parsed_arguments' ? undefined : value,
  );
}

const refused = (code: string) =>
  expect.objectContaining({ refusal: expect.objectContaining({ status: 502, code }) });
const unwritable = expect.objectContaining({ code: 'REPLY_MALFORMED' });
const role = frame({ role: 'assistant', content: '' });
const stop = frame({}, { finish_reason: 'stop' });

describe('a chat stream', () => {
  it.each(Object.entries(streams))(
    'with %s is assembled as the SDK of OpenAI does',
    async (_what, frames) => {
      const text = streamOf(frames);
      expect(JSON.parse(readStream(text).answer.body)).toEqual(await assemble(text));
    },
  );

  it.each(Object.entries(streams))(
    'with %s is written as a stream of the same answer',
    async (_what, frames) => {
      const { answer } = readStream(streamOf(frames));
      const written = new ChatStreamWriter(request).finish(answer.body);
      expect(JSON.parse(readStream(written).answer.body)).toEqual(JSON.parse(answer.body));
      expect(await assemble(written)).toEqual(await assemble(streamOf(frames)));
    },
  );

  it.each(Object.entries(streams))(
    'with %s continues after what may be sent before the end',
    (_what, frames) => {
      const events = eventsOf(streamOf(frames));
      const { answer, parts } = readStream(streamOf(frames));
      const held = parts.findIndex(({ kind }) => kind !== 'free' && kind !== 'text');
      for (let count = 0; count <= held; count += 1) {
        const writer = new ChatStreamWriter(request);
        const before = events
          .slice(0, count)
          .map((event) => writer.verbatim(event))
          .join('');
        const whole = before + writer.finish(answer.body);
        expect(readStream(whole).answer.messages).toEqual(answer.messages);
        expect(whole.match(/\[DONE\]/g)).toHaveLength(1);
      }
    },
  );

  it('separates text, data without text, and what waits for the decision', () => {
    const { parts } = readStream(
      streamOf([
        role,
        frame({ content: 'a' }),
        frame({ reasoning: 'b' }),
        frame({ refusal: 'c' }),
        frame({ content: '' }),
        frame({ content: 'd' }, { finish_reason: 'stop' }),
        beside({ usage: { prompt_tokens: 1 } }),
      ]),
    );
    const text = (member: string, given: string, key = member) => ({
      kind: 'text',
      deltas: [{ channel: { key: `0.${key}`, choice: 0, member }, text: given }],
    });
    expect(parts).toEqual([
      { kind: 'free' },
      text('content', 'a'),
      text('reasoning', 'b'),
      text('refusal', 'c'),
      { kind: 'free' },
      { kind: 'held' },
      { kind: 'held' },
      { kind: 'end' },
    ]);
  });

  it.each<[string, object]>([
    ['an id', { ...frame({}), id: 'my secret' }],
    ['a model', { ...frame({}), model: 'my secret' }],
    ['an object', { ...frame({}), object: 'secret' }],
    ['a tier', { ...frame({}), service_tier: 'secret' }],
    ['a padding', { ...frame({}), obfuscation: 'my secret' }],
    ['a member of its own', { ...frame({}), note: 'secret' }],
    ['a usage', { ...frame({}), usage: { note: 'secret' } }],
    ['a delta of its own', frame({ note: 'secret' })],
    ['a choice of its own', frame({}, { note: 'secret' })],
    ['an end', frame({}, { finish_reason: 'secret' })],
    ['tokens', frame({}, { logprobs: { content: [{ token: 'secret' }] } })],
    ['a tool call', frame({ tool_calls: [{ index: 0, id: 'secret' }] })],
    ['an annotation', frame({ annotations: [{ type: 'secret' }] })],
    ['a key whose value is null', frame({ content: 'a', 'my secret': null })],
    ['a key of a choice whose value is null', frame({ content: 'a' }, { 'my secret': null })],
    ['a key beside the choices whose value is null', { ...frame({ content: 'a' }), 'my secret': null }],
    ['a text of another type', frame({ content: [{ note: 'secret' }] })],
  ])('holds a frame with %s that may be a text', (_what, value) => {
    const reader = new ChatStreamReader(strict);
    const [event] = eventsOf(streamOf([value]));
    expect(event && reader.push(event)).toEqual({ kind: 'held' });
  });

  it.each<[string, Record<string, unknown>]>([
    ['a content', { content: ['se'] }],
    ['a content with parts and texts', { content: [{ type: 'text', text: 'a' }, 'se'] }],
    ['a refusal', { refusal: ['se'] }],
    ['a reasoning', { reasoning_content: 5 }],
    ['arguments of a call', { tool_calls: [{ index: 0, function: { name: 'f', arguments: ['se'] } }] }],
    ['arguments of the older form', { function_call: { name: 'f', arguments: [['se']] } }],
  ])('refuses %s of another type, which clients would join with the next', (_what, delta) => {
    const reader = new ChatStreamReader(strict);
    const [event] = eventsOf(streamOf([frame(delta)]));
    expect(() => event && reader.push(event)).toThrow(
      expect.objectContaining({ refusal: expect.objectContaining({ status: 502 }) }),
    );
  });

  it('loses no text of repeated members', () => {
    const details = (text: string) => ({ reasoning_details: [{ type: 'reasoning.text', index: 0, text }] });
    const { answer } = readStream(
      streamOf([
        { ...role, provider: 'Some' },
        { ...frame({ ...details('my '), note: 'one' }), provider: 'Some' },
        {
          ...frame({ ...details('secret'), note: 'two' }, { message: { content: 'so' } }),
          provider: 'Other',
        },
        { ...stop, citations: ['a'] },
        { ...beside({ citations: ['b'] }) },
      ]),
    );
    expect(
      JSON.parse(String(answer.messages[0]?.['other'] && JSON.stringify(answer.messages[0]?.['other']))),
    ).toEqual({
      'body.provider': 'SomeOther',
      'body.citations': ['a', 'b'],
      'choice.message_so_far': { content: 'so' },
      note: 'onetwo',
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'my secret' }],
    });
  });

  it.each<[string, string, string]>([
    [
      'breaks off',
      streamOf([role, frame({ content: 'a' })]).replace('data: [DONE]\n\n', ''),
      'upstream_invalid',
    ],
    ['has no answer', streamOf([]), 'upstream_invalid'],
    ['is empty', '', 'upstream_invalid'],
    ['goes on behind its end', `${streamOf([role, stop])}data: {}\n\n`, 'upstream_invalid'],
    ['has a frame that is no JSON', 'data: {\n\n', 'upstream_invalid'],
    ['has a frame with a key twice', 'data: {"choices":[],"choices":[]}\n\n', 'upstream_invalid'],
    ['has an event of another name', 'event: thread.secret\ndata: {}\n\n', 'unknown_content'],
    ['has choices without an index', streamOf([{ choices: [{ delta: {} }] }]), 'upstream_invalid'],
    ['has a choice too far', streamOf([frame({}, {}, 128)]), 'upstream_invalid'],
    ['lacks a choice', streamOf([frame({ content: 'a' }, { finish_reason: 'stop' }, 1)]), 'upstream_invalid'],
    ['has a text that is none', streamOf([frame({ content: [{ type: 'text' }] })]), 'upstream_invalid'],
    [
      'changes the name of a call',
      streamOf([
        frame({ tool_calls: [{ index: 0, function: { name: 'a' } }] }),
        frame({ tool_calls: [{ index: 0, function: { name: 'b' } }] }),
      ]),
      'upstream_invalid',
    ],
    [
      'has a piece of one of two calls',
      streamOf([
        frame({ tool_calls: ['a', 'b'].map((id) => ({ id, function: { name: id, arguments: '' } })) }),
        frame({ tool_calls: [{ function: { arguments: '{}' } }] }),
      ]),
      'upstream_invalid',
    ],
    [
      'has calls with and without an index',
      streamOf([
        frame({
          tool_calls: [
            { index: 0, id: 'a' },
            { id: 'b', function: { name: 'f' } },
          ],
        }),
      ]),
      'upstream_invalid',
    ],
    [
      'tells its reasoning in two ways',
      streamOf([frame({ reasoning: 'a', reasoning_content: 'b' })]),
      'upstream_invalid',
    ],
    [
      'changes the name of its reasoning',
      streamOf([frame({ reasoning: 'a' }), frame({ reasoning_content: 'b' })]),
      'upstream_invalid',
    ],
    [
      'has a role that is a text',
      streamOf([frame({ role: 'my secret' }), frame({ role: 'assistant' }), stop]),
      'unknown_content',
    ],
    ['has another role', streamOf([frame({ role: 'user', content: 'a' }), stop]), 'unknown_content'],
  ])('is refused when it %s', (_what, text, code) => {
    expect(() => readStream(text)).toThrow(refused(code));
  });

  const part = (id: string | undefined, name: string | undefined, args: string) => ({
    ...(id !== undefined && { id }),
    type: 'function',
    function: { ...(name !== undefined && { name }), arguments: args },
  });

  it.each<[string, unknown[][]]>([
    ['whole calls in one frame', [[part('a', 'f', '{"x":1}'), part('b', 'g', '{}')]]],
    ['whole calls in several frames', [[part('a', 'f', '{"x":1}')], [part('b', 'g', '{}')]]],
    [
      'pieces with the id of their call',
      [[part('a', 'f', ''), part('b', 'g', '{}')], [part('a', undefined, '{"x":1}')]],
    ],
    [
      'pieces of the only call',
      [[part('a', 'f', '{"x"')], [part(undefined, undefined, ':1}')], [part('b', 'g', '{}')]],
    ],
  ])('has tool calls without an index: %s', (_what, frames) => {
    const { answer } = readStream(
      streamOf([
        role,
        ...frames.map((calls) => frame({ tool_calls: calls })),
        frame({}, { finish_reason: 'tool_calls' }),
      ]),
    );
    expect(answer.toolCalls.map(({ callId, name, args }) => [callId, name, args.text])).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'g', '{}'],
    ]);
    const written = new ChatStreamWriter(request).finish(answer.body);
    expect(readStream(written).answer.messages).toEqual(answer.messages);
  });

  it('names an event that hooks cannot read, and lets it pass if the config allows it', () => {
    const [event] = eventsOf('event: codex.rate_limits\ndata: {"note":"x"}\n\n');
    if (event === undefined) throw new Error('missing');
    expect(() => new ChatStreamReader(strict).push(event)).toThrow(
      /"codex\.rate_limits".*spec\.gateway\.opaque/,
    );
    const opaque = { ...strict, opaque: new Set(['codex.rate_limits']) };
    const reader = new ChatStreamReader(opaque);
    expect(reader.push(event)).toEqual({ kind: 'held' });
    for (const other of eventsOf(streamOf([role, frame({ content: 'a' }), stop]))) reader.push(other);
    expect(reader.answer().messages).toMatchObject([{ content: 'a' }]);
    const writer = new ChatStreamWriter(request);
    expect(writer.verbatim(event)).toBe('event: codex.rate_limits\ndata: {"note":"x"}\n\n');
    expect(writer.finish(streamedBody({ content: 'a' }))).toContain('"a"');
  });

  it('may end without [DONE], and with one reasoning under two names', () => {
    const text = streamOf([
      role,
      frame({ reasoning: 'a', reasoning_content: 'a' }),
      frame({ content: 'b' }),
      stop,
    ]);
    const { answer } = readStream(text.replace('data: [DONE]\n\n', ''));
    expect(answer.messages).toEqual([
      { role: 'assistant', content: 'b', reasoning: 'a', finish_reason: 'stop' },
    ]);
  });

  it.each([
    'data: {"error":{"message":"x"}}\n\n',
    'event: error\ndata: {"error":{"message":"x"}}\n\n',
    'event: error\ndata: {"message":"x"}\n\n',
  ])('shows hooks an error: %j', (text) => {
    const [event] = eventsOf(text);
    expect(event && new ChatStreamReader(strict).push(event)).toEqual({ kind: 'error' });
  });

  it('is assembled from a hundred thousand frames', () => {
    const logprobs = { content: [{ token: 'a' }] };
    const one = `data: ${JSON.stringify(frame({ content: 'a', reasoning_details: [{ index: 0, text: 'b' }] }, { logprobs }))}\n\n`;
    const text = streamOf([role]).replace('data: [DONE]\n\n', '') + one.repeat(100_000) + streamOf([stop]);
    expect(readStream(text).answer.messages[0]?.content).toHaveLength(100_000);
  });
});

describe('a writer of a chat stream', () => {
  const changed = (text: string, content: string) => {
    const { answer } = readStream(text);
    return answer.write(answer.messages.map((message) => ({ ...message, content })));
  };
  const text = streamOf([role, frame({ content: 'Hello ' }), frame({ content: 'Ann' }), stop]);

  it('writes new text on channels, and the rest of a text whose beginning was sent', () => {
    const writer = new ChatStreamWriter(request);
    const [first] = eventsOf(text);
    if (first === undefined) throw new Error('missing');
    const channel = { key: '0.content', choice: 0, member: 'content' } as const;
    const whole =
      writer.verbatim(first) + writer.text(channel, 'Hello ') + writer.finish(changed(text, 'Hello X'));
    expect(readStream(whole).answer.messages[0]?.content).toBe('Hello X');
    expect(whole).not.toContain('Ann');
    expect(whole.match(/"role"/g)).toHaveLength(1);
  });

  it('refuses an answer that does not begin with what the client has', () => {
    const writer = new ChatStreamWriter(request);
    for (const event of eventsOf(text).slice(0, 3)) writer.verbatim(event);
    expect(() => writer.finish(changed(text, 'Hello X'))).toThrow(unwritable);
    const ended = new ChatStreamWriter(request);
    for (const event of eventsOf(text)) ended.verbatim(event);
    expect(() => ended.finish(changed(text, 'Hello Ann!'))).toThrow(unwritable);
  });

  it('opens a channel that has no earlier text', () => {
    const writer = new ChatStreamWriter(request);
    const whole =
      writer.text({ key: '0.reasoning', choice: 0, member: 'reasoning' }, 'why') +
      writer.finish(streamedBody({ reasoning: 'why', content: 'A' }));
    expect(readStream(whole).answer.messages[0]).toMatchObject({ reasoning: 'why', content: 'A' });
  });

  it('keeps clients awake with frames that add nothing', () => {
    const writer = new ChatStreamWriter(request);
    const early = writer.wait();
    const events = eventsOf(text);
    const sent = events
      .slice(0, 1)
      .map((event) => writer.verbatim(event))
      .join('');
    const whole = early + sent + writer.wait() + writer.wait() + writer.finish(readStream(text).answer.body);
    expect(readStream(whole).answer.body).toBe(readStream(text).answer.body);
    expect(early).toBe(': ping\n\n');
  });

  it('forwards only data, under no event name except the error’s', () => {
    const writer = new ChatStreamWriter(request);
    expect(writer.verbatim({ event: 'message', data: '[DONE]' })).toBe('data: [DONE]\n\n');
    expect(writer.verbatim({ event: 'error', data: '{}' })).toBe('event: error\ndata: {}\n\n');
  });

  it('ends with an error or a replacement answer', async () => {
    const refusal = { status: 400, code: 'content_filter', message: 'withheld', isRetryable: false };
    expect(new ChatStreamWriter(request).fail(refusal)).toBe(
      'data: {"error":{"message":"withheld","type":"invalid_request_error","param":null,"code":"content_filter"}}\n\n',
    );
    const body = chatCodec.substitute?.({ text: 'No.', end: 'refused' }, 'm') ?? '';
    const whole = new ChatStreamWriter(request).finish(body);
    expect(readStream(whole).answer.messages).toMatchObject([{ content: 'No.', finish_reason: 'safety' }]);
    const silent = chatCodec.readRequest('{"model":"m","messages":[],"stream":true}', strict);
    expect(new ChatStreamWriter(silent).finish(body)).not.toContain('usage');
  });
});

function streamedBody(message: object): string {
  return JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  });
}
