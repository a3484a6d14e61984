import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import type { WireRules } from '../../../../src/gateway/wire/codec.ts';
import { countTokensCodec, messagesCodec } from '../../../../src/gateway/wire/messages/codec.ts';
import { RefusedCall } from '../../../../src/gateway/wire/refusal.ts';
import { message, text } from '../../upstreams/messages-upstream.ts';
import { asRead } from './trees.ts';

const none: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };
const request = messagesCodec.readRequest('{"model":"m","max_tokens":1,"messages":[]}', none);
const call = { type: 'tool_use', id: 't1', name: 'look', input: { at: 'x' } };
const signature = Buffer.from(new Uint8Array(60).fill(0xfe)).toString('base64');
const thinking = { type: 'thinking', thinking: 'hm', signature };

function read(body: unknown, rules = none) {
  return messagesCodec.readAnswer(JSON.stringify(body), rules, request);
}

function refusalOf(act: () => unknown) {
  try {
    act();
  } catch (error) {
    if (error instanceof RefusedCall) return error.refusal;
    throw error;
  }
  return undefined;
}

test('an answer is one message', () => {
  const answer = read(
    message([thinking, text('hi', [{ type: 'x', cited_text: 'y' }]), call], { stop_reason: 'tool_use' }),
  );
  expect(asRead(answer.messages)).toEqual([
    {
      role: 'assistant',
      content: 'hi',
      reasoning: 'hm',
      tool_calls: [{ id: 't1', name: 'look', args: { at: 'x' } }],
      citations: [{ type: 'x', cited_text: 'y' }],
      finish_reason: 'tool_use',
      cost_info: { input_tokens: 17, output_tokens: 34 },
    },
  ]);
  expect(answer.toolCalls).toMatchObject([{ callId: 't1', name: 'look', choice: 0, index: 0 }]);
  expect(answer.usage).toEqual({ input: 17, output: 34, cachedInput: 5 });
});

test('a signature that is a Base64 text is shown to hooks', () => {
  const text64 = Buffer.from('call Jane at 555-0199').toString('base64');
  const answer = read(message([{ ...thinking, signature: text64 }]));
  expect(asRead(answer.messages[0]?.['other'])).toEqual({ 'content[0].signature': text64 });
});

test('citations are dropped from an answer that does not repeat them', () => {
  const answer = read(message([text('hi', [{ type: 'x', cited_text: 'Jane' }])]));
  const [sent] = asRead(answer.messages);
  const { citations: _, ...rest } = sent as ChatMessage;
  expect(JSON.parse(answer.write([rest as ChatMessage]))).toEqual(message([text('hi')]));
});

test('a signature that is a plain text is shown to hooks', () => {
  const answer = read(message([{ ...thinking, signature: 'call 555-0199 for Jane' }]));
  expect(asRead(answer.messages[0]?.['other'])).toEqual({ 'content[0].signature': 'call 555-0199 for Jane' });
});

test.each<[string, unknown]>([
  ['an unknown block', message([{ type: 'hologram' }])],
  ['a content that is no list', message([], { content: 'hi' })],
  ['no message', { type: 'completion' }],
  ['a list', []],
])('%s is refused with 502', (_, body) => {
  expect(refusalOf(() => read(body))).toMatchObject({ status: 502 });
});

test('two parsers cannot read an answer differently', () => {
  const twice = JSON.stringify(message([text('a')])).replace('"text":"a"', '"text":"a","text":"b"');
  expect(refusalOf(() => messagesCodec.readAnswer(twice, none, request))).toMatchObject({ status: 502 });
});

const whole = message([thinking, text('hi'), call], { stop_reason: 'tool_use' });

function change(more: Record<string, unknown>): unknown {
  const answer = read(whole);
  const [sent] = asRead(answer.messages);
  return JSON.parse(answer.write([{ ...(sent as ChatMessage), ...more }]));
}

describe('a changed answer loses what it does not repeat', () => {
  test.each<[string, Record<string, unknown>, unknown]>([
    [
      'its calls',
      { tool_calls: undefined },
      { ...whole, content: [thinking, text('hi')], stop_reason: 'end_turn' },
    ],
    ['its reasoning', { reasoning: undefined }, { ...whole, content: [text('hi'), call] }],
    ['its text', { content: '' }, { ...whole, content: [thinking, call] }],
    ['a changed thought, which is signed', { reasoning: 'h' }, { ...whole, content: [text('hi'), call] }],
    ['its finish reason', { finish_reason: 'refusal' }, { ...whole, stop_reason: 'refusal' }],
    ['nothing else', { content: 'ho' }, { ...whole, content: [thinking, text('ho'), call] }],
  ])('%s', (_, more, written) => {
    expect(change(more)).toEqual(written);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another role', { role: 'user' }],
    ['a call that was not made', { tool_calls: [{ id: 't2', name: 'x', args: {} }] }],
    ['arguments that are no object', { tool_calls: [{ id: 't1', name: 'look', args: 3 }] }],
    ['a reason that the API has not', { finish_reason: 'bored' }],
    ['a result that was not there', { tool_results: [{ id: 't1', content: 'x' }] }],
  ])('and %s denies', (_, more) => {
    expect(() => change(more)).toThrow(expect.objectContaining({ code: 'REPLY_MALFORMED' }));
  });
});

