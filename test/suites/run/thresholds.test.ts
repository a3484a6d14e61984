import { expect, test } from 'vitest';
import { scored, unscored } from '../../../src/contract/eval.ts';
import type { CaseRecord } from '../../../src/suites/record.ts';
import { judge, loadSpec, run, toLines } from '../support.ts';

/** Runs the suite over these rows. A `score` of null among the params is unscored. */
async function judgeRows(spec: string, rows: readonly unknown[]) {
  const records: CaseRecord[] = [];
  const report = await run(loadSpec(`dataset: {path: rows.jsonl}\n${spec}`, toLines(rows)), {
    score: async (evaluation) => {
      const { score } = Object(evaluation.request.params);
      return judge(evaluation, typeof score === 'number' ? scored(score, '') : unscored('none'));
    },
    onProgress: (_, record) => {
      if (record !== undefined) records.push(record);
    },
  });
  const verdicts = records.map(({ score, passed, results }) => ({
    score,
    passed,
    evals: Object.fromEntries(results.map((result) => [result.eval, result.passed])),
  }));
  return { report, verdicts };
}

test('an eval’s bounds may come from the row, and one without bounds needs a 1', async () => {
  const { verdicts } = await judgeRows(
    `case: {content: x}
evals:
  - {id: e, type: t, params: {score: "\${case.score}"}, threshold: {min_score: "\${case.min}", max_score: "\${case.max}"}}
`,
    [
      { score: 0.5, min: 0.5, max: null },
      { score: 0.5, min: 0.51, max: null },
      { score: 0.5, min: null, max: 0.5 },
      { score: 0.5, min: null, max: 0.49 },
      { score: 0.5, min: 0.4, max: 0.6 },
      { score: 0.5, min: null, max: null },
      { score: null, min: 0, max: null },
    ],
  );
  expect(verdicts.map(({ passed }) => passed)).toEqual([true, false, true, false, true, false, false]);
});

test('a row with invalid bounds cannot be used, and the others are judged', async () => {
  const { report, verdicts } = await judgeRows(
    `case: {content: x}
evals: [{id: e, type: t, params: {score: 1}, threshold: {min_score: "\${case.min}"}}]
`,
    [{ min: 0.5 }, { min: 2 }, { min: 'much' }],
  );
  expect(verdicts).toHaveLength(1);
  expect(report).toMatchObject({
    status: 'error',
    problems: [
      { line: 2, message: 'evals[e].threshold: min_score must be a number from 0 to 1, not 2' },
      { line: 3, message: expect.stringContaining('evals[e].threshold.min_score') },
    ],
  });
});

const weighed = `case: {content: x, threshold: {min_score: "\${case.wants}"}}
evals:
  - {id: heavy, type: t, params: {score: "\${case.heavy}"}, weight: 3}
  - {id: light, type: t, params: {score: "\${case.light}"}, if: "\${case.light != -1}"}
  - {id: beside, type: t, params: {score: 0}, role: metric, weight: 100}
`;

test('a case with a threshold passes by the weighted mean of its assertions, without metrics', async () => {
  const { verdicts } = await judgeRows(weighed, [
    { heavy: 1, light: 0, wants: 0.75 },
    { heavy: 1, light: 0, wants: 0.76 },
    { heavy: 0.5, light: -1, wants: 0.5 },
    { heavy: 1, light: null, wants: 0 },
  ]);
  expect(verdicts).toEqual([
    { score: 0.75, passed: true, evals: { heavy: true, light: false, beside: false } },
    { score: 0.75, passed: false, evals: { heavy: true, light: false, beside: false } },
    { score: 0.5, passed: true, evals: { heavy: false, beside: false } },
    { score: null, passed: false, evals: { heavy: true, light: false, beside: false } },
  ]);
});

test('weights that no double represents exactly do not change a mean of equal scores', async () => {
  const parts = Array.from(
    { length: 10 },
    (_, index) => `  - {id: e${index}, type: t, params: {score: 1}, weight: 0.1}\n`,
  );
  const { verdicts } = await judgeRows(
    `case: {content: x, threshold: {min_score: 1}}\nevals:\n${parts.join('')}`,
    [{}],
  );
  expect(verdicts).toMatchObject([{ score: 1, passed: true }]);
});

