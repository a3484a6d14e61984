import { expect, test } from 'vitest';
import type { EndpointName, WireRules } from '../../../src/gateway/wire/codec.ts';
import { codecs } from '../../../src/gateway/wire/codecs.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';

const kinds = ['image', 'audio', 'video', 'file'];
const rules: WireRules = {
  opaque: new Set([...kinds, 'vendor.limits']),
  references: new Set(),
  redactsEmbeddings: false,
};
const asked: Readonly<Record<string, string>> = {
  chat: '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
  responses: '{"model":"m","input":"hi"}',
  messages: '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}',
};

function takes(endpoint: EndpointName, events: readonly { readonly event: string; readonly data: object }[]) {
  const codec = codecs[endpoint];
  const reader = codec.stream?.reader(rules, codec.readRequest(asked[endpoint] ?? '', rules));
  try {
    for (const { event, data } of events) reader?.push({ event, data: JSON.stringify(data) });
    return reader !== undefined;
  } catch (error) {
    if (error instanceof RefusedCall) return false;
    throw error;
  }
}

const begun = [
  {
    event: 'message_start',
    data: {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: {} },
    },
  },
  {
    event: 'content_block_start',
    data: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  },
];

const event = (type: string) => ({ event: type, data: { type, text: 'unseen' } });
const delta = (type: string) => ({
  event: 'content_block_delta',
  data: { type: 'content_block_delta', index: 0, delta: { type, text: 'unseen' } },
});

test.each(['chat', 'responses', 'messages'] as const)(
  '%s: an event passes unread only by its exact name',
  (endpoint) => {
    expect(takes(endpoint, [event('vendor.limits')])).toBe(true);
    expect(takes(endpoint, [event('vendor.other')])).toBe(false);
    expect(kinds.filter((kind) => takes(endpoint, [event(kind)]))).toEqual([]);
  },
);

test('a delta of Messages passes unread only by its exact name', () => {
  expect(takes('messages', [...begun, delta('vendor.limits')])).toBe(true);
  expect(kinds.filter((kind) => takes('messages', [...begun, delta(kind)]))).toEqual([]);
});
