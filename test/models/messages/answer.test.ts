import type { LanguageModelV4Content, LanguageModelV4FinishReason } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../../src/base/json/json.ts';
import { parseMessage } from '../../../src/calls/hooks/replace.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import { fromAnswer, toAnswer } from '../../../src/models/messages/answer.ts';
import { finish, usage } from '../guard-bench.ts';

const signed = { providerMetadata: { acme: { signature: 'private' } } };
const link = {
  type: 'source',
  sourceType: 'url',
  id: 's1',
  url: 'https://a.example/',
  title: 'A',
  ...signed,
} as const;

const everything: LanguageModelV4Content[] = [
  { type: 'reasoning', text: 'hm', ...signed },
  { type: 'tool-call', toolCallId: 'c0', toolName: 'search', input: '{"q":"x"}', providerExecuted: true },
  { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c0' },
  { type: 'tool-result', toolCallId: 'c0', toolName: 'search', result: { found: 1 }, ...signed },
  link,
  { type: 'text', text: 'I will ', citations: [{ source: link, citedText: 'it said' }], ...signed },
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' }, ...signed },
  { type: 'text', text: 'count.' },
  {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: 'count',
    input: '{ "n": 12345678901234567890 }',
    ...signed,
  },
  { type: 'custom', kind: 'acme.note', ...signed },
];
const toolUse: LanguageModelV4FinishReason = { unified: 'tool-calls', raw: 'tool_use' };

function message(
  content: readonly LanguageModelV4Content[],
  finishReason = finish.finishReason,
): ChatMessage {
  return fromAnswer({ content: [...content], finishReason, usage });
}

test('an answer in native form has everything for readers and tools, and nothing provider-specific', () => {
  const told = message(everything, toolUse);
  expect(stringifyJson(told)).toContain('"args":{ "n": 12345678901234567890 }');
  expect(JSON.parse(stringifyJson(told))).toEqual({
    role: 'assistant',
    content: 'I will count.',
    parts: [
      { type: 'text', text: 'I will ' },
      { type: 'image', media: { mime_type: 'image/png', size_bytes: 3, data: 'AQID' } },
      { type: 'text', text: 'count.' },
    ],
    tool_calls: [
      { id: 'c0', name: 'search', args: { q: 'x' } },
      { id: 'c1', name: 'count', args: { n: expect.any(Number) } },
    ],
    tool_results: [{ id: 'c0', name: 'search', content: '{"found":1}' }],
    sources: [{ id: 's1', type: 'url', url: 'https://a.example/', title: 'A' }],
    citations: [{ id: 's1', type: 'url', url: 'https://a.example/', title: 'A', cited_text: 'it said' }],
    reasoning: 'hm',
    finish_reason: 'tool_use',
    cost_info: { input_tokens: 7, output_tokens: 5 },
  });
});

test.each<{ finishReason: LanguageModelV4FinishReason; word: string }>([
  { finishReason: { unified: 'stop', raw: 'end_turn' }, word: 'stop' },
  { finishReason: { unified: 'length', raw: 'max_tokens' }, word: 'max_output_tokens' },
  { finishReason: toolUse, word: 'tool_use' },
  { finishReason: { unified: 'content-filter', raw: 'SAFETY' }, word: 'safety' },
  { finishReason: { unified: 'content-filter', raw: 'refusal' }, word: 'refusal' },
  { finishReason: { unified: 'error', raw: undefined }, word: 'error' },
  { finishReason: { unified: 'interrupted', raw: undefined }, word: 'interrupted' },
  { finishReason: { unified: 'other', raw: 'pause_turn' }, word: 'pause_turn' },
  { finishReason: { unified: 'other', raw: undefined }, word: 'other' },
])('the finish reason "$word" is shown, and read back unchanged', ({ finishReason, word }) => {
  const sent = message([], finishReason);
  expect(sent['finish_reason']).toBe(word);
  const given: ChatMessage = { role: 'assistant', content: 'x', finish_reason: word };
  expect(toAnswer(given, { content: [], finishReason, message: sent }).finishReason).toEqual(finishReason);
  const { unified } = toAnswer(given).finishReason;
  expect(unified).toBe(finishReason.unified);
});

test.each([
  { title: 'no input', input: ' ', args: {} },
  { title: 'no JSON', input: '{"a":', args: '{"a":' },
  { title: 'no object', input: '[1]', args: '[1]' },
])('the args of a call with $title', ({ input, args }) => {
  const [told] = JSON.parse(stringifyJson(message([{ ...call('c1'), input }])['tool_calls']));
  expect(told).toEqual({ id: 'c1', name: 'send', args });
});

function call(toolCallId: string) {
  return { type: 'tool-call', toolCallId, toolName: 'send', input: '{}' } as const;
}

function replace(
  content: readonly LanguageModelV4Content[],
  change: (text: string) => string,
  end = toolUse,
) {
  const sent = message(content, end);
  const left = parseMessage(change(stringifyJson(sent)));
  return toAnswer(left, { content: [...content], finishReason: end, message: sent });
}

test('an answer that comes back unchanged is unchanged', () => {
  const { content, finishReason } = replace(everything, (text) => text);
  expect(content.every((part, index) => part === everything[index])).toBe(true);
  expect({ length: content.length, finishReason }).toEqual({
    length: everything.length,
    finishReason: toolUse,
  });
});

test('the rest of a changed answer stays in place, without what only the provider can read', () => {
  const { content } = replace(everything, (text) => text.replaceAll('found', 'lost'));
  const { providerMetadata: _, ...source } = link;
  expect(content).toEqual([
    { type: 'reasoning', text: 'hm' },
    everything[1],
    everything[2],
    { type: 'tool-result', toolCallId: 'c0', toolName: 'search', result: { lost: 1 } },
    source,
    { type: 'text', text: 'I will ', citations: [{ source, citedText: 'it said' }] },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
    { type: 'text', text: 'count.' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'count', input: '{ "n": 12345678901234567890 }' },
  ]);
});

test.each<{ title: string; given: object; content: LanguageModelV4Content[]; unified: string }>([
  {
    title: 'a text alone',
    given: { content: 'x' },
    content: [{ type: 'text', text: 'x' }],
    unified: 'stop',
  },
  { title: 'nothing', given: { content: '' }, content: [], unified: 'stop' },
  {
    title: 'another text and one of the calls',
    given: { content: 'x', tool_calls: [{ id: 'c1', name: 'count', args: { n: 1 } }] },
    content: [
      { type: 'text', text: 'x' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'count', input: '{"n":1}' },
    ],
    unified: 'tool-calls',
  },
  {
    title: 'another thought',
    given: { content: '', reasoning: 'mm' },
    content: [{ type: 'reasoning', text: 'mm' }],
    unified: 'stop',
  },
  {
    title: 'a call that is new',
    given: { content: '', tool_calls: [{ id: 'c9', name: 'stop', args: {} }] },
    content: [{ type: 'tool-call', toolCallId: 'c9', toolName: 'stop', input: '{}' }],
    unified: 'tool-calls',
  },
  {
    title: 'another end',
    given: { content: 'x', finish_reason: 'refusal' },
    content: [{ type: 'text', text: 'x' }],
    unified: 'content-filter',
  },
])('$title in place of an answer', ({ given, content, unified }) => {
  const answer = replace(everything, () => stringifyJson({ role: 'assistant', ...given }));
  expect({ content: answer.content, unified: answer.finishReason.unified }).toEqual({ content, unified });
});

test('a call that a filter adds to a finished answer runs', () => {
  const given = {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'c9', name: 'stop', args: {} }],
  } as const;
  const { finishReason } = replace([], () => stringifyJson(given), { unified: 'stop', raw: 'end_turn' });
  expect(finishReason).toEqual({ unified: 'tool-calls', raw: undefined });
});

