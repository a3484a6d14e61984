import { describe, expect, test } from 'vitest';
import { compareRuns } from '../../../src/suites/compare/compare.ts';
import { findRegressions } from '../../../src/suites/compare/regressions.ts';
import type { CaseRecord, EvalHeader } from '../../../src/suites/record.ts';
import { decided, header, record, said, source } from '../stats/records.ts';

function runOf(scores: readonly (readonly [id: string, score: number | null])[]) {
  return source(scores.map(([id, score], index) => record(id, [[said('a', score)]], { number: index + 1 })));
}

async function compareFirst(a: readonly CaseRecord[], b: readonly CaseRecord[], epochs = 1) {
  const { evals } = await compareRuns(source(a, { epochs }), source(b, { epochs }));
  const [first] = evals;
  if (first === undefined) throw new Error('no eval was compared');
  return first;
}

test('a comparison has all changes with both sides', async () => {
  const a = runOf([
    ['1', 1],
    ['2', 1],
    ['3', 0],
    ['4', 0],
    ['gone', 1],
  ]);
  const b = runOf([
    ['4', 0.25],
    ['3', 0.75],
    ['2', 0.25],
    ['1', 1],
    ['new', 0],
  ]);
  const at = (line: number, score: number) => ({
    number: line,
    file: 'rows.jsonl',
    line,
    score,
    detail: `said ${score}`,
  });
  const expected = {
    ...{ pairs: 4, only_in_a: 1, only_in_b: 1 },
    table: { both_passed: 1, only_a_passed: 1, only_b_passed: 1, neither_passed: 1 },
    ...{ regressions: 1, improvements: 1, flaky: 0, pass_rate: { a: 0.5, b: 0.5 }, p_value: 1 },
    unscored: { only_in_a: 0, only_in_b: 0, both: 0 },
    score: {
      ...{
        pairs: 4,
        ties: 1,
        mean_a: 0.5,
        mean_b: 0.5625,
        difference: 0.0625,
        stderr: expect.closeTo(0.3125, 12),
      },
      ...{ ci95: [expect.closeTo(-0.932014, 6), 1], p_value: 1, test: 'sign_flip' },
    },
  };
  const side = {
    run_id: 'run-1',
    suite: 'demo',
    started_at: '2026-01-02T03:04:05.000Z',
    cases: 5,
    is_complete: true,
  };
  expect(await compareRuns(a, b)).toEqual({
    ...{ a: side, b: side },
    cases: {
      ...expected,
      first_regressions: [
        { case: '2', a: { ...at(2, 1), detail: '' }, b: { ...at(3, 0.25), detail: 'a: said 0.25' } },
      ],
      first_improvements: [
        { case: '3', a: { ...at(3, 0), detail: 'a: said 0' }, b: { ...at(2, 0.75), detail: '' } },
      ],
    },
    evals: [
      {
        ...{ eval_a: 'a', eval_b: 'a', role: 'assertion' },
        ...expected,
        first_regressions: [{ case: '2', a: at(2, 1), b: at(3, 0.25) }],
        first_improvements: [{ case: '3', a: at(3, 0), b: at(2, 0.75) }],
      },
    ],
    ...{ evals_only_in_a: [], evals_only_in_b: [] },
  });
});

describe('pairs', () => {
  test('of a repeated id are made in order of occurrence', async () => {
    const { evals } = await compareRuns(
      runOf([
        ['x', 1],
        ['x', 0],
        ['x', 1],
      ]),
      runOf([
        ['x', 1],
        ['y', 1],
        ['x', 0],
        ['x', 0],
        ['x', 0],
      ]),
    );
    expect(evals[0]).toMatchObject({
      ...{ pairs: 3, only_in_a: 0, only_in_b: 2, regressions: 1, improvements: 0 },
      table: { both_passed: 1, only_a_passed: 1, only_b_passed: 0, neither_passed: 1 },
    });
  });

  test('of an eval that did not judge a case on one side do not exist', async () => {
    const evals = [header('a'), header('b')];
    const both = record('1', [[said('a', 1), said('b', 1)]], { evals });
    const one = record('1', [[said('a', 1)]], { evals });
    const { evals: compared } = await compareRuns(source([both], { evals }), source([one], { evals }));
    expect(compared.map(({ eval_a, pairs, only_in_a }) => ({ eval_a, pairs, only_in_a }))).toEqual([
      { eval_a: 'a', pairs: 1, only_in_a: 0 },
      { eval_a: 'b', pairs: 0, only_in_a: 1 },
    ]);
  });

  test('of two tags are found within one run', async () => {
    const tagged = (id: string, tag: string, score: number) =>
      record(id, [[said('a', score)]], { tags: [tag, 'all'] });
    const run = source([
      tagged('1', 'old', 1),
      tagged('1', 'new', 0),
      tagged('2', 'new', 1),
      tagged('2', 'old', 1),
    ]);
    const { a, b, evals } = await compareRuns(run, run, { tagA: 'old', tagB: 'new' });
    expect([a, b, evals[0]]).toMatchObject([
      { tag: 'old', cases: 2 },
      { tag: 'new', cases: 2 },
      { pairs: 2, regressions: 1, improvements: 0 },
    ]);
  });

  test('name the evals that one run does not have', async () => {
    const cases = [record('1', [[said('a', 1)]])];
    const a = source(cases, { evals: [header('a'), header('old')] });
    const b = source(cases, { evals: [header('new'), header('a')] });
    expect(await compareRuns(a, b)).toMatchObject({ evals_only_in_a: ['old'], evals_only_in_b: ['new'] });
  });
});

