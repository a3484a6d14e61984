import { expect, test } from 'vitest';
import { openBench } from '../runtime/suite-bench.ts';

/** Scores the n-th request about a case by the n-th word of its line in `plan`. */
const flaky = `case=$(sed 's/.*"case":"\\([^"]*\\)".*/\\1/')
echo asked >> "count-$case"
times=$(wc -l < "count-$case" | tr -d ' ')
score=$(grep "^$case " plan | cut -d ' ' -f $((times + 1)))
[ "$score" = crash ] && exit 3
printf '{"score": %s}' "$score"
`;

/** One process at a time, so that the n-th request is the n-th epoch. */
const runtime = 'concurrency: 1\nevals:\n  flaky: {command: sh, args: [grade.sh]}\n';

const spec = (reducer: string) => `dataset: {path: rows.jsonl}
repeat: {epochs: 4, reducer: ${reducer}}
case: {id: "\${case.id}", content: x}
evals: [{id: flaky, type: flaky, params: {case: "\${case.id}"}, threshold: {min_score: 0.5}}]
`;

const plan = `c1 1 1 1 1
c2 0 0.5 0 1
c3 0.4 0.4 0.5 0.9
c4 1 crash 1 0
c5 crash crash crash crash
`;

/** Of c1 to c5: the score, and whether the case passed. */
const expected: readonly {
  readonly reducer: string;
  readonly cases: readonly (readonly [score: number | null, passed: boolean])[];
}[] = [
  {
    reducer: 'mean',
    cases: [
      [1, true],
      [0.375, false],
      [0.55, true],
      [null, false],
      [null, false],
    ],
  },
  {
    reducer: 'median',
    cases: [
      [1, true],
      [0.25, false],
      [0.45, false],
      [null, false],
      [null, false],
    ],
  },
  {
    reducer: 'mode',
    cases: [
      [1, true],
      [0, false],
      [0.4, false],
      [null, false],
      [null, false],
    ],
  },
  {
    reducer: 'max',
    cases: [
      [1, true],
      [1, true],
      [0.9, true],
      [1, true],
      [null, false],
    ],
  },
  // Two of four epochs of c2 pass: 1 - C(2,2)/C(4,2).
  {
    reducer: 'pass@2',
    cases: [
      [1, true],
      [5 / 6, true],
      [5 / 6, true],
      [5 / 6, true],
      [0, false],
    ],
  },
  {
    reducer: 'at_least_3',
    cases: [
      [1, true],
      [0, false],
      [0, false],
      [0, false],
      [0, false],
    ],
  },
];

test.each(expected)('$reducer of the epochs of a flaky grader', async ({ reducer, cases }) => {
  const bench = await openBench([1, 1, 1, 1, 1], {
    spec: spec(reducer),
    runtime,
    grade: flaky,
    files: { plan },
  });
  const report = await bench.runtime.evals.run(bench.suite);
  const source = await bench.runtime.evals.runs.open(report.run_id);
  const records = await Array.fromAsync(source.cases());
  expect(records.map(({ results: [result] }) => [round(result?.score), result?.passed])).toEqual(
    cases.map(([score, passed]) => [round(score), passed]),
  );
  expect(records.map(({ results: [result] }) => result?.passed_epochs)).toEqual([4, 2, 2, 2, 0]);
  expect(report.evals['flaky']).toMatchObject({
    count: 5,
    flaky: 3,
    passed: cases.filter(([, passed]) => passed).length,
  });
});

function round(score: number | null | undefined): number | null | undefined {
  return typeof score === 'number' ? Number(score.toFixed(9)) : score;
}

test('a constant grader gives the same rates for any number of epochs', async () => {
  const bench = await openBench([1, 0, 0.5, 1]);
  const once = await bench.runtime.evals.run(bench.suite);
  const thrice = await bench.runtime.evals.run(bench.suite, { epochs: 3 });
  const rates = ({ cases, overall, evals }: typeof once) => {
    const { count, scored, passed, pass_rate, mean, median, flaky } = evals['grade'] ?? overall;
    return { cases, count, scored, passed, pass_rate, mean, median, flaky, whole: overall.pass_rate };
  };
  expect(rates(thrice)).toEqual(rates(once));
  expect(thrice.epochs).toBe(3);
  expect(bench.graded()).toHaveLength(4 + 12);
});
