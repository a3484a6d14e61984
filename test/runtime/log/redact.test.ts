import { describe, expect, test } from 'vitest';
import { Json } from '../../../src/index.ts';
import { redactTree } from '../../../src/runtime/log/log.ts';
import { createRedact, isCredentialName } from '../../../src/runtime/log/redact.ts';

const key = ['-----BEGIN KEY-----', 'MIIEvAIBADANBgkq', 'hkiG9w0BAQEFAASC', '-----END KEY-----'].join('\n');

const secrets = [
  { title: 'as it is', secret: 'hunter22', text: 'login hunter22 failed', shown: 'login [redacted] failed' },
  {
    title: 'every time',
    secret: 'hunter22',
    text: 'hunter22hunter22 hunter22',
    shown: '[redacted][redacted] [redacted]',
  },
  {
    title: 'with the signs of a pattern in it',
    secret: 'a.b*c$(d)[e]',
    text: 'x a.b*c$(d)[e] y',
    shown: 'x [redacted] y',
  },
  { title: 'and not what the pattern would match', secret: 'a.b*c', text: 'axbbbc', shown: 'axbbbc' },
  {
    title: 'escaped in JSON',
    secret: 'say "hi"\\',
    text: '{"text":"say \\"hi\\"\\\\"}',
    shown: '{"text":"[redacted]"}',
  },
  {
    title: 'escaped in JSON by Python',
    secret: 'größe-ß',
    text: '{"text": "gr\\u00f6\\u00dfe-\\u00df"}',
    shown: '{"text": "[redacted]"}',
  },
  { title: 'in a URL', secret: 'p@ss/word', text: 'GET /?q=p%40ss%2Fword', shown: 'GET /?q=[redacted]' },
  { title: 'of several lines, whole', secret: key, text: `key: ${key}.`, shown: 'key: [redacted].' },
  { title: 'of several lines, each by itself', secret: key, text: 'MIIEvAIBADANBgkq', shown: '[redacted]' },
  {
    title: 'of several lines, in JSON',
    secret: key,
    text: JSON.stringify({ key }),
    shown: '{"key":"[redacted]"}',
  },
  {
    title: 'unless it is too short to be one',
    secret: 'on',
    text: 'the light is on',
    shown: 'the light is on',
  },
];

test.each(secrets)('a forwarded value is hidden $title', ({ secret, text, shown }) => {
  expect(createRedact([secret])(text)).toBe(shown);
});

test('of two nested values nothing is left', () => {
  expect(createRedact(['abcd', 'abcd-efgh'])('x abcd-efgh abcd y')).toBe('x [redacted] [redacted] y');
});

const texts = [
  { text: 'Authorization: Bearer abc.def', shown: 'Authorization: [redacted]' },
  { text: 'authorization: Basic dXNlcjpwYXNz', shown: 'authorization: [redacted]' },
  { text: 'Proxy-Authorization=Negotiate YII==', shown: 'Proxy-Authorization=[redacted]' },
  {
    text: 'Authorization: Digest username="ada", response="6629fae4"',
    shown: 'Authorization: [redacted]',
  },
  {
    text: 'Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=fe5f',
    shown: 'Authorization: [redacted]',
  },
  { text: 'Authorization: Bearer abc\nAccept: */*', shown: 'Authorization: [redacted]\nAccept: */*' },
  { text: 'Cookie: theme=dark; session=s3cret', shown: 'Cookie: [redacted]' },
  { text: 'set-cookie: id=1; Path=/', shown: 'set-cookie: [redacted]' },
  {
    text: `{"headers":{"authorization":"Bearer abc","accept":"*/*"}}`,
    shown: '{"headers":{"authorization":[redacted],"accept":"*/*"}}',
  },
  {
    text: "{'Authorization': 'Bearer abc', 'Accept': '*/*'}",
    shown: "{'Authorization': [redacted], 'Accept': '*/*'}",
  },
  {
    text: String.raw`{"body":"{\"api_key\":\"sk-1\",\"n\":1}"}`,
    shown: String.raw`{"body":"{\"api_key\":[redacted],\"n\":1}"}`,
  },
  { text: String.raw`{"password":"ab\"cd"}`, shown: '{"password":[redacted]}' },
  { text: 'api_key=sk-12345 model=m', shown: 'api_key=[redacted] model=m' },
  { text: 'API-KEY: sk-12345; model: m', shown: 'API-KEY: [redacted]; model: m' },
  { text: 'OPENAI_API_KEY="sk 12345" next', shown: 'OPENAI_API_KEY=[redacted] next' },
  { text: 'https://host/?access_token=abc&x=1 end', shown: 'https://host/?access_token=[redacted] end' },
  { text: 'password: hunter2, user: ada', shown: 'password: [redacted], user: ada' },
  { text: 'PGPASSWORD=hunter2 psql', shown: 'PGPASSWORD=[redacted] psql' },
  { text: 'client_secret = shh', shown: 'client_secret = [redacted]' },
  { text: 'passphrase: open sesame', shown: 'passphrase: [redacted] sesame' },
  { text: 'sent Bearer eyJhbGciOiJIUzI1NiJ9.e30.x', shown: 'sent Bearer [redacted]' },
];