test.each([
  { options: { tagA: 'smal' }, tag: 'smal', hint: 'did you mean `small`?' },
  { options: { tagA: 'small', tagB: 'zz' }, tag: 'zz', hint: 'known tags: small, large' },
])(
  'refuses a tag that no case has, instead of comparing with nothing: $tag',
  async ({ options, tag, hint }) => {
    const tagged = (id: string, tags: string[]) => record(id, [[said('a', 1)]], { tags });
    const both = source([tagged('1', ['small']), tagged('2', ['large']), tagged('3', ['small'])]);
    await expect(compareRuns(both, both, options)).rejects.toMatchObject({
      code: 'USAGE',
      message: `no case of run run-1 has the tag "${tag}"`,
      hint,
    });
  },
);

test('says if no case has any tag', async () => {
  const bare = runOf([['1', 1]]);
  await expect(compareRuns(bare, bare, { tagB: 'zz' })).rejects.toMatchObject({ hint: 'No case has a tag.' });
});

describe('one eval against another', () => {
  const evals = [header('a'), header('b')];
  const run = source([record('1', [[said('a', 1), said('b', 0)]], { evals })], { evals });

  test('is one row, without the cases as wholes', async () => {
    const comparison = await compareRuns(run, run, { evalA: 'a', evalB: 'b' });
    expect(comparison).toMatchObject({
      ...{ a: { eval: 'a' }, b: { eval: 'b' }, cases: null },
      evals: [{ eval_a: 'a', eval_b: 'b', pairs: 1, regressions: 1 }],
    });
    expect(comparison.evals).toHaveLength(1);
  });

  test.each([
    {
      title: 'an eval that is not there',
      options: { evalA: 'a', evalB: 'bb' },
      code: 'NAME_UNKNOWN',
      hint: 'did you mean `b`?',
    },
    { title: 'half of the two', options: { evalA: 'a' }, code: 'USAGE', hint: expect.any(String) },
  ])('refuses $title', async ({ options, code, hint }) => {
    await expect(compareRuns(run, run, options)).rejects.toMatchObject({ code, hint });
  });
});

describe('what counts as a regression', () => {
  const twice = (...scores: number[]) => [
    record(
      '1',
      scores.map((score) => [said('a', score)]),
    ),
  ];

  test.each([
    { title: 'a case that wavers in A', a: twice(1, 0.4), b: twice(0, 0) },
    { title: 'a case that wavers in B', a: twice(1, 1), b: twice(0.6, 0) },
  ])('$title is flaky, not a regression, but counts for the verdicts', async ({ a, b }) => {
    expect(await compareFirst(a, b, 2)).toMatchObject({
      ...{ regressions: 0, flaky: 1, first_regressions: [] },
      table: { only_a_passed: 1 },
    });
  });

  test('a case that is no longer scored no longer passes', async () => {
    const [a, b] = [record('1', [[said('a', 1)]]), record('1', [[said('a', null)]])];
    expect(await compareFirst([a], [b])).toMatchObject({
      ...{ regressions: 1, unscored: { only_in_a: 0, only_in_b: 1, both: 0 }, score: null },
      first_regressions: [{ case: '1', a: { score: 1 }, b: { score: null, detail: 'no score' } }],
    });
  });

  test('fifty are listed, in the order of B, and all are counted', async () => {
    const ids = Array.from({ length: 70 }, (_none, index) => String(index));
    const a = ids.map((id, index) => record(id, [[said('a', 1)]], { number: index + 1 }));
    const b = ids.toReversed().map((id, index) => record(id, [[said('a', 0)]], { number: index + 1 }));
    const { regressions, first_regressions } = await compareFirst(a, b);
    expect([regressions, first_regressions.length, first_regressions[0]]).toMatchObject([
      70,
      50,
      { case: '69', a: { line: 70, score: 1 }, b: { line: 1, score: 0 } },
    ]);
  });
});

