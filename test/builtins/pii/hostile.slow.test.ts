import { expect, test } from 'vitest';
import { entityNames } from '../../../src/builtins/pii/entity.ts';
import { asking, detector, filter, user } from './support.ts';

// A linear pattern takes about a second for such a text; a quadratic one would take hours.
const timeout = 120_000;
const size = 512 * 1024;

const pieces = [
  '7',
  '1 ',
  '1-',
  '1.',
  'a',
  'a@',
  'a%40',
  '@',
  'a.',
  'a:',
  ':',
  '://',
  'a://a:',
  '(',
  '+1(',
  '"',
  ' ',
  '\n',
  'af:',
  'eyJ',
  'eyJa.',
  '-eyJa',
  'sk-',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY-----',
  'password',
  'password=',
  'a_',
  'born ',
  'GB82 ',
  'GB82WEST',
  '4111 ',
  '4111 1111 1111 1111 ',
  '<EMAIL_ADDRESS_1>',
  '<EMAIL_ADDRESS_',
  'bearer ',
  '{"a":',
  '\\',
  '4\u200b1',
  '４',
  'Aa ',
  'A. ',
  'Mr. ',
  '1 Main ',
  'call ',
  '+1 415 555 0132 ',
  `${'a'.repeat(70)}@x.y.z.com `,
];

test.each(pieces)('a megabyte of %j is read', { timeout }, (piece) => {
  const text = piece.repeat(Math.ceil(size / piece.length));
  const findings = detector(entityNames)(text);
  expect(findings.every(({ start, end }) => start < end && end <= text.length)).toBe(true);
});

test('a megabyte of different phone numbers is redacted', { timeout }, () => {
  const numbers = Array.from(
    { length: 60_000 },
    (_, index) =>
      `415-5${String(index)
        .padStart(6, '0')
        .replace(/(\d\d)/, '$1-')}`,
  );
  const reply = filter().answer(asking([user(`call ${numbers.join(' or ')}`)]), 0);
  expect(JSON.stringify(reply)).not.toMatch(/\d-\d{4}/);
});

test('a megabyte of pseudonyms and addresses comes back', { timeout }, () => {
  const content = '<EMAIL_ADDRESS_1> ada@example.org '.repeat(size / 34);
  const reply = filter('pseudonymise').answer(asking([user(content)]), 0);
  expect(JSON.stringify(reply)).not.toContain('ada@');
});
