import { expect, test } from 'vitest';
import { keyTexts } from '../../../bench/guards/keys.ts';
import { measureSecrets } from '../../../bench/guards/secrets.ts';
import { answer } from '../../../src/builtins/guards/answer.ts';
import { answering, asking, executed, executing, user } from '../pii/support.ts';
import { ask, kindsIn, secretRules } from './support.ts';

const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

test.each([...keyTexts('published')])('every key of %s is removed completely', (_name, texts) => {
  const rules = secretRules();
  expect(texts.filter((text) => kindsIn(rules, text).length === 0)).toEqual([]);
});

test.each([
  ['torn apart by zero-width spaces', [...token].join('\u200b')],
  [
    'in full-width letters',
    token.replaceAll(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)),
  ],
  ['as escapes of HTML', `&#103;${token.slice(1)}`],
])('a key %s is found and removed completely', async (_title, text) => {
  expect(await ask(secretRules(), `a ${text} b`)).toMatchObject({ flagged: true, text: 'a [API_KEY] b' });
});

test.each([
  ['redact', '[API_KEY]'],
  ['mask', '********'],
  ['hash', expect.stringMatching(/^\[API_KEY:[0-9a-f]{16}\]$/)],
] as const)('%s [DS-GUARDS-01]', async (action, expected) => {
  const rules = secretRules({ actions: { ...allOf('redact'), API_KEY: action } });
  expect(await ask(rules, token)).toMatchObject({ text: expected });
});

function allOf(action: 'redact' | 'block') {
  return {
    API_KEY: action,
    PRIVATE_KEY: action,
    SECRET: action,
    URL_CREDENTIALS: action,
    HIGH_ENTROPY: action,
  };
}

test('block names the kind, never the value [DS-GUARDS-02]', () => {
  const rules = secretRules({ actions: allOf('block') });
  const said = `token ${token} and q8Zt3LmP0vXy7RwK2sNb5HjD`;
  const denied = (what: string) => ({
    allow: false,
    reason: `${what} 1 API key and 1 text that looks like a key`,
    metadata: { secrets: { API_KEY: 1, HIGH_ENTROPY: 1 }, confidence: 1 },
  });
  expect(answer(asking([user(said)]), rules)).toEqual(denied('the request holds'));
  expect(answer(answering({ messages: [] }, { content: said }), rules)).toEqual(denied('the answer holds'));
  expect(answer(executing({ note: said }), rules)).toEqual(denied('the arguments hold'));
  expect(answer(executed(said), rules)).toEqual(denied('the result holds'));
});

test('in all phases the rest of a payload is unchanged [DS-GUARDS-01]', () => {
  const rules = secretRules();
  const tool = { role: 'tool', content: `{"n": 12345678901234567890, "token": "${token}"}` };
  expect(answer(asking([user('hi'), tool]), rules)).toMatchObject({
    allow: true,
    replace: {
      messages: [user('hi'), { role: 'tool', content: '{"n": 12345678901234567890, "token": "[API_KEY]"}' }],
    },
    metadata: { secrets: { API_KEY: 1 } },
  });
  expect(answer(asking([user('hi')]), rules)).toEqual({
    allow: true,
    metadata: { secrets: {}, confidence: 0 },
  });
});

test('a value of the allow list passes', async () => {
  const rules = secretRules({ isAllowed: (text) => text === token });
  expect(await ask(rules, `a ${token}`)).toMatchObject({ flagged: false, text: `a ${token}` });
});

test('as an eval it scores a text [DS-GUARDS-03]', () => {
  const judge = (content: string) =>
    answer({ type: 'no_secrets', params: {}, content, context: {} }, secretRules());
  expect(judge('nothing')).toMatchObject({ score: 1, detail: 'nothing was found' });
  expect(judge(`x ${token}`)).toMatchObject({ score: 0, detail: 'the text holds 1 API key' });
});

test.each([
  ['no object', []],
  ['neither hook nor tool nor eval', { a: 1 }],
  ['another hook', { hook: 'session', phase: 'session_start', request: {} }],
  ['a text that is none', { args: { text: 7 } }],
  ['no text', { args: {} }],
  ['an unknown source', { args: { text: 'a', source: 'nobody' } }],
  ['messages that are none', { hook: 'provider', phase: 'before_call', request: { messages: 'hi' } }],
  ['a request without messages', { hook: 'provider', phase: 'before_call', request: {} }],
])('a payload with %s is refused [DS-GUARDS-04]', (_title, payload) => {
  expect(() => answer(payload, secretRules())).toThrow(expect.objectContaining({ code: 'EVENT_INVALID' }));
});

test('the measured figures hold', () => {
  const [published, ...rest] = measureSecrets();
  expect(published).toMatchObject({ bad: 940, caught: 940 });
  for (const { name, good, flagged } of rest) {
    expect({ name, isRare: flagged <= Math.max(0.1 * good, 4) }).toEqual({ name, isRare: true });
  }
});