test('guards are classified over the decisions of the pairs', async () => {
  const guarded = (id: string, flagged: boolean) =>
    record(id, [
      [
        said('a', flagged ? 1 : 0, {
          guard: decided({ expected: true, flagged, confidence: flagged ? 0.9 : 0.1 }),
        }),
      ],
    ]);
  const { classification } = await compareFirst(
    [guarded('1', true), guarded('2', true), guarded('only here', false)],
    [guarded('1', true), guarded('2', false)],
  );
  const one = { false_positives: 0, true_negatives: 0, precision: 1, auc: null };
  expect(classification).toEqual({
    a: { ...one, ...{ true_positives: 2, false_negatives: 0, recall: 1, f1: 1, f2: 1, accuracy: 1 } },
    b: {
      ...one,
      ...{ true_positives: 1, false_negatives: 1, recall: 0.5, f1: 2 / 3, f2: 5 / 9, accuracy: 0.5 },
    },
  });
});

describe('whether B is worse', () => {
  /** Two runs of one eval in which so many cases got worse and better. */
  async function changed(
    counts: { worse: number; better: number },
    evals: readonly EvalHeader[] = [header('a')],
  ) {
    const { worse, better } = counts;
    const all = Array.from({ length: worse + better + 5 }, (_none, index) => index);
    const [first] = evals;
    const run = (scoreOf: (index: number) => number) =>
      source(
        all.map((index) => record(String(index), [[said(first?.id ?? 'a', scoreOf(index))]], { evals })),
        { evals },
      );
    return await compareRuns(
      run((index) => (index >= worse && index < worse + better ? 0 : 1)),
      run((index) => (index < worse ? 0 : 1)),
    );
  }

  test.each([
    { title: 'nothing', counts: { worse: 0, better: 3 }, any: [], significant: [] },
    {
      title: 'one of many',
      counts: { worse: 1, better: 3 },
      any: ['cases: 1 regression', 'a: 1 regression'],
      significant: [],
    },
    {
      title: 'five against none, which may be chance',
      counts: { worse: 5, better: 0 },
      any: ['cases: 5 regressions', 'a: 5 regressions'],
      significant: [],
    },
    {
      title: 'six against none',
      counts: { worse: 6, better: 0 },
      any: ['cases: 6 regressions', 'a: 6 regressions'],
      significant: ['a: significantly fewer pass (p = 0.0313)'],
    },
    { title: 'none against six', counts: { worse: 0, better: 6 }, any: [], significant: [] },
  ])('$title', async ({ counts, any, significant }) => {
    const comparison = await changed(counts);
    expect(findRegressions(comparison, 'any')).toEqual(any);
    expect(findRegressions(comparison, 'significant')).toEqual(significant);
  });

  test('one of many evals may look worse by chance, and the test corrects for that', async () => {
    const evals = [header('a'), header('b')];
    expect(findRegressions(await changed({ worse: 6, better: 0 }, evals), 'significant')).toEqual([]);
    expect(findRegressions(await changed({ worse: 7, better: 0 }, evals), 'significant')).toEqual([
      'a: significantly fewer pass (p = 0.0156)',
    ]);
  });

  test('a metric only counts as recorded, unless it was named', async () => {
    const evals = [header('a', { role: 'metric' })];
    const a = source([record('1', [[said('a', 1)]], { evals, passed: true })], { evals });
    const b = source([record('1', [[said('a', 0)]], { evals, passed: true })], { evals });
    expect(findRegressions(await compareRuns(a, b), 'any')).toEqual([]);
    expect(findRegressions(await compareRuns(a, b, { evalA: 'a', evalB: 'a' }), 'any')).toEqual([
      'a: 1 regression',
    ]);
  });

  test.each(['any', 'significant'] as const)(
    'by the rule %s an eval without pairs gives no verdict',
    async (rule) => {
      const [one, other] = [runOf([['1', 1]]), runOf([['2', 1]])];
      expect(findRegressions(await compareRuns(one, other), rule)).toEqual([
        'the two sides have no cases in common',
      ]);
      const cutOff = source([record('1', [[said('a', 1)]])], { isComplete: false });
      expect(findRegressions(await compareRuns(one, cutOff), rule)).toEqual(['run B did not finish']);
      expect(findRegressions(await compareRuns(cutOff, one), rule)).toEqual(['run A did not finish']);
    },
  );
});
