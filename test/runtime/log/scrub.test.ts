import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStoredTextRedact } from '../../../src/runtime/log/scrub.ts';
import { anySample, stringText } from '../../json-texts.ts';

const secret = 'tr0ub4dor&3 "x"\\ß';

const hidden = [
  {
    title: 'a string in JSON',
    text: `{"a": ${JSON.stringify(`is ${secret}.`)}, "b":1.0}`,
    shown: '{"a": "is [redacted].", "b":1.0}',
  },
  {
    title: 'a string whose slashes are escaped',
    secrets: ['a/b/c/d/e'],
    text: '{"a":"a\\/b\\/c\\/d\\/e"}',
    shown: '{"a":"[redacted]"}',
  },
  {
    title: 'a string that is spelt in escapes',
    secrets: ['abcd'],
    text: '["\\u0061\\u0062cd"]',
    shown: '["[redacted]"]',
  },
  { title: 'a key', secrets: ['abcd'], text: '{"abcd":1}', shown: '{"[redacted]":1}' },
  { title: 'a number', secrets: ['4711'], text: '{"pin": 4711 }', shown: '{"pin": "[redacted]" }' },
  {
    title: 'a credential by its name',
    text: '{"api_key" : "k", "n": 1}',
    shown: '{"api_key" : "[redacted]", "n": 1}',
  },
  {
    title: 'a credential that is an object',
    text: '{"credentials":{"a":[1,"}"]},"n":1}',
    shown: '{"credentials":"[redacted]","n":1}',
  },
  {
    title: 'and leaves whether there is one',
    text: '{"token":null,"secret":true}',
    shown: '{"token":null,"secret":true}',
  },
  {
    title: 'JSON in a string',
    text: JSON.stringify({ a: '{"password":"p"}' }),
    shown: '{"a":"{\\"password\\":[redacted]}"}',
  },
  {
    title: 'JSON that is a secret as a whole',
    secrets: ['{"type":"key","id":17}'],
    text: '{"type":"key","id":17}',
    shown: '"[redacted]"',
  },
  { title: 'a secret in a text', text: `key=${secret}!`, shown: 'key=[redacted]!' },
  {
    title: 'JSON behind a byte order mark',
    secrets: ['abcd'],
    text: '\ufeff["abcd"]\n',
    shown: '\ufeff["[redacted]"]\n',
  },
  { title: 'hexadecimal digits', text: `x${Buffer.from(secret).toString('hex')}x`, shown: 'x[redacted]x' },
  {
    title: 'its bytes as Latin-1',
    text: Buffer.from(`ü${secret}`).toString('latin1'),
    shown: 'Ã¼[redacted]',
  },
];

test.each(hidden)('it hides $title', ({ secrets = [secret], text, shown }) => {
  expect(createStoredTextRedact(secrets)(text)).toBe(shown);
});

test.each(['', 'u:', 'us:', 'use:'])('it hides a secret in Base64 after %j', (user) => {
  const inner = Buffer.from(`${user}${secret}`).toString('base64');
  const shown = createStoredTextRedact([secret])(`Basic ${inner}`);
  expect(shown).toContain('[redacted]');
  expect(Buffer.from(shown.replace('[redacted]', ''), 'base64').toString()).not.toContain(secret.slice(1, 8));
});

test('a text that is too long for the patterns is not shown', () => {
  const text = `"token":"${'x\\n'.repeat(5_000_000)}`;
  expect(createStoredTextRedact([])(JSON.stringify([text])) === '["[redacted]"]').toBe(true);
});

test('JSON without a secret is unchanged, byte for byte', () => {
  const scrub = createStoredTextRedact(['never-there']);
  fc.assert(
    fc.property(anySample, ({ text }) => {
      expect(scrub(text)).toBe(text);
    }),
  );
});

test('JSON stays JSON, shows no secret in any spelling, and a second pass changes nothing', () => {
  const secrets = fc.array(fc.string({ minLength: 4, maxLength: 9 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(secrets, fc.array(fc.tuple(stringText, fc.nat()), { minLength: 1 }), (given, strings) => {
      const scrub = createStoredTextRedact(given);
      const plain = strings.map(([text, pick]) => JSON.parse(text) + given[pick % given.length]);
      const text = scrub(JSON.stringify(Object.fromEntries(plain.map((each, index) => [`k${index}`, each]))));
      const texts: unknown[] = typeof JSON.parse(text) === 'string' ? [] : Object.values(JSON.parse(text));
      for (const each of given) expect(texts.join('\n')).not.toContain(each);
      expect(scrub(text)).toBe(text);
    }),
  );
});
