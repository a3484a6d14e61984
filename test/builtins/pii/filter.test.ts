import { describe, expect, test } from 'vitest';
import { parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import type { FilterReply } from '../../../src/builtins/pii/filter.ts';
import { actionsOf, answering, asking, everyAction, executed, executing, filter, user } from './support.ts';

const text = 'I am ada@example.org, card 4111 1111 1111 1111';
const answer = (payload: object, subject = filter()): FilterReply => subject.answer(payload, 0);

test.each([
  { action: 'redact' as const, becomes: 'I am [EMAIL_ADDRESS], card [CREDIT_CARD]' },
  { action: 'mask' as const, becomes: 'I am a***@example.org, card **** **** **** 1111' },
  {
    action: 'hash' as const,
    becomes: 'I am [EMAIL_ADDRESS:b0fdcbf620e93464], card [CREDIT_CARD:85febeb095326037]',
  },
  { action: 'pseudonymise' as const, becomes: 'I am <EMAIL_ADDRESS_1>, card <CREDIT_CARD_1>' },
])('$action changes the findings', ({ action, becomes }) => {
  expect(answer(asking([user(text)]), filter(action))).toMatchObject({
    allow: true,
    replace: { messages: [{ role: 'user', content: becomes }] },
    metadata: { pii: { EMAIL_ADDRESS: 1, CREDIT_CARD: 1 } },
  });
});

test('block denies with counts, and without any value', () => {
  const reply = answer(asking([user(text), user('4111-1111-1111-1111')]), filter('block'));
  expect(reply).toEqual({
    allow: false,
    reason: 'the request holds 2 credit cards and 1 email address',
    metadata: { pii: { EMAIL_ADDRESS: 1, CREDIT_CARD: 2 } },
  });
});

test('an entity may have its own action', () => {
  const actions = actionsOf('redact', { EMAIL_ADDRESS: 'mask', CREDIT_CARD: 'block' });
  expect(answer(asking([user('ada@example.org')]), filter('redact', { actions }))).toMatchObject({
    replace: { messages: [user('a***@example.org')] },
  });
  expect(answer(asking([user(text)]), filter('redact', { actions }))).toMatchObject({ allow: false });
});

test('a hash is the same for spellings of one value, and another under another key', () => {
  const hashOf = (content: string, key = 7) =>
    JSON.stringify(answer(asking([user(content)]), filter('hash', { key: Buffer.alloc(32, key) })));
  expect(hashOf('4111 1111 1111 1111')).toBe(hashOf('4111-1111-1111-1111'));
  expect(hashOf('ada@example.org')).toBe(hashOf('Ada@Example.org'));
  expect(hashOf('ada@example.org')).not.toBe(hashOf('ada@example.org', 8));
});

test.each([asking([user('hi')]), answering({}, { content: 'hi' }), executing({ n: 1 }), executed('ok')])(
  'without findings everything is unchanged: $phase',
  (payload) => {
    expect(everyAction.map((action) => answer(payload, filter(action)))).toEqual(
      everyAction.map(() => ({ allow: true, metadata: { pii: {} } })),
    );
  },
);

test('values on the allow list pass', () => {
  const isAllowed = (value: string) => value.endsWith('@example.org');
  expect(answer(asking([user('ada@example.org')]), filter('redact', { isAllowed }))).toEqual({
    allow: true,
    metadata: { pii: {} },
  });
});

describe('every part of a message', () => {
  const mail = 'ada@example.org';
  const message = {
    role: 'assistant',
    content: `ask ${mail}`,
    parts: [
      { type: 'text', text: 'ask ada@' },
      { type: 'image', media: { url: 'x' } },
      { type: 'text', text: 'example.org' },
    ],
    reasoning: `so ${mail}`,
    tool_calls: [{ id: 'c', name: 'mail', args: { to: [mail], n: 1 } }],
    tool_result: { id: 'c', name: 'mail', error: `no ${mail}`, parts: [{ type: 'text', text: `t ${mail}` }] },
  };

  test('is changed, including copies of the content, and the rest is unchanged', () => {
    expect(answer(asking([message], {}, `for ${mail}`))).toEqual({
      allow: true,
      replace: {
        messages: [
          {
            role: 'assistant',
            content: 'ask [EMAIL_ADDRESS]',
            parts: [
              { type: 'text', text: 'ask [EMAIL_ADDRESS]' },
              { type: 'image', media: { url: 'x' } },
              { type: 'text', text: '' },
            ],
            reasoning: 'so [EMAIL_ADDRESS]',
            tool_calls: [{ id: 'c', name: 'mail', args: { to: ['[EMAIL_ADDRESS]'], n: 1 } }],
            tool_result: {
              id: 'c',
              name: 'mail',
              error: 'no [EMAIL_ADDRESS]',
              parts: [{ type: 'text', text: 't [EMAIL_ADDRESS]' }],
            },
          },
        ],
        system_prompt: 'for [EMAIL_ADDRESS]',
      },
      metadata: { pii: { EMAIL_ADDRESS: 6 } },
    });
  });

  test('parts that are joined by line breaks agree with the content afterwards', () => {
    const parts = [{ text: 'card 4111' }, { text: `call ${mail}` }];
    const reply = answer(asking([{ role: 'user', content: `card 4111\ncall ${mail}`, parts }]));
    expect(reply).toMatchObject({
      replace: {
        messages: [
          {
            content: 'card 4111\ncall [EMAIL_ADDRESS]',
            parts: [{ text: 'card 4111' }, { text: 'call [EMAIL_ADDRESS]' }],
          },
        ],
      },
    });
  });

  test('of an answer is changed too', () => {
    expect(answer(answering({}, { content: text }))).toMatchObject({
      replace: { message: { role: 'assistant', content: 'I am [EMAIL_ADDRESS], card [CREDIT_CARD]' } },
    });
  });
});

describe('arguments and results', () => {
  const change = (payload: string, action: (typeof everyAction)[number] = 'redact') =>
    stringifyJson(answer(parseLosslessObject(payload), filter(action)));

  function parseLosslessObject(json: string): object {
    const value = parseLossless(json);
    if (typeof value !== 'object' || value === null) throw new Error('no object');
    return value;
  }

  test('keep their types and digits', () => {
    const args = '{"id":12345678901234567890,"one":1.5e-400,"to":"ada@example.org","deep":[{"a":null}]}';
    expect(change(JSON.stringify(executing(0)).replace('"args":0', `"args":${args}`))).toBe(
      '{"allow":true,"replace":{"args":{"id":12345678901234567890,"one":1.5e-400,"to":"[EMAIL_ADDRESS]","deep":[{"a":null}]}},"metadata":{"pii":{"EMAIL_ADDRESS":1}}}',
    );
  });

  test.each([
    { title: 'a number', args: { card: 4111111111111111 }, what: '1 credit card' },
    { title: 'a key', args: { 'ada@example.org': 1 }, what: '1 email address' },
  ])('with findings in $title, which cannot be changed, are denied', ({ args, what }) => {
    expect(answer(executing(args))).toMatchObject({ allow: false, reason: `the arguments hold ${what}` });
    const tool_calls = [{ id: 'c', name: 'mail', args }];
    expect(answer(answering({}, { content: '', tool_calls }))).toMatchObject({ allow: false });
  });

  test('a key identifies its value', () => {
    const args = { password: 'correct', phoneNumber: '20794609', ssn: '536228714', note: '20794609' };
    expect(answer(executing(args))).toMatchObject({
      replace: {
        args: { password: '[SECRET]', phoneNumber: '[PHONE_NUMBER]', ssn: '[US_SSN]', note: '20794609' },
      },
    });
  });

  test('a JSON result stays JSON, found numbers become strings, equal keys stay distinct', () => {
    const content =
      '{ "n": 12345678901234567890,\n "card": 4111111111111111, "a@b.com": 1, "c@b.com": "x\\ny" }';
    expect(answer(executed(content))).toMatchObject({
      replace: {
        content:
          '{ "n": 12345678901234567890,\n "card": "[CREDIT_CARD]", "[EMAIL_ADDRESS]": 1, "[EMAIL_ADDRESS] (2)": "x\\ny" }',
      },
    });
  });

  test('JSON in a string of JSON is searched as well', () => {
    const content = JSON.stringify({ body: JSON.stringify({ to: 'a\u0064a@example.org' }) });
    expect(answer(executed(content))).toMatchObject({
      replace: { content: '{"body":"{\\"to\\":\\"[EMAIL_ADDRESS]\\"}"}' },
    });
  });

  test('a value in a result without a known conversation is hashed instead of pseudonymized', () => {
    expect(answer(executed('ada@example.org'), filter('pseudonymise'))).toMatchObject({
      replace: { content: '[EMAIL_ADDRESS:b0fdcbf620e93464]' },
    });
  });
});

const unknown = [
  { title: 'no object', payload: [] },
  { title: 'no request', payload: { hook: 'provider', phase: 'before_call' } },
  { title: 'another phase', payload: { hook: 'provider', phase: 'during_call', request: {} } },
  { title: 'a phase of another hook', payload: { hook: 'tool', phase: 'before_call', request: {} } },
  { title: 'a session', payload: { hook: 'session', phase: 'session_start', request: {}, event: {} } },
  { title: 'no messages', payload: { hook: 'provider', phase: 'before_call', request: {} } },
  { title: 'the keys of another dialect', payload: { ...asking([]), request: { Messages: [] } } },
  { title: 'a message that is a text', payload: { ...asking([]), request: { messages: ['hi'] } } },
  { title: 'a content that is a list', payload: asking([{ role: 'user', content: ['hi'] }]) },
  { title: 'a part that is a text', payload: asking([{ role: 'user', content: '', parts: ['hi'] }]) },
  {
    title: 'a system prompt that is a list',
    payload: { ...asking([]), request: { messages: [], system_prompt: [] } },
  },
  {
    title: 'tool calls that are no list',
    payload: asking([{ role: 'assistant', content: '', tool_calls: {} }]),
  },
  { title: 'arguments that are a list', payload: executing([]) },
  { title: 'no response', payload: { hook: 'provider', phase: 'after_call', request: {} } },
  { title: 'a result that is a number', payload: executed(1) },
];

test.each(unknown)('a payload of an unknown shape is refused: $title', ({ payload }) => {
  expect(() => filter().answer(payload, 0)).toThrow(expect.objectContaining({ code: 'EVENT_INVALID' }));
});
