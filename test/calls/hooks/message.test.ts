import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { completeMessage, parseMessage, textsAt, withTextAt } from '../../../src/calls/hooks/replace.ts';

const part = (text: string) => ({ type: 'text', text });
const image = { type: 'image', url: 'x' };

test.each([
  [{ content: 'own', parts: [part('p')] }, 'own'],
  [{ parts: [part('a'), image, part('b')] }, 'ab'],
  [{ content: '', parts: [part('a')] }, 'a'],
  [{ content: '', parts: [image], tool_result: { parts: [part('r')] } }, 'r'],
  [{ parts: [part('a')], tool_result: { parts: [part('r')] } }, 'a'],
  [{ parts: new Json('[{"text":"j"}]') }, 'j'],
  [{ tool_result: new Json('{"parts":[{"text":"j"}]}') }, 'j'],
  [{ tool_result: [part('r')] }, ''],
  [{ parts: { parts: [part('r')] } }, ''],
  [{}, ''],
])('the content of %j is %j', (message, content) => {
  expect(completeMessage({ role: 'user', ...message })).toEqual({ role: 'user', ...message, content });
});

test('a message that is read keeps the digits of all but its role and content', () => {
  const message = parseMessage(
    '{"role":"user","content":"a\\u0062","id":12345678901234567890,"meta":{"p":1.10}}',
  );
  expect(message).toEqual({
    ...{ role: 'user', content: 'ab' },
    ...{ id: new Json('12345678901234567890'), meta: new Json('{"p":1.10}') },
  });
});

test.each([
  [{ parts: [part('a'), image, { text: 7 }, 'text', part('b')] }, 'parts', ['a', 'b']],
  [{ parts: [] }, 'parts', []],
  [{}, 'parts', undefined],
  [{ parts: 'a' }, 'parts', undefined],
  [{ tool_result: { parts: [part('r')] } }, 'tool_result', ['r']],
  [{ tool_result: [part('r')] }, 'tool_result', undefined],
  [{ tool_result: null }, 'tool_result', undefined],
] as const)('the texts of %j at %s', (message, field, texts) => {
  expect(textsAt(message, field)).toEqual(texts);
});

const message = { role: 'user', content: 'x' } as const;

test('a text takes the place of all texts of a member, and what is no text stays', () => {
  const parts = [image, part('a'), part('b'), { text: 7 }, 'text'];
  const replaced = [image, { type: 'text', text: 'new' }, { text: 7 }, 'text'];
  expect(withTextAt({ ...message, parts }, 'parts', 'new')).toEqual({ ...message, parts: replaced });
  const tool_result = { id: 'r', parts };
  expect(withTextAt({ ...message, tool_result }, 'tool_result', 'new')).toEqual({
    ...message,
    tool_result: { id: 'r', parts: replaced },
  });
  const exact = withTextAt({ ...message, parts: new Json('[{"text":"a","n":1.10}]') }, 'parts', 'new');
  expect(JSON.stringify(exact)).toContain('"text":"new"');
  expect(withTextAt(message, 'parts', 'new')).toEqual({ ...message, parts: [] });
});
