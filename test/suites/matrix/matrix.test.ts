import { describe, expect, test } from 'vitest';
import { requireFewCases } from '../../../src/suites/matrix/cells.ts';
import { renderTable } from '../../../src/suites/report/terminal/table.ts';
import { replying, runMatrix, variantOf } from './support.ts';

const times = <Row>(count: number, row: Row): Row[] => Array.from({ length: count }, () => row);

test('every row is a case of each variant, in the order of both, whatever the speed [DS-MATRIX-01]', async () => {
  const slow = {
    answer: async (asked: Parameters<ReturnType<typeof replying>['answer']>[0]) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return await replying('a').answer(asked);
    },
  };
  const rows = [
    { a: 1, b: 0 },
    { a: 0, b: 1 },
  ];
  const { records } = await runMatrix(rows, {
    window: 4,
    variants: new Map([
      ['a', slow],
      ['b', replying('b')],
    ]),
  });
  expect(records.map(({ number, id, variant, score }) => [number, id, variant, score])).toEqual([
    [1, 'r1', 'a', 1],
    [1, 'r1', 'b', 0],
    [2, 'r2', 'a', 0],
    [2, 'r2', 'b', 1],
  ]);
});

test('each variant has separate statistics, tokens, cost and time [DS-MATRIX-02]', async () => {
  const { report } = await runMatrix([
    { a: 1, b: 0.25 },
    { a: 0.5, b: 0.75 },
  ]);
  expect(variantOf(report, 'a')).toMatchObject({
    ...{ provider: 'a', status: 'passed', cases: 2, problem_count: 0 },
    evals: { good: { count: 2, passed: 2, mean: 0.75 } },
    totals: { answers: 2, failed: 0, input_tokens: 20, output_tokens: 4, cost_usd: 0.5 },
  });
  expect(variantOf(report, 'b')).toMatchObject({
    ...{ status: 'failed', cases: 2 },
    overall: { count: 2, passed: 1, mean: 0.5 },
    totals: { answer_ms: { p50: expect.closeTo(4, 1) } },
  });
  // No interval over all of them, because the cases of a row are not independent.
  expect(report).toMatchObject({
    status: 'failed',
    cases: 4,
    overall: { count: 4, passed: 3, mean: 0.625, stderr: null, ci95: null, pass_rate_ci95: null },
    failures: [{ case: 'r1', variant: 'b', eval: 'good' }],
  });
});

test('a fault of one variant affects no other [DS-MATRIX-03]', async () => {
  const { report } = await runMatrix([{ a: 1, b: 'fault' }, ...times(3, { a: 1, b: 'unscored' as const })]);
  expect(variantOf(report, 'a')).toMatchObject({
    status: 'passed',
    overall: { passed: 4, unscored: 0 },
    totals: { failed: 0 },
  });
  expect(variantOf(report, 'b')).toMatchObject({
    status: 'error',
    overall: { passed: 0, unscored: 4 },
    totals: { answers: 4, failed: 1 },
  });
});

test('a row that one variant cannot use is a problem of that variant only [DS-MATRIX-03]', async () => {
  const rows = [
    { a: 1, b: 0 },
    { a: 1, b: 1 },
  ];
  const content = '${subject.text == "0" ? subject.nothing : subject.text}';
  const { report } = await runMatrix(rows, { content });
  expect(report).toMatchObject({
    ...{ status: 'error', cases: 3, problem_count: 1 },
    problems: [{ variant: 'b', line: 1, message: expect.stringMatching(/^variant b: .*nothing/) }],
    variants: [
      { name: 'a', status: 'passed', cases: 2, problem_count: 0 },
      { name: 'b', status: 'error', cases: 1, problem_count: 1 },
    ],
    comparisons: [{ a: 'a', b: 'b', cases: { pairs: 1, only_in_a: 1, only_in_b: 0 } }],
  });
  const { report: kept } = await runMatrix(rows, { content, keepGoing: true });
  expect(kept).toMatchObject({ status: 'passed', variants: [{ status: 'passed' }, { status: 'passed' }] });
});

test('a variant without usable rows makes the run void [DS-MATRIX-03]', async () => {
  const content = '${subject.text == "0" ? subject.nothing : subject.text}';
  const { report } = await runMatrix([{ a: 1, b: 0 }], { content, keepGoing: true });
  expect(report.status).toBe('error');
});

test('more cases than the limit of a matrix are refused before anything runs', () => {
  expect(() => requireFewCases(1_000_000, 2)).not.toThrow();
  expect(() => requireFewCases(1_000_002, 2)).toThrow(/2 variants may have at most 500000 rows/);
});

