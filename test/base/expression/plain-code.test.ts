import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileCode, withVariables } from '../../../src/base/expression/cel.ts';
import { findExpressionErrors } from '../../../src/base/expression/expression.ts';
import { isPlainCode } from '../../../src/base/expression/plain-code.ts';

const variables = ['messages', 'case', 'package', 'size', 'round'];
const known = ['messages', 'case', 'round'];

test.each([
  'case.id',
  'case',
  'messages[0].content',
  'messages[messages.size() - 1].content',
  'case["a key"].size() + 1',
  "case['b'][case.n + 0]",
  'size.size',
])('%s is plain', (code) => {
  expect(isPlainCode(code, variables)).toBe(true);
});

test.each([
  '',
  'cases',
  'case.',
  'case id',
  '.case',
  'case.in',
  'case.null',
  'true',
  'package',
  'case[',
  'case]',
  'case[]',
  'case.size(',
  'case.size(1)',
  'case.size().a',
  'case.size()[0]',
  'case.other()',
  'size()',
  'case.__proto__',
  '1.5',
  '01',
  '1u',
  '99999999999999999999',
  '-1',
  '- case.n',
  'case +',
  'case.a == 1',
  'case["a" + 1]',
  '"a"',
  'case["""]',
  'case["a\\"]',
  'case["a\n"]',
  'case // a',
  'case.ä',
  `case${'.a'.repeat(100)}`,
])('%j is left to CEL', (code) => {
  expect(isPlainCode(code, variables)).toBe(false);
});

const token = fc.constantFrom(
  ...known,
  ...[
    '.',
    '.',
    '[',
    ']',
    '(',
    ')',
    '+',
    '-',
    ' ',
    'size',
    '()',
    '.size()',
    'content',
    'in',
    'as',
    'null',
    'a1',
  ],
  ...['0', '1', '07', '12', '"a b"', "'c'", '"', '\\', '*', '?', 'u', '[0]', '[1 + ', '.a', '_'],
);

test('every plain code is valid CEL', () => {
  const environment = withVariables(known);
  let plain = 0;
  fc.assert(
    fc.property(fc.array(token, { minLength: 1, maxLength: 9 }), (tokens) => {
      const code = tokens.join('');
      if (!isPlainCode(code, known)) return;
      plain += 1;
      compileCode(code, environment, []);
    }),
    { numRuns: 20_000 },
  );
  expect(plain).toBeGreaterThan(100);
});

test('a mistake beside a plain expression is still found', () => {
  const found = findExpressionErrors({ a: '${case.id}', b: '${cas.id}', c: '${case.id +}' }, known);
  expect(found.map(({ path }) => path)).toEqual([['b'], ['c']]);
});
