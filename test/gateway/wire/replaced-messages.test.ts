import { describe, expect, it } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import { alignReplaced } from '../../../src/gateway/wire/replaced-messages.ts';

const user = (content: string, more: object = {}): ChatMessage => ({ role: 'user', content, ...more });
const places = (sent: ChatMessage[], replaced: ChatMessage[]) =>
  alignReplaced(sent, replaced).map(({ index, isSame }) => [index, isSame]);

describe('messages that hooks returned', () => {
  const sent = [user('a'), user('b'), user('c')];

  it.each<[string, ChatMessage[], unknown]>([
    [
      'the same',
      [user('a'), user('b'), user('c')],
      [
        [0, true],
        [1, true],
        [2, true],
      ],
    ],
    [
      'marked',
      [user('a', { meta: { seen: 1 } }), user('b'), user('c')],
      [
        [0, true],
        [1, true],
        [2, true],
      ],
    ],
    [
      'one changed',
      [user('a'), user('B'), user('c')],
      [
        [0, true],
        [1, false],
        [2, true],
      ],
    ],
    [
      'one dropped',
      [user('a'), user('c')],
      [
        [0, true],
        [2, true],
      ],
    ],
    [
      'one added',
      [user('a'), user('b'), user('new'), user('c')],
      [
        [0, true],
        [1, true],
        [undefined, false],
        [2, true],
      ],
    ],
    ['none', [], []],
  ])('are found: %s', (_what, replaced, expected) => {
    expect(places(sent, replaced)).toEqual(expected);
  });

  it('match in any order of keys, but not with other digits', () => {
    const call = (args: string): ChatMessage => ({
      role: 'assistant',
      content: '',
      tool_calls: [{ args: new Json(args) }],
    });
    expect(places([call('{"a":1,"b":2}')], [call('{"b": 2, "a": 1}')])).toEqual([[0, true]]);
    expect(places([call('{"a":12345678901234567890}')], [call('{"a":12345678901234567891}')])).toEqual([
      [0, false],
    ]);
  });

  it('are found among a hundred thousand', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => user(`message ${index % 100}`));
    const changed = many.map((message, index) => (index % 2 === 0 ? message : user(`${message.content}!`)));
    const found = alignReplaced(many, changed);
    expect(found.every(({ index }, at) => index === at)).toBe(true);
  });
});
