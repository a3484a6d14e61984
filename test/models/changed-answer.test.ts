import { randomBytes } from 'node:crypto';
import { createAnthropic } from '@ai-sdk/anthropic';
import type { LanguageModelV4, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { streamText } from 'ai';
import { expect, onTestFinished, test } from 'vitest';
import { Json, stringifyJson } from '../../src/base/json/json.ts';
import { createGuard, type GuardOptions } from '../../src/models/guard/guard.ts';
import { rebuildAnswer } from '../../src/models/messages/answer.ts';
import { keepTextlessMetadata, type MetadataOwner } from '../../src/models/messages/rebuilt.ts';
import { wrapModel } from '../../src/models/wrapped-model.ts';
import { ask, collect } from './bench.ts';
import { fireHook } from './guard-bench.ts';
import { openFake } from './wire/fake.ts';

const signature = randomBytes(120).toString('base64');
const citation = {
  type: 'web_search_result_location',
  cited_text: 'her number is SECRET',
  url: 'https://a.example/',
  title: 'A',
  encrypted_index: 'SECRET',
};
const container = { id: 'container_011CPR5CNjB747bTd36fQLFk', expires_at: '2026-01-01T00:00:00Z' };
const blocks = [
  { type: 'thinking', thinking: 'I look.', signature },
  { type: 'text', text: 'It is SECRET.', citations: [citation] },
  { type: 'tool_use', id: 'toolu_1', name: 'note', input: { n: 1 }, caller: { type: 'direct' } },
];
const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
const usage = { input_tokens: 3, output_tokens: 4, note: 'SECRET' };
const end = { stop_reason: 'tool_use', stop_sequence: 'SECRET', container };

const whole = JSON.stringify({ ...head, content: blocks, ...end, usage });
const events = [
  { type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'I look.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'It is SECRET.' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { ...blocks[2], input: {} } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"n":1}' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: end, usage },
  { type: 'message_stop' },
];
const streamed = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

type Does = 'redact' | 'deny' | 'allow';

const fires = (does: Does) =>
  fireHook((event) => {
    if (event.phase !== 'after_call' || does === 'allow') return {};
    if (does === 'deny') return { verdict: 'deny', reason: 'no' };
    const message = stringifyJson(event.response.message).replaceAll('SECRET', '[x]');
    return { verdict: 'modify', replace: new Json(`{"message":${message}}`) };
  });

async function openGuarded(
  body: string,
  does: Does,
  stream?: GuardOptions['stream'],
): Promise<LanguageModelV4> {
  const type = body === whole ? 'application/json' : 'text/event-stream';
  const headers = { 'content-type': type, 'x-debug': 'SECRET' };
  const fake = await openFake('anthropic', [{ fault: { kind: 'body', status: 200, body, headers } }]);
  onTestFinished(() => fake.close());
  const model = createAnthropic({ baseURL: fake.url, apiKey: 'key' })('claude-sonnet-4-5');
  return wrapModel(model, createGuard({ fire: fires(does), stream }));
}

const asked = { ...ask('hi'), maxOutputTokens: 9 };
const source = {
  type: 'source',
  sourceType: 'url',
  id: expect.any(String),
  url: 'https://a.example/',
  title: 'A',
};
const called = {
  type: 'tool-call',
  toolCallId: 'toolu_1',
  toolName: 'note',
  input: '{"n":1}',
  providerMetadata: { anthropic: { caller: { type: 'direct' } } },
};
const signed = { providerMetadata: { anthropic: { signature } } };
const kept = {
  anthropic: { container: { id: container.id, expiresAt: container.expires_at } },
  signalbox: expect.anything(),
};

test('a redacted answer of Anthropic’s keeps what it needs to continue, and nothing that quotes it', async () => {
  const result = await (await openGuarded(whole, 'redact')).doGenerate(asked);
  expect(JSON.stringify(result)).not.toContain('SECRET');
  expect(result.content).toEqual([
    { type: 'reasoning', text: 'I look.', ...signed },
    { type: 'text', text: 'It is [x].' },
    source,
    called,
  ]);
  expect(result.providerMetadata).toEqual(kept);
});

test.each(['hold', 'windowed'] as const)(
  'a redacted stream (%s) of Anthropic’s keeps what it needs to continue, and nothing that quotes it',
  async (mode) => {
    const { stream, ...about } = await (await openGuarded(streamed, 'redact', mode)).doStream(asked);
    const parts = await collect(stream);
    expect(JSON.stringify([about, parts])).not.toContain('SECRET');
    expect(about).toEqual({ request: {}, response: {} });
    expect(parts).toContainEqual(source);
    expect(parts).toContainEqual(called);
    expect(parts).toContainEqual(expect.objectContaining({ type: 'reasoning-end', ...signed }));
    expect(parts.at(-1)).toMatchObject({ type: 'finish', providerMetadata: kept });
  },
);

test.each(['hold', 'windowed'] as const)(
  'a withheld stream (%s) reveals nothing of request and response',
  async (mode) => {
    const { stream, ...about } = await (await openGuarded(streamed, 'deny', mode)).doStream(asked);
    expect(JSON.stringify([about, await collect(stream)])).not.toContain('SECRET');
    expect(about).toEqual({ request: {}, response: {} });
  },
);

test.each([whole, streamed])('an answer that passes keeps all provider metadata', async (body) => {
  const model = await openGuarded(body, 'allow');
  const texts = jsonOf(body === whole ? await model.doGenerate(asked) : await streamOf(model));
  expect(texts).toContain('her number is SECRET');
  expect(texts).toContain('"x-debug":"SECRET"');
  expect(texts).toContain('"max_tokens":9');
});

async function streamOf(model: LanguageModelV4) {
  const { stream, ...about } = await model.doStream(asked);
  return [await collect(stream), about];
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll('\\"', '"');
}

test('the AI SDK gets the headers of a stream that passed', async () => {
  const { response, text } = streamText({ model: await openGuarded(streamed, 'allow'), prompt: 'hi' });
  expect([await text, (await response).headers?.['x-debug']]).toEqual(['It is SECRET.', 'SECRET']);
});

test('a title and other members that no hook reads are dropped from a changed answer', () => {
  const titled = { ...called, title: 'SECRET', more: 'SECRET', type: 'tool-call' } as const;
  const message = { content: 'x', tool_calls: [{ id: 'toolu_1', name: 'note', args: { n: 1 } }] };
  expect(rebuildAnswer(message, [titled])).toEqual([{ type: 'text', text: 'x' }, called]);
});

const sealed = randomBytes(64).toString('base64url');
const text = Buffer.from('It is SECRET, and nobody may read it.').toString('base64');

test.each<{ title: string; place: MetadataOwner; given: SharedV4ProviderMetadata; left: object }>([
  {
    title: 'a signature that is base64 of a text goes',
    place: 'reasoning',
    given: { anthropic: { signature: text, redactedData: sealed } },
    left: { providerMetadata: { anthropic: { redactedData: sealed } } },
  },
  {
    title: 'a signature of a text goes',
    place: 'reasoning',
    given: { anthropic: { signature: 'SECRET' } },
    left: {},
  },
  {
    title: 'a signature of another place goes',
    place: 'tool-call',
    given: { anthropic: { signature: sealed } },
    left: {},
  },
  {
    title: 'Gemini’s signature of a call stays, whatever the package is called',
    place: 'tool-call',
    given: {
      vertex: { thoughtSignature: sealed, groundingMetadata: {} },
      acme: { thoughtSignature: sealed },
    },
    left: { providerMetadata: { vertex: { thoughtSignature: sealed } } },
  },
  {
    title: 'a container with words goes',
    place: 'answer',
    given: { anthropic: { container: { id: 'her number is 7', expiresAt: 'SECRET', skills: ['SECRET'] } } },
    left: {},
  },
  {
    title: 'what would bring the stored original back goes',
    place: 'tool-call',
    given: { openai: { itemId: 'fc_1' } },
    left: {},
  },
  { title: 'an odd shape goes', place: 'answer', given: { anthropic: { container: [1] } }, left: {} },
])('of metadata, $title', ({ place, given, left }) => {
  expect(keepTextlessMetadata(place, given)).toEqual(left);
});