test('gates apply to an eval, to whole cases, and to those of a tag', async () => {
  const gate = (more: string) => `  - {${more}}\n`;
  const { report } = await judgeRows(
    `case: {content: x, tags: ["\${case.tag}"]}
evals: [{id: e, type: t, params: {score: "\${case.score}"}, threshold: {min_score: 0.5}}]
gates:
${gate('eval: e, metric: pass_rate, min: 0.5')}${gate('eval: e, metric: pass_rate, tag: hard, min: 0.5')}${gate('metric: pass_rate, tag: easy, min: 1')}${gate('metric: mean, max: 0.6')}${gate('eval: e, metric: mean, tag: nobody, min: 0')}`,
    [
      { tag: 'easy', score: 1 },
      { tag: 'easy', score: 0.5 },
      { tag: 'hard', score: 0.3 },
      { tag: 'hard', score: 0 },
    ],
  );
  expect(report.gates.map(({ value, passed }) => [value, passed])).toEqual([
    [0.5, true],
    [0, false],
    [1, true],
    [0.45, true],
    [null, false],
  ]);
  expect(report.status).toBe('failed');
});

const a = '{type: t, params: {score: "${case.a}"}}';
const bounded = '{type: t, params: {score: "${case.b}"}, threshold: {min_score: "${case.min}"}}';

test.each<{ tree: string; row: { a: number | null; b: number | null; min: number }; score: number | null }>([
  { tree: `not: ${a}`, row: { a: 0.25, b: 0, min: 0 }, score: 0.75 },
  { tree: `not: {any_of: [${a}, ${bounded}]}`, row: { a: 0.25, b: 0.5, min: 0.6 }, score: 0.75 },
  { tree: `any_of: [${a}, ${bounded}]`, row: { a: 0.25, b: 0.5, min: 0.5 }, score: 1 },
  { tree: `any_of: [${a}, ${bounded}]`, row: { a: null, b: 0.5, min: 0.5 }, score: 1 },
  { tree: `any_of: [${a}, ${bounded}]`, row: { a: null, b: 0.5, min: 0.6 }, score: null },
  { tree: `all_of: [${a}, {not: ${bounded}}]`, row: { a: null, b: 0.5, min: 0.5 }, score: 0 },
  { tree: `all_of: [${a}, {not: ${bounded}}]`, row: { a: 0.4, b: null, min: 0.5 }, score: null },
  { tree: `all_of: [{any_of: [${a}, {not: ${a}}]}, ${bounded}]`, row: { a: 0.4, b: 1, min: 1 }, score: 0.6 },
])('$tree of $row is $score', async ({ tree, row, score }) => {
  const { verdicts } = await judgeRows(`case: {content: x}\nevals: [{id: e, ${tree}}]\n`, [row]);
  expect(verdicts.map((verdict) => verdict.score)).toEqual([score]);
});

test('the threshold of a case applies even if its first epoch has no answer', async () => {
  const suite = loadSpec(
    `cases: [{id: c}]
subject: {tool: answer, args: {}}
repeat: {epochs: 2, reducer: max}
case: {id: c, threshold: {min_score: 0.5}}
evals: [{id: e, type: t}]
`,
  );
  const records: CaseRecord[] = [];
  await run(suite, {
    subject: {
      answer: async ({ epoch }) => ({
        ...{ text: 'x', result: null, messages: [], tool_calls: [], metadata: {} },
        ...{ duration_ms: 0, queue_ms: 0, cached: false, attempts: 1 },
        ...(epoch === 1 && { error: { code: 'PROCESS_EXIT', message: 'exit 3', hint: '' } }),
      }),
    },
    score: async (evaluation) => judge(evaluation, scored(0.6, '')),
    onProgress: (_, record) => {
      if (record !== undefined) records.push(record);
    },
  });
  expect(records).toMatchObject([{ score: 0.6, passed: true, results: [{ score: 0.6, passed: false }] }]);
});
