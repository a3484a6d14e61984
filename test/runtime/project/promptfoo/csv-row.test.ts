import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitList } from '../../../../src/suites/import/promptfoo/assertion-types.ts';
import { testOfRow } from '../../../../src/suites/import/promptfoo/tests.ts';
import { collectNotes } from '../../../../src/suites/import/suite/source-files.ts';

const at = { file: 'tests.csv', line: 2, column: 1 };

function testOf(row: Readonly<Record<string, unknown>>) {
  const notes = collectNotes();
  const test = testOfRow(notes.openRow(row, () => at));
  return { test, problems: notes.all().map(({ message }) => message) };
}

/** The assertions that promptfoo 0.121.20 makes of these cells. */
test.each([
  ['equals: Bonjour', { type: 'equals', value: 'Bonjour' }],
  ['  Bonjour ', { type: 'equals', value: 'Bonjour' }],
  ['starts-with: Bon', { type: 'starts-with', value: 'Bon', threshold: 0.75 }],
  ['not-regex:  ^Bon ', { type: 'not-regex', value: '^Bon' }],
  ['levenshtein(2): Bonsoir', { type: 'levenshtein', value: 'Bonsoir', threshold: 2 }],
  ['similar(0.9): a', { type: 'similar', value: 'a', threshold: 0.9 }],
  ['similar: a', { type: 'similar', value: 'a', threshold: 0.8 }],
  ['cost(0)', { type: 'cost', value: undefined, threshold: 0 }],
  ['contains-any: "a, b", c', { type: 'contains-any', value: ['a, b', 'c'] }],
  ['icontains-all:,, a ,b,', { type: 'icontains-all', value: ['a', 'b'] }],
  ['is-json', { type: 'is-json', value: undefined }],
  ['is-json: {"type": "object"}', { type: 'is-json', value: '{"type": "object"}' }],
  ['fn: output.length > 2 ', { type: 'javascript', value: 'output.length > 2' }],
  ['python: len(output) > 2', { type: 'python', value: 'len(output) > 2' }],
  ['file://check.py:judge', { type: 'python', value: 'file://check.py:judge' }],
  ['file://check.mjs', { type: 'javascript', value: 'file://check.mjs' }],
  ['grade: is kind', { type: 'llm-rubric', value: ' is kind' }],
  ['trajectory:tool-used: x', { type: 'trajectory:tool-used', value: 'x' }],
  ['note: hello', { type: 'equals', value: 'note: hello' }],
])('the cell %j is an assertion [DS-PROMPTFOO-01]', (cell, assertion) => {
  expect(testOf({ __expected: cell }).test['assert']).toEqual([assertion]);
});

test('columns with two underscores mean what promptfoo reads, and unsupported ones are reported [DS-PROMPTFOO-02]', () => {
  const { test: made, problems } = testOf({
    ' q ': 'hi',
    __expected: 'hi',
    __expected2: 'similar: ho',
    '__config:__expected2:threshold': '0.3',
    '__config:__expected:weight': '2',
    __metric: 'tone',
    __threshold: '0',
    '__metadata:area': 'billing',
    '__metadata:tags[]': 'a\\,b, c',
    __providerOutput: 'made',
    __prefix: '',
  });
  expect(made).toEqual({
    vars: { q: 'hi' },
    assert: [
      { type: 'equals', value: 'hi', metric: 'tone' },
      { type: 'similar', value: 'ho', threshold: 0.3, metric: 'tone' },
    ],
    threshold: 0,
    metadata: { area: 'billing', tags: ['a,b', 'c'] },
  });
  expect(problems).toEqual(['`__config:__expected:weight` is left out', '`__providerOutput` is left out']);
});

test('a quoted list restores its items, whatever they contain [DS-PROMPTFOO-01]', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', ' ', ',', '"', '\\', '\n') }), { minLength: 1 }),
      (values) => {
        const text = values
          .map((each) => `"${each.replaceAll('\\', '\\\\').replaceAll('"', '""')}"`)
          .join(', ');
        expect(splitList(text)).toEqual({ values });
      },
    ),
  );
  expect([splitList('"a'), splitList('"a" b'), splitList('"a\\"')]).toEqual(
    Array(3).fill({ fault: 'a list of texts whose quotes do not match is left out' }),
  );
});
