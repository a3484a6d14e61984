import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import { messagesCodec } from '../../../../src/gateway/wire/messages/codec.ts';
import { RefusedCall } from '../../../../src/gateway/wire/refusal.ts';
import { SseParser } from '../../../../src/gateway/wire/sse.ts';
import { tellMessage } from '../../upstreams/message-events.ts';
import { message, text } from '../../upstreams/messages-upstream.ts';
import { accumulate } from './sdk.ts';
import { asRead } from './trees.ts';

const rules = { opaque: new Set<string>(), references: new Set<string>(), redactsEmbeddings: false };
const request = messagesCodec.readRequest('{"model":"m","max_tokens":1,"messages":[]}', rules);

function reader() {
  if (messagesCodec.stream === undefined) throw new Error('no streams');
  return messagesCodec.stream.reader(rules, request);
}

function writer() {
  if (messagesCodec.stream === undefined) throw new Error('no streams');
  return messagesCodec.stream.writer(request);
}

const eventsOf = (sent: string) => new SseParser(1_000_000).push(Buffer.from(sent));
const named = (data: Record<string, unknown>) =>
  `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`;

const begin = { type: 'message_start', message: message([], { stop_reason: null }) };
const beginText = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'text', text: '', citations: null },
};
const beginThinking = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'thinking', thinking: '', signature: '' },
};
const delta = (of: Record<string, unknown>, index = 0) => ({ type: 'content_block_delta', index, delta: of });
const says = delta({ type: 'text_delta', text: 'hi' });
const endBlock = { type: 'content_block_stop', index: 0 };
const end = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 2 },
};
const stop = { type: 'message_stop' };
const all = [begin, beginText, says, endBlock, end, stop];

function refusalOf(sent: string) {
  const own = reader();
  try {
    for (const event of eventsOf(sent)) own.push(event);
    own.answer();
  } catch (error) {
    if (error instanceof RefusedCall) return error.refusal;
    throw error;
  }
  return undefined;
}

describe('a stream is refused with 502 that', () => {
  const signed = (signature: string) => delta({ type: 'signature_delta', signature });
  test.each<[string, readonly Record<string, unknown>[]]>([
    ['breaks off', all.slice(0, 4)],
    ['ends without a reason', [begin, beginText, says, endBlock, stop]],
    ['does not begin', all.slice(1)],
    ['begins twice', [begin, ...all]],
    ['has content at its beginning', [{ ...begin, message: message([text('x')]) }, ...all.slice(1)]],
    ['has an event of an unknown type', [begin, { type: 'secret', text: 'x' }, ...all.slice(1)]],
    [
      'has a delta of an unknown type',
      [begin, beginText, delta({ type: 'secret_delta', text: 'x' }), endBlock, end, stop],
    ],
    [
      'has a block of an unknown type',
      [begin, { ...beginText, content_block: { type: 'hologram' } }, endBlock, end, stop],
    ],
    [
      'has a delta of another kind than its block',
      [begin, beginText, delta({ type: 'thinking_delta', thinking: 'x' }), endBlock, end, stop],
    ],
    ['has a delta of no block', [begin, says, end, stop]],
    [
      'has a delta of another block',
      [begin, beginText, delta({ type: 'text_delta', text: 'x' }, 1), endBlock, end, stop],
    ],
    ['has a block in a block', [begin, beginText, { ...beginText, index: 1 }, endBlock, end, stop]],
    [
      'has blocks in another order',
      [begin, { ...beginText, index: 1 }, { ...endBlock, index: 1 }, end, stop],
    ],
    ['has a block behind its end', [begin, end, beginText, endBlock, stop]],
    ['ends in a block', [begin, beginText, says, end, stop]],
    [
      'is signed twice',
      [begin, beginThinking, signed('a'.repeat(30)), signed('b'.repeat(30)), endBlock, end, stop],
    ],
    [
      'ends in two ways',
      [...all.slice(0, 5), { ...end, delta: { stop_reason: 'refusal', stop_sequence: null } }, stop],
    ],
  ])('%s', (_, data) => {
    expect(refusalOf(data.map(named).join(''))).toMatchObject({ status: 502 });
  });

  test.each<[string, string]>([
    [
      'has an event of another name',
      all.map(named).join('').replace('event: content_block_delta', 'event: ping'),
    ],
    ['has an event without a name', all.map(named).join('').replace('event: content_block_delta\n', '')],
    ['has an event that is no JSON', `${named(begin)}event: ping\ndata: {\n\n`],
    ['has a key twice', all.map(named).join('').replace('"text":"hi"', '"text":"hi","text":"ho"')],
  ])('%s', (_, sent) => {
    expect(refusalOf(sent)).toMatchObject({ status: 502 });
  });

  test('is none of these passes', () => {
    expect(refusalOf(all.map(named).join(''))).toBeUndefined();
  });
});

