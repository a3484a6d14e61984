import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadResults, openRuntime, type RatingInput } from '../../../src/index.ts';
import { config, folderOf, suite } from '../../cli/command-line.ts';

type Given = Omit<RatingInput, 'case'> & { readonly case?: string };

/** A run of cases that are `good`, `bad` or empty. The eval passes good ones and cannot score empty ones. */
async function rated(contents: readonly string[], ratings: readonly Given[] = []) {
  // A list is not comparable text, so the eval cannot score the case.
  const rows = contents.map((content, at) => {
    const want = content === '' ? '[]' : 'good';
    return `{id: c${at}, content: "${content}", want: ${want}}`;
  });
  const cwd = folderOf({
    'runtime.yaml': config('evals: {}'),
    's.suite.yaml': suite(
      `cases: [${rows.join(', ')}]\nevals:\n  - {id: exact, type: equals, params: {expected: "\${case.want}"}}\n  - {id: long, type: min_length, params: {min: 1}, role: metric}\n`,
    ),
  });
  const runtime = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
  onTestFinished(async () => await runtime.close());
  await runtime.evals.run(join(cwd, 's.suite.yaml'));
  const [{ id = '' } = {}] = await runtime.evals.runs.list({ limit: 1 });
  for (const [at, rating] of ratings.entries()) {
    await runtime.evals.runs.rate(id, { case: `c${at}`, ...rating });
  }
  const source = await runtime.evals.runs.open(id);
  const { measureRatings } = await loadResults();
  return { measure: (options = {}) => measureRatings(source, options) };
}

const by = (name: string, passed: boolean) => ({ by: name, eval: 'exact', score: passed ? 1 : 0 });
const times = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);

test('computes kappa over people’s ratings as published references do [DS-AGREE-04]', async () => {
  // statpsych, ci.kappa(.05, 31, 12, 4, 58): both passed, only the eval, only the person, both failed.
  const contents = [...times(43, 'good'), ...times(62, 'bad')];
  const ratings = [...[...times(31, true), ...times(12, false), ...times(4, true), ...times(58, false)]].map(
    (passed) => by('mara', passed),
  );
  const { measure } = await rated(contents, ratings);
  const found = await measure();
  const [mara] = found.evals['exact']?.people ?? [];
  expect(mara).toMatchObject({
    ...{ by: 'mara', ratings: 105, without_verdict: 0, unscored: 0 },
    agreement: { n: 105, both_passed: 31, only_eval: 12, only_person: 4, both_failed: 58 },
  });
  expect(mara?.agreement?.kappa).toBeCloseTo(0.6756757, 6);
  expect(mara?.agreement?.stderr).toBeCloseTo(0.07344761, 7);
  expect(mara?.disagreements).toHaveLength(16);
  expect(mara?.disagreements[0]).toEqual({
    ...{ case: 'c31', eval_passed: true, eval_score: 1, person_passed: false, comment: null },
  });
  expect({ evals: Object.keys(found.evals), cases: found.cases }).toEqual({ evals: ['exact'], cases: null });
});

test('no ratings, one rating and a single verdict give no misleading kappa [DS-AGREE-05]', async () => {
  const nothing = await rated(['good']);
  expect(await nothing.measure()).toMatchObject({ evals: {}, cases: null });
  const one = await rated(['good'], [by('mara', false)]);
  const measured = (await one.measure()).evals['exact']?.people[0]?.agreement;
  expect(measured).toMatchObject({ n: 1, only_eval: 1, kappa: 0 });
  const same = await rated(['good', 'good', 'good'], times(3, by('mara', true)));
  expect((await same.measure()).evals['exact']?.people[0]?.agreement).toMatchObject({
    ...{ n: 3, both_passed: 3, observed: 1, kappa: null, stderr: null, ci95: null },
  });
});

test('two people are compared over the cases that both rated, scored or not [DS-AGREE-06]', async () => {
  const { measure } = await rated(
    ['good', 'bad', 'good', ''],
    [by('mara', true), by('mara', true), by('mara', false), by('mara', false)],
  );
  expect((await measure()).evals['exact']?.people).toMatchObject([
    { ratings: 4, unscored: 1, agreement: { n: 3 } },
  ]);
  const both = await rated(
    ['good', 'bad', 'good', ''],
    [
      ...[true, true, false, false].map((each, at) => ({ ...by('mara', each), case: `c${at}` })),
      ...[true, false, true, false].map((each, at) => ({ ...by('ada', each), case: `c${at}` })),
      { ...by('joe', true), case: 'c0' },
    ],
  );
  const { people, between } = (await both.measure()).evals['exact'] ?? {};
  expect(people?.map((each) => each.by)).toEqual(['ada', 'joe', 'mara']);
  expect(between).toMatchObject([
    { by: ['ada', 'joe'], agreement: { n: 1, both_passed: 1, kappa: null }, disagreements: [] },
    {
      by: ['ada', 'mara'],
      agreement: { n: 4, both_passed: 1, only_first: 1, only_second: 1, both_failed: 1, kappa: 0 },
      disagreements: ['c1', 'c2'],
    },
    { by: ['joe', 'mara'], agreement: { n: 1 } },
  ]);
  const chosen = await both.measure({ by: ['mara', 'ada'] });
  expect(chosen.evals['exact']?.between).toHaveLength(1);
});

test('a verdict label takes precedence over a score, and a custom word or a comment is no verdict', async () => {
  const on = (rest: Omit<Given, 'by' | 'eval'>): Given => ({ by: 'mara', eval: 'exact', ...rest });
  const { measure } = await rated(times(6, 'good'), [
    on({ label: 'Bad', score: 1 }),
    on({ label: 'refusal' }),
    on({ comment: 'hm' }),
    on({ label: 'refusal', score: 0.6 }),
    on({ score: 0.5 }),
    on({ score: 0.49 }),
  ]);
  const person = (await measure()).evals['exact']?.people[0];
  expect(person).toMatchObject({
    ratings: 6,
    without_verdict: 2,
    agreement: { n: 4, both_passed: 2, only_eval: 2 },
  });
  const strict = (await measure({ minScore: 0.9 })).evals['exact']?.people[0];
  expect(strict?.agreement).toMatchObject({ n: 4, both_passed: 0, only_eval: 4 });
});

test('ratings of whole cases are compared with whether the case passed', async () => {
  const { measure } = await rated(
    ['good', 'bad'],
    [
      { by: 'mara', label: 'pass' },
      { by: 'mara', label: 'pass', comment: 'fine to me' },
    ],
  );
  const { evals, cases } = await measure();
  expect(evals).toEqual({});
  expect(cases?.people[0]).toMatchObject({
    agreement: { n: 2, both_passed: 1, only_person: 1 },
    disagreements: [{ case: 'c1', eval_passed: false, person_passed: true, comment: 'fine to me' }],
  });
  expect(await measure({ eval: 'exact' })).toMatchObject({ evals: {}, cases: null });
});

test.each([
  [{ eval: 'exakt' }, 'NAME_UNKNOWN', 'exact'],
  [{ by: ['marra'] }, 'NAME_UNKNOWN', 'mara'],
  [{ minScore: 2 }, 'USAGE', ''],
  [{ minScore: Number.NaN }, 'USAGE', ''],
])('%j is refused', async (options, code, hint) => {
  const { measure } = await rated(['good'], [by('mara', true)]);
  await expect(measure(options)).rejects.toMatchObject({ code, hint: expect.stringContaining(hint) });
});
