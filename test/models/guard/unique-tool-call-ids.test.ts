import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { createUniqueToolCallIds } from '../../../src/models/guard/stream-collector.ts';

const call = (toolCallId: string, more: object = {}) =>
  ({ type: 'tool-call', toolCallId, toolName: 'note', input: '{}', ...more }) as const;

const earlier: LanguageModelV4Prompt = [
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'note', input: {} }],
  },
];

test('a repeated id is replaced the second time', () => {
  const { content } = createUniqueToolCallIds([]);
  const ids = content([call('a'), call('a'), call('a-2'), call('b')]).map(
    (part) => 'toolCallId' in part && part.toolCallId,
  );
  expect(ids).toEqual(['a', 'a-2', 'a-2-2', 'b']);
});

test('an id of an earlier answer is replaced', () => {
  expect(createUniqueToolCallIds(earlier).content([call('a')])).toEqual([call('a-2')]);
});

test('a call that the provider runs itself keeps its id, and others are replaced', () => {
  const own = call('a', { providerExecuted: true });
  expect(createUniqueToolCallIds(earlier).content([own, call('b')])).toEqual([own, call('b')]);
  expect(createUniqueToolCallIds([]).content([own, call('a')])).toEqual([own, call('a-2')]);
});

const streamed = (id: string, input: string): LanguageModelV4StreamPart[] => [
  { type: 'tool-input-start', id, toolName: 'note' },
  { type: 'tool-input-delta', id, delta: input },
  { type: 'tool-input-end', id },
  call(id, { input }),
];

test('streamed calls with one id are distinguished with their inputs', () => {
  const { part } = createUniqueToolCallIds([]);
  const parts = [...streamed('a', '{"n":1}'), ...streamed('a', '{"n":2}')].map(part);
  expect(parts).toEqual([...streamed('a', '{"n":1}'), ...streamed('a-2', '{"n":2}')]);
});

test('calls that all follow their inputs keep the inputs’ order', () => {
  const { part } = createUniqueToolCallIds([]);
  const [one, two] = [streamed('a', '{"n":1}'), streamed('a', '{"n":2}')];
  const parts = [...one.slice(0, 3), ...two.slice(0, 3), ...one.slice(3), ...two.slice(3)].map(part);
  const [first, second] = [streamed('a', '{"n":1}'), streamed('a-2', '{"n":2}')];
  expect(parts).toEqual([...first.slice(0, 3), ...second.slice(0, 3), ...first.slice(3), ...second.slice(3)]);
});