test('other members of events wait, are shown to hooks, and are dropped with what hooks change', () => {
  const own = reader();
  const odd = [
    begin,
    beginText,
    delta({ type: 'text_delta', text: 'hi', note: 'Jane' }),
    endBlock,
    { ...end, trace: 'Jane' },
    stop,
  ];
  const kinds = eventsOf(odd.map(named).join('')).map((event) => own.push(event).kind);
  expect(kinds).toEqual(['free', 'text', 'held', 'echo', 'held', 'end']);
  const answer = own.answer();
  const [told] = asRead(answer.messages) as ChatMessage[];
  expect(told?.['other']).toEqual({ 'event[3].delta.note': 'Jane', 'event[5].trace': 'Jane' });
  expect(answer.write(answer.messages)).toBe(answer.body);
  const { other: _, ...rest } = told ?? { role: 'assistant', content: '' };
  const written = answer.write([rest as ChatMessage]);
  expect(written).not.toBe(answer.body);
  expect(writer().finish(written)).not.toContain('Jane');
});

test('text in a signature, in citations and in calls waits for the decision on the whole', () => {
  const own = reader();
  const sent = [begin, beginThinking, delta({ type: 'signature_delta', signature: 'call Jane at 555-0199' })];
  expect(eventsOf(sent.map(named).join('')).map((event) => own.push(event).kind)).toEqual([
    'free',
    'text',
    'held',
  ]);
});

test('citations and arguments wait for the decision on the whole', () => {
  const cites = delta({ type: 'citations_delta', citation: { type: 'x', cited_text: 'Jane' } });
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} };
  const sent = [
    begin,
    beginText,
    cites,
    endBlock,
    { type: 'content_block_start', index: 1, content_block: call },
  ];
  const own = reader();
  const kinds = eventsOf(
    [...sent, delta({ type: 'input_json_delta', partial_json: '{}' }, 1)].map(named).join(''),
  ).map((event) => own.push(event).kind);
  expect(kinds).toEqual(['free', 'text', 'held', 'echo', 'held', 'held']);
});

test('truncated arguments are shown as their text, and written unchanged', () => {
  const sent = [
    begin,
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
    },
    delta({ type: 'input_json_delta', partial_json: '{"a": "Ja' }),
    delta({ type: 'input_json_delta', partial_json: 'ne' }),
    endBlock,
    { ...end, delta: { stop_reason: 'max_tokens', stop_sequence: null } },
    stop,
  ];
  const own = reader();
  for (const event of eventsOf(sent.map(named).join(''))) own.push(event);
  const answer = own.answer();
  const [told] = asRead(answer.messages) as ChatMessage[];
  expect(told?.['tool_calls']).toEqual([{ id: 't', name: 'f', args: '{"a": "Jane' }]);
  const changed = JSON.parse(JSON.stringify(told).replace('Jane', 'She')) as ChatMessage;
  expect(writer().finish(answer.write([changed]))).toContain(
    JSON.stringify({ type: 'input_json_delta', partial_json: '{"a": "She' }),
  );
});