test.each(texts)('in $text the credential is hidden', ({ text, shown }) => {
  expect(createRedact([])(text)).toBe(shown);
});

test.each([
  'tokens: 12',
  'the token was renewed',
  'a secret garden',
  'the bearer of bad news',
  'keyboard: qwerty',
  '{"max_tokens": 5}',
  'authorize=yes',
])('`%s` is no credential', (text) => {
  expect(createRedact([])(text)).toBe(text);
});

const hostile = [
  { title: 'dashes', unit: '-' },
  { title: 'double quotes', unit: '"' },
  { title: 'single quotes', unit: "'" },
  { title: 'backslashes', unit: '\\' },
  { title: 'blanks', unit: ' ' },
  { title: 'the word token', unit: 'token' },
  { title: 'the word token and a blank', unit: 'token ' },
  { title: 'tokens and an open quote', unit: 'token="' },
  { title: 'tokens and an escaped open quote', unit: 'token=\\"' },
  { title: 'tokens, an open quote and a backslash', unit: `token="\\` },
  { title: 'tokens and an equals sign', unit: 'token=' },
  { title: 'tokens and many blanks', unit: 'token        ' },
  { title: 'bearers', unit: 'bearer ' },
  { title: 'bearers of what is too short', unit: 'bearer abcdefghijklmno ' },
  { title: 'api keys', unit: 'api_key' },
  { title: 'authorizations', unit: "authorization: '" },
];

describe('a MiB of hostile text takes no longer than any other', () => {
  // Sixteen times the 64 KiB limit of a line. Quadratic work would time out.
  test.each(hostile)('$title', ({ unit }) => {
    const redact = createRedact(['hunter22', key]);
    const text = unit.repeat(2 ** 20 / unit.length);
    const shown = redact(text);
    expect(shown.length).toBeLessThanOrEqual(2 * text.length);
    expect(redactTree({ [unit]: text, nested: [{ text }] }, redact)).toBeInstanceOf(Object);
  });

  test('one unclosed quote behind many that are closed', () => {
    const text = `${'token="a" '.repeat(50_000)}token="${'x'.repeat(500_000)}`;
    expect(createRedact([])(text)).toBe(`${'token=[redacted] '.repeat(50_000)}token="${'x'.repeat(500_000)}`);
  });
});

test.each([
  'authorization',
  'Authorization',
  'Proxy-Authorization',
  'cookie',
  'set-cookie',
  'api_key',
  'apiKey',
  'X-Api-Key',
  'accessToken',
  'token',
  'client_secret',
  'password',
  'passwd',
  'passphrase',
  'credentials',
  'private_key',
])('a member called %s holds a credential', (name) => {
  expect(isCredentialName(name)).toBe(true);
});

test.each(['tokens', 'max_tokens', 'author', 'key', 'secretary', 'cookies_eaten', 'passwordless'])(
  'a member called %s holds none',
  (name) => {
    expect(isCredentialName(name)).toBe(false);
  },
);

test('in a tree, credentials are hidden by name and values everywhere', () => {
  const redact = createRedact(['hunter22']);
  const tree = {
    text: 'it was hunter22',
    hunter22: 'as a key',
    list: ['hunter22', { deep: ['x hunter22 y'] }],
    headers: { Authorization: ['Bearer a', 'Bearer b'], accept: 'json' },
    password: 1234,
    credentials: { user: 'ada', phrase: 'open sesame' },
    token: null,
    secret: true,
    json: new Json('{"api_key":"sk-1","id":12345678901234567890,"note":"hunter22"}'),
    number: 5,
    nothing: undefined,
  };
  const shown = JSON.stringify(redactTree(tree, redact));
  expect(shown).toBe(
    '{"text":"it was [redacted]","[redacted]":"as a key","list":["[redacted]",{"deep":["x [redacted] y"]}],"headers":{"Authorization":"[redacted]","accept":"json"},"password":"[redacted]","credentials":"[redacted]","token":null,"secret":true,"json":{"api_key":"[redacted]","id":12345678901234567890,"note":"[redacted]"},"number":5}',
  );
});

test('the original tree is not changed', () => {
  const tree = { password: 'hunter22', nested: { text: 'hunter22' } };
  redactTree(tree, createRedact(['hunter22']));
  expect(tree).toEqual({ password: 'hunter22', nested: { text: 'hunter22' } });
});

test.each([1_000, 100_000])('a tree that is %d levels deep is cut without an overflow', (depth) => {
  const deep = new Json(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  expect(JSON.stringify(redactTree({ deep }, createRedact([])))).toMatch(
    /^\{"deep":\[*"\[nested too deeply\]"\]*\}$/,
  );
});
