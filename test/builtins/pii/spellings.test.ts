import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asking, executing, filter, found, user } from './support.ts';

const passwords = [
  { text: `password="ab'cd,ef gh;12"`, value: `ab'cd,ef gh;12` },
  { text: 'password: ab,cd,ef,12 and more', value: 'ab,cd,ef,12' },
  { text: 'password=ab"cd"ef12', value: 'ab"cd"ef12' },
  { text: 'pwd=ab;cd(ef)12', value: 'ab;cd(ef)12' },
  { text: 'password: "correct horse battery"', value: 'correct horse battery' },
  { text: String.raw`{\"password\":\"ab,cd ef\",\"user\":1}`, value: 'ab,cd ef' },
  { text: String.raw`{"password": "ab\"cd,ef"}`, value: String.raw`ab\"cd,ef` },
  { text: 'Server=h;Password=ab;c,d"12;Database=x', value: 'ab;c,d"12' },
  { text: '/?user=ada&password=abc,123(def&x=1', value: 'abc,123(def' },
];

test.each(passwords)('the whole password in `$text` is found', ({ text, value }) => {
  expect(found(text)).toEqual([`SECRET ${value}`]);
});

test.each([
  'password: z.string().min(6), name: z.string()',
  'password=<hidden> password={{password}} password=[SECRET]',
  'password: required, the password is optional, "password": "required"',
  'password = getPassword();',
  'enter your password: "abc"',
])('no password is found in: %s', (text) => {
  expect(found(text)).toEqual([]);
});

const passwordText = fc.string({
  minLength: 8,
  maxLength: 40,
  unit: fc.constantFrom(...'ab1"\'`,;:(){}[]<>&=\\ .!'),
});

test('the value of a password key is removed completely, whatever it contains', () => {
  fc.assert(
    fc.property(passwordText, (tail) => {
      const password = `Zq7x!K${tail}9`;
      const reply = filter().answer(
        asking([user(JSON.stringify({ user: 'u', dbPassword: password, n: 1.0 }))]),
        0,
      );
      expect(reply).toMatchObject({
        replace: { messages: [user('{"user":"u","dbPassword":"[SECRET]","n":1}')] },
      });
    }),
  );
});

describe('a number of JSON', () => {
  test.each([
    '4111111111111111.0',
    '4111111111111111.00',
    '-4111111111111111',
    '-4111111111111111.0',
    '4.111111111111111e15',
    '4.111111111111111E+15',
    '4111111111.111111e6',
    '41111111111111110e-1',
    '4111111111111111.5',
  ])('%s is read as the digits before its point', (number) => {
    const content = `{"n": 1.50, "card": ${number}, "list": [${number}]}`;
    expect(filter().answer(asking([user(content)]), 0)).toMatchObject({
      replace: { messages: [user('{"n": 1.50, "card": "[CREDIT_CARD]", "list": ["[CREDIT_CARD]"]}')] },
    });
    expect(filter().answer(executing(JSON.parse(`{"card": ${number}}`)), 0)).toMatchObject({ allow: false });
  });

  test.each([
    '0.4111111111111111',
    '4111111111111111e-16',
    '1e400',
    '4111111111111112.0',
    '-122.4194155',
    '12.5e3',
  ])('%s is not a card', (number) => {
    expect(filter().answer(asking([user(`{"n":${number}}`)]), 0)).toMatchObject({ metadata: { pii: {} } });
  });

  test('in text as a program writes a measure is found too', () => {
    expect(found('x,4.111111111111111e+15,y')).toEqual(['CREDIT_CARD 4.111111111111111e+15']);
  });
});

const values = [
  { entity: 'CREDIT_CARD', parts: ['4111', '1111', '1111', '1111'], lead: '' },
  { entity: 'US_SSN', parts: ['536', '22', '8714'], lead: 'SSN ' },
  { entity: 'IBAN_CODE', parts: ['DE89', '3704', '0044', '0532', '0130', '00'], lead: '' },
] as const;

const tears = [
  '\0',
  '\u0001',
  '\u001f',
  '\u0085',
  '\u009f',
  '\ufff9',
  '\ufffb',
  '\u200b',
  '\u00ad',
  '\u202e',
  '\u001b[0m',
  '&shy;',
  '&#8203;',
  String.raw`\u200b`,
];
const gaps = ['-', ' ', '  ', ' - ', '\u00a0', '\u2011', '&nbsp;', '&#45;', '&#x2d;', String.raw`\u002d`];
const breaks = ['\n', '\r\n', '\u2028', '-\n', '\n  '];

describe.each(values)('a $entity', ({ entity, parts, lead }) => {
  test.each(tears)('that %j splits is found as a whole', (tear) => {
    const written = parts.join(tear);
    expect(found(`${lead}${written}, then`)).toEqual([`${entity} ${written}`]);
  });

  test.each(gaps)('whose groups %j separates is found as a whole', (gap) => {
    const written = parts.join(gap);
    expect(found(`${lead}${written}, then`)).toEqual([`${entity} ${written}`]);
  });

  test.each(breaks)('in which a line ends with %j is found as a whole', (line) => {
    const separator = line.startsWith('-') ? '-' : ' ';
    const written = `${parts[0]}${separator}${parts[1]}${line}${parts.slice(2).join(separator)}`;
    expect(found(`${lead}${written}, then`)).toEqual([`${entity} ${written}`]);
  });
});

test.each([
  'ada&#64;example.org',
  'ada&#x40;example.org',
  'ada&commat;example.org',
  'ada&amp;#64;example.org',
  String.raw`ada\u0040example.org`,
  String.raw`ada\\u0040example.org`,
  String.raw`ada\x40example.org`,
  'ada@example&period;org',
  'ada\u0000@\u0001example\u009f.org',
])('an address that is spelled %j is found as a whole', (written) => {
  expect(found(`to ${written} now`)).toEqual([`EMAIL_ADDRESS ${written}`]);
});

test('numbers separated by control characters are two', () => {
  expect(found('4111111111111111\u001f5500000000000004\u001e')).toEqual([
    'CREDIT_CARD 4111111111111111',
    'CREDIT_CARD 5500000000000004',
  ]);
});

test.each([
  '4111\n1111\n1111\n1111',
  '4111 1111-1111 1111',
  '1.5e+15 and 2.25e-12',
  'see &lt;a&gt; &copy; 2024 &amp;c',
  String.raw`C:\users\u004\x`,
])('nothing is found in %j', (text) => {
  expect(found(text)).toEqual([]);
});

test('nothing of a value is left in any spelling, digit by digit', () => {
  const digit = (character: string) =>
    fc.constantFrom(
      character,
      `&#${character.charCodeAt(0)};`,
      `\\u00${character.charCodeAt(0).toString(16)}`,
      `${character}\0`,
      `${character}\u200b`,
    );
  fc.assert(
    fc.property(fc.tuple(...Array.from('5500005555555559', digit)), (digits) => {
      const reply = JSON.stringify(filter().answer(asking([user(`pay ${digits.join('')}!`)]), 0));
      expect(reply).toContain('pay [CREDIT_CARD]!');
    }),
  );
});