describe('a client of the SDK', () => {
  test.each(['refused', 'stop'] as const)(
    'gets a replacement answer (%s) whether or not the message has begun',
    async (how) => {
      const body = messagesCodec.substitute?.({ text: 'no', end: how }, 'm') ?? '';
      const expected = { content: [text('no')], stop_reason: how === 'refused' ? 'refusal' : 'end_turn' };
      expect(await accumulate(writer().finish(body))).toMatchObject(expected);
      const begun = writer();
      const [first] = eventsOf(named(begin));
      const sent = first === undefined ? '' : begun.verbatim(first);
      expect(await accumulate(sent + begun.wait() + begun.finish(body))).toMatchObject({
        ...expected,
        id: begin.message['id'],
      });
    },
  );

  test('continues after the text that filters have begun to release', async () => {
    const own = writer();
    const channel = { key: '0', choice: 0, member: 'content' } as const;
    const sent = own.text(channel, 'Hel') + own.wait() + own.text(channel, 'lo');
    const body = JSON.stringify(message([text('Hello wor'), text('ld')]));
    expect(await accumulate(sent + own.finish(body))).toMatchObject({
      content: [
        { type: 'text', text: 'Hello wor' },
        { type: 'text', text: 'ld' },
      ],
      stop_reason: 'end_turn',
    });
    const other = writer();
    other.text(channel, 'Hallo');
    expect(() => other.finish(body)).toThrow(expect.objectContaining({ code: 'REPLY_MALFORMED' }));
  });

  test('throws the error that ends a stream', async () => {
    const refusal = { status: 400, code: 'content_filter', message: 'denied', isRetryable: false };
    const sent = writer().fail(refusal);
    await expect(accumulate(named(begin) + sent)).rejects.toSatisfy(
      (error) =>
        error instanceof Anthropic.APIError &&
        error.type === 'invalid_request_error' &&
        error.errorCode === 'content_filter',
    );
  });
});

test('a stream of 100,000 pieces is read in linear time', () => {
  const own = reader();
  const sent = tellMessage(message([text('x'.repeat(100_000))]), { cut: (all) => [...all] });
  for (const event of eventsOf(sent)) own.push(event);
  expect(own.answer().messages[0]?.content).toHaveLength(100_000);
});

test.each([
  ['text', { type: 'text', text: ['Jane'] }, { type: 'text_delta', text: 'hi' }],
  ['citations', { type: 'text', text: '', citations: 'Jane' }, { type: 'citations_delta', citation: {} }],
  ['thinking', { type: 'thinking', thinking: { a: 'Jane' } }, { type: 'thinking_delta', thinking: 'hm' }],
  [
    'signature',
    { type: 'thinking', thinking: '', signature: { Jane: null } },
    { type: 'signature_delta', signature: '' },
  ],
  [
    'input',
    { type: 'tool_use', id: 't1', name: 'f', input: 'Jane' },
    { type: 'input_json_delta', partial_json: '{}' },
  ],
  [
    'content',
    { type: 'compaction', content: ['Jane'] },
    { type: 'compaction_delta', content: 'x', encrypted_content: '' },
  ],
])('a stream cannot replace the %s that a block has begun with', (_, content_block, of) => {
  const sent = [begin, { ...beginText, content_block }, delta(of), endBlock, end, stop];
  expect(refusalOf(sent.map(named).join(''))).toMatchObject({ status: 502, code: 'upstream_invalid' });
});

test.each([
  { output_tokens: { Jane: 1 } },
  { server_tool_use: { web_search_requests: 'Jane' } },
  { iterations: ['Jane'] },
])('a stream cannot replace counts that are not numbers: %j', (usage) => {
  const begun = { ...begin, message: message([], { stop_reason: null, usage }) };
  const [key = ''] = Object.keys(usage);
  const counted = { ...end, usage: { [key]: key === 'output_tokens' ? 3 : null, output_tokens: 3 } };
  const late = { ...end, usage: { [key]: key === 'iterations' ? [] : key === 'output_tokens' ? 3 : {} } };
  const sent = [begun, beginText, says, endBlock, late, stop];
  expect(refusalOf(sent.map(named).join(''))).toMatchObject({ status: 502, code: 'upstream_invalid' });
  if (key === 'output_tokens') return;
  // Without a second count the first one stays, and hooks see it.
  const own = reader();
  for (const event of eventsOf([begun, beginText, says, endBlock, counted, stop].map(named).join('')))
    own.push(event);
  expect(JSON.stringify(asRead(own.answer().messages))).toContain('Jane');
});