test.each([
  { title: 'calls without args', given: { tool_calls: [{ id: 'c1', name: 'n' }] } },
  { title: 'args that are no object', given: { tool_calls: [{ id: 'c1', name: 'n', args: 'x' }] } },
  { title: 'a result that no tool gave', given: { tool_results: [{ id: 'c9', name: 'n', content: '' }] } },
  { title: 'a source that was not used', given: { sources: [{ id: 's9', url: 'https://b.example/' }] } },
  { title: 'sources that are no objects', given: { sources: ['s1'] } },
  {
    title: 'a file of the provider’s',
    given: { parts: [{ type: 'image', media: { mime_type: 'image/png' } }] },
  },
])('no answer is made of $title', ({ given }) => {
  expect(() =>
    replace(everything, () => stringifyJson({ role: 'assistant', content: '', ...given })),
  ).toThrow(expect.objectContaining({ code: 'REPLY_MALFORMED' }));
});

const word = fc.constantFrom('SECRET', 'a', 'a SECRET b');
const secretMetadata = { providerMetadata: { acme: { logprobs: 'SECRET' } } };
const part: fc.Arbitrary<LanguageModelV4Content> = fc.oneof(
  word.map((text) => ({ type: 'text' as const, text, ...secretMetadata })),
  word.map((citedText) => ({ type: 'text' as const, text: 'a', citations: [{ source: link, citedText }] })),
  word.map((text) => ({ type: 'reasoning' as const, text })),
  word.map((to) => ({ ...call('c1'), input: JSON.stringify({ to }) })),
  word.map((found) => ({ type: 'tool-result' as const, toolCallId: 'c0', toolName: 'n', result: { found } })),
  word.map((title) => ({ ...link, title })),
  word.map((text) => ({
    type: 'file' as const,
    mediaType: 'text/plain',
    data: { type: 'data' as const, data: btoa(text) },
  })),
  fc.constant({ type: 'custom' as const, kind: 'acme.note' as const, ...secretMetadata }),
);

test('an answer with all secrets redacted has none', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (content) => {
      fc.pre(stringifyJson(message(content)).includes('SECRET'));
      const redacted = replace(content, (text) => text.replaceAll('SECRET', '***'));
      expect(JSON.stringify(redacted)).not.toContain('SECRET');
      expect(JSON.stringify(redacted)).not.toContain(btoa('SECRET').slice(0, 6));
      const told = message(redacted.content, toolUse);
      expect(told.content).toBe(message(content, toolUse).content.replaceAll('SECRET', '***'));
    }),
    { numRuns: 500 },
  );
}, 60_000);