test('epochs are counted for each variant', async () => {
  const { records, report } = await runMatrix([{ a: 1, b: 0 }], { spec: 'repeat: {epochs: 3}' });
  expect(records.map(({ variant, epochs }) => [variant, epochs.length])).toEqual([
    ['a', 3],
    ['b', 3],
  ]);
  expect(variantOf(report, 'a')).toMatchObject({ cases: 1, totals: { answers: 3 } });
});

test('a table that is too wide is split into several', async () => {
  const names = Array.from({ length: 16 }, (_, index) => `variant-${index}`);
  const row = Object.fromEntries(names.map((name, index) => [name, index % 2]));
  const { report } = await runMatrix([row, row]);
  for (const columns of [20, 80, 120]) {
    const text = renderTable(report, false, columns);
    expect(text.split('\n').filter((line) => line.length > columns)).toEqual([]);
    for (const name of names) expect(text).toContain(`${name} `);
  }
});

describe('gates', () => {
  test('apply to each variant, or to those that they name [DS-MATRIX-04]', async () => {
    const rows = [
      { a: 1, b: 0 },
      { a: 1, b: 1 },
    ];
    const spec = `
gates:
  - {eval: good, metric: pass_rate, min: 0.5}
  - {metric: mean, min: 0.9, variants: [a]}
`;
    const { report } = await runMatrix(rows, { spec });
    expect(report.status).toBe('passed');
    expect(
      report.gates.map(({ metric, variant, value, passed }) => [metric, variant, value, passed]),
    ).toEqual([
      ['pass_rate', 'a', 1, true],
      ['pass_rate', 'b', 0.5, true],
      ['mean', 'a', 1, true],
    ]);
    const { report: worse } = await runMatrix(rows, { spec: spec.replace('min: 0.5', 'min: 0.6') });
    expect([worse.status, variantOf(worse, 'a')?.status, variantOf(worse, 'b')?.status]).toEqual([
      'failed',
      'passed',
      'failed',
    ]);
  });

  const better = (metric: string) => `gates: [{eval: good, metric: ${metric}, better_than: a}]`;

  test.each(['mean', 'pass_rate'])(
    'a variant that is significantly better passes by %s [DS-MATRIX-05]',
    async (metric) => {
      const rows = [...times(9, { a: 0, b: 1 }), ...times(3, { a: 1, b: 1 })];
      const { report } = await runMatrix(rows, { spec: better(metric) });
      expect(report.gates).toMatchObject([
        {
          ...{ variant: 'b', better_than: 'a', value: 0.75, passed: true },
          test: { pairs: 12, ties: 3, p_value: 2 * 2 ** -9, unscored: 0, unpaired: 0, flaw: null },
        },
      ]);
      expect(report.status).toBe('passed');
    },
  );

  test.each([
    { title: 'worse', rows: times(12, { a: 1, b: 0 }), flaw: null },
    {
      title: 'better by chance',
      rows: [...times(5, { a: 0, b: 1 }), ...times(2, { a: 1, b: 0 }), ...times(9, { a: 1, b: 1 })],
      flaw: null,
    },
    { title: 'the same', rows: times(20, { a: 1, b: 1 }), flaw: null },
    { title: 'better in too few pairs', rows: times(5, { a: 0, b: 1 }), flaw: 'too_few_pairs' },
    { title: 'better in one pair', rows: [{ a: 0, b: 1 }], flaw: 'too_few_pairs' },
  ])('a variant that is $title misses the gate [DS-MATRIX-05]', async ({ rows, flaw }) => {
    for (const metric of ['mean', 'pass_rate']) {
      const { report } = await runMatrix(rows, { spec: better(metric) });
      expect([report.status, report.gates[0]?.passed, report.gates[0]?.test?.flaw]).toEqual([
        'failed',
        false,
        flaw,
      ]);
    }
  });

  test('missing scores cannot make a variant better [DS-MATRIX-06]', async () => {
    const rows = [...times(10, { a: 0, b: 1 }), { a: 1, b: 'fault' as const }];
    const { report } = await runMatrix(rows, { spec: better('mean') });
    expect(report.gates).toMatchObject([
      { passed: false, test: { pairs: 10, unscored: 1, p_value: 2 ** -9, flaw: 'too_many_missing' } },
    ]);
    // In verdicts it counts as failed, so that none is missing.
    const { report: verdicts } = await runMatrix(rows, { spec: better('pass_rate') });
    expect(verdicts.gates).toMatchObject([{ passed: true, test: { pairs: 11, unscored: 1, flaw: null } }]);
  });
});
