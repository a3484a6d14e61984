import { expect, test } from 'vitest';
import { compileSelection, type Selection } from '../../../src/suites/select/select.ts';
import { makeCase, makeCases, makeProblem, namesOf, select, sourceOf } from './support.ts';

const cases = [
  makeCase(1, { lang: 'de', turns: 3, tags: ['a'] }),
  makeProblem(2),
  makeCase(3, { lang: 'en', turns: 1, tags: ['a', 'b'] }),
  makeCase(4, { turns: 5, tags: ['b'] }),
  makeCase(5, { lang: 'de', turns: 12345678901, tags: [] }),
];

const noLang = 'the filter fails: `${case.lang == "de"}` failed: No such key: lang';

const selections: { title: string; selection: Selection; expected: (number | string)[] }[] = [
  { title: 'nothing selects all', selection: {}, expected: [1, 'problem 2', 3, 4, 5] },
  {
    title: 'numbers of rows pick cases and problems alike, of what the other parts leave',
    selection: { rows: [4, 2, 1], tags: ['b'] },
    expected: ['problem 2', 4],
  },
  {
    title: 'a filter drops what it is false for, and what it fails on is a problem',
    selection: { filter: 'case.lang == "de"' },
    expected: [1, 'problem 2', noLang, 5],
  },
  {
    title: 'a filter may ask for what may be absent',
    selection: { filter: 'case.?lang.orValue("") == "de" || case.turns > 4' },
    expected: [1, 'problem 2', 4, 5],
  },
  {
    title: 'a filter that gives a number is a problem of the row',
    selection: { filter: 'case.turns' },
    expected: [
      'the filter `case.turns` gives the number 3, not true or false',
      'problem 2',
      'the filter `case.turns` gives the number 1, not true or false',
      'the filter `case.turns` gives the number 5, not true or false',
      'the filter `case.turns` gives the number 12345678901, not true or false',
    ],
  },
  { title: 'any of the tags will do', selection: { tags: ['b', 'c'] }, expected: ['problem 2', 3, 4] },
  { title: 'no tags select all', selection: { tags: [] }, expected: [1, 'problem 2', 3, 4, 5] },
  { title: 'problems are not counted', selection: { maxCases: 2 }, expected: [1, 'problem 2', 3] },
  {
    title: 'the filter comes before the count',
    selection: { filter: 'case.turns > 2', maxCases: 2 },
    expected: [1, 'problem 2', 4],
  },
  {
    title: 'the sample comes before the count, and after the tags',
    selection: { tags: ['a', 'b'], sample: { size: 3, seed: 1 }, maxCases: 2 },
    expected: ['problem 2', 1, 3],
  },
];

test.each(selections)('$title', async ({ selection, expected }) => {
  expect(namesOf(await select(selection, cases))).toEqual(expected);
});

test('a problem of the filter says how to handle absent members', async () => {
  const [problem] = await select({ filter: 'case.lang == "de"' }, [makeCase(1)]);
  expect(problem).toMatchObject({ problem: { hint: 'If a key may be missing, write `.?key`.' } });
});

test('the case limit closes the source, and nothing behind the last case is read', async () => {
  const source = sourceOf(makeCases(100));
  const taken = await Array.fromAsync(compileSelection({ maxCases: 3 })(source.candidates));
  expect([namesOf(taken), source.pulled(), source.isClosed()]).toEqual([[1, 2, 3], 3, true]);
});

test('a consumer that stops closes the source through every stage', async () => {
  const source = sourceOf(makeCases(100));
  const chosen = compileSelection({ filter: 'true', tags: [], shard: { index: 1, count: 1 }, maxCases: 50 });
  for await (const _candidate of chosen(source.candidates)) break;
  expect([source.pulled(), source.isClosed()]).toEqual([1, true]);
});

const meaningless: { title: string; selection: Selection; message: string | RegExp }[] = [
  {
    title: 'a filter that is no CEL',
    selection: { filter: 'case.a ===' },
    message: /^the filter `case\.a ===` is not valid/,
  },
  { title: 'an empty filter', selection: { filter: '' }, message: /^the filter `` is not valid/ },
  {
    title: 'a filter of other names',
    selection: { filter: 'row.a' },
    message: /^the filter `row\.a` is not valid/,
  },
  {
    title: 'a filter that gives text',
    selection: { filter: '"a" + "b"' },
    message: /has type string, but must be true or false$/,
  },
  {
    title: 'shard 3 of 2',
    selection: { shard: { index: 3, count: 2 } },
    message: 'there is no shard 3 of 2',
  },
  {
    title: 'shard 0',
    selection: { shard: { index: 0, count: 2 } },
    message: 'the shard must be a whole number from 1, not 0',
  },
  {
    title: 'half a shard',
    selection: { shard: { index: 1, count: 1.5 } },
    message: 'the number of shards must be a whole number from 1, not 1.5',
  },
  {
    title: 'a sample of none',
    selection: { sample: { size: 0, seed: 0 } },
    message: 'the size of a sample must be a whole number from 1, not 0',
  },
  {
    title: 'a seed that is no number',
    selection: { sample: { size: 1, seed: Number.NaN } },
    message: 'the seed of a sample must be a whole number, not NaN',
  },
  {
    title: 'no cases at all',
    selection: { maxCases: 0 },
    message: 'the maximum number of cases must be a whole number from 1, not 0',
  },
];

test.each(meaningless)('$title is USAGE', ({ selection, message }) => {
  expect(() => compileSelection(selection)).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringMatching(message) }),
  );
});