test('a text follows the thinking where there was none', () => {
  const answer = read(message([thinking, call]));
  const [sent] = asRead(answer.messages);
  expect(JSON.parse(answer.write([{ ...(sent as ChatMessage), content: 'new' }])).content).toEqual([
    thinking,
    text('new'),
    call,
  ]);
});

describe('an error of the upstream', () => {
  const known = { type: 'error', error: { type: 'api_error', message: 'Jane is busy' }, request_id: 'req_1' };

  test.each<[string, string, unknown, string]>([
    [
      'of the API',
      JSON.stringify(known),
      { content: 'Jane is busy' },
      JSON.stringify(known).replace('Jane', 'She'),
    ],
    [
      'with more than the API says',
      '{"error":{"message":"Jane","note":"Jane"}}',
      { content: 'Jane', other: { 'error.note': 'Jane' } },
      '{"error":{"message":"She","note":"She"}}',
    ],
    ['of another form', '{"oops":"J\\u0061ne"}', { content: '', other: { oops: 'Jane' } }, '{"oops":"She"}'],
    ['that is no JSON', '<p>Jane</p>', { content: '<p>Jane</p>' }, '<p>She</p>'],
    ['that is a JSON text', '"J\\u0061ne"', { content: 'Jane' }, '"She"'],
  ])('%s is shown to hooks, and changed in its place', (_, body, told, written) => {
    const answer = messagesCodec.readError(body);
    expect(asRead(answer.messages)).toEqual([
      { role: 'assistant', finish_reason: 'error', ...(told as object) },
    ]);
    expect(answer.write(answer.messages)).toBe(body);
    const changed = JSON.parse(
      JSON.stringify(asRead(answer.messages)).replaceAll('Jane', 'She'),
    ) as ChatMessage[];
    expect(answer.write(changed)).toBe(written);
  });
});

test('a token count is numbers, and anything else in it is shown to hooks', () => {
  const count = (body: string) => countTokensCodec.readAnswer(body, none, request);
  expect(count('{"input_tokens":3}').messages).toEqual([]);
  const odd = count('{"input_tokens":3,"note":"Jane"}');
  expect(asRead(odd.messages)).toEqual([{ role: 'assistant', content: '', other: { note: 'Jane' } }]);
  expect(odd.write([{ role: 'assistant', content: '' }])).toBe('{"input_tokens":3}');
});

test.each([
  ['end_turn', 'end_turn'],
  ['the code is 1234', 'end_turn'],
  ['toString', 'end_turn'],
  ['tool_use', 'tool_use'],
])('the reason %s of an answer is %s in a redacted one', (stop_reason, written) => {
  const answer = read(message([text('Jane')], { stop_reason }));
  const redacted = answer.write([{ role: 'assistant', content: 'J.' }]);
  expect(JSON.parse(redacted)).toMatchObject({ content: [{ text: 'J.' }], stop_reason: written });
});

test('a stop reason that the API does not define stays if the hook repeats it', () => {
  const answer = read(message([text('Jane')], { stop_reason: 'model_is_tired' }));
  const [sent] = answer.messages;
  expect(sent?.['finish_reason']).toBe('model_is_tired');
  const redacted = answer.write([{ ...sent, role: 'assistant', content: 'J.' }]);
  expect(JSON.parse(redacted)).toMatchObject({ stop_reason: 'model_is_tired' });
});

describe('copies of a changed text', () => {
  const sealed = signature;

  test('bytes, tokens and encodings are dropped from a changed answer, even if the hook repeats them', () => {
    const copies = {
      logprobs: [{ token: 'Jane', bytes: [74, 97, 110, 101] }],
      token_ids: [1, 2],
      encoded: Buffer.from('Jane Doe').toString('base64'),
      note: 'kept',
    };
    const answer = read({ ...message([{ ...text('Jane'), ...copies }]), token_ids: [3] });
    const [sent] = answer.messages;
    const redacted = answer.write([{ ...sent, role: 'assistant', content: 'J.' }]);
    expect(JSON.parse(redacted)).toEqual(message([{ ...text('J.'), note: 'kept' }]));
  });

  test('an encrypted copy is dropped with the text of a compaction', () => {
    const compaction = { type: 'compaction', content: 'Jane', encrypted_content: sealed, signature: sealed };
    const body = message([text('hi'), compaction]);
    const [sent] = read(body).messages;
    const other = { 'content[1].content': 'J.' };
    expect(JSON.parse(read(body).write([{ ...sent, role: 'assistant', content: 'hi', other }]))).toEqual(
      message([text('hi'), { type: 'compaction', content: 'J.' }]),
    );
    const rest = read(body).write([{ ...sent, role: 'assistant', content: 'ho' }]);
    expect(JSON.parse(rest)).toEqual(message([text('ho'), compaction]));
  });
});
