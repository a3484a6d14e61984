import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { type EvalOutcome, scored, unscored } from '../../../src/contract/eval.ts';
import type { SuiteProgress } from '../../../src/suites/file/model.ts';
import type { CaseRecord, SuiteReport } from '../../../src/suites/record.ts';
import { compileSelection } from '../../../src/suites/select/select.ts';
import { judge, loadSpec, run, toLines } from '../support.ts';

const byParam = `dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: "\${case.text}", tags: ["\${case.?tag}"]}
evals:
  - {id: exact, type: t, params: {score: "\${case.score}"}}
  - {id: low, type: t, params: {score: "\${case.score}"}, threshold: {max_score: 0.5}, role: metric}
`;

function rowsOf(scores: readonly number[]): string {
  return toLines(
    scores.map((score, index) => ({ id: `r${index}`, text: 'x', score, tag: index % 2 ? 'odd' : '' })),
  );
}

test('a run is reported case by case, eval by eval and tag by tag', async () => {
  const suite = loadSpec(byParam, rowsOf([1, 0.5, 0, 1]));
  const report = await run(suite);
  const failure = { file: suite.file.replace('demo.suite.yaml', 'rows.jsonl'), eval: 'exact', detail: '' };
  const all = { count: 4, scored: 4, unscored: 0, passed: 2, pass_rate: 0.5, mean: 0.625 };
  const odd = { count: 2, scored: 2, unscored: 0, passed: 1, pass_rate: 0.5, mean: 0.75 };
  expect(report).toMatchObject({
    run_id: 'demo-run',
    suite: 'demo',
    status: 'failed',
    cases: 4,
    epochs: 1,
    bailed: false,
    overall: { ...all, tags: { odd } },
    evals: { exact: { ...all, tags: { odd } }, low: { ...all, tags: { odd } } },
    gates: [],
    duration_ms: expect.any(Number),
    problems: [],
    problem_count: 0,
    failures: [
      { ...failure, case: 'r1', line: 2, score: 0.5 },
      { ...failure, case: 'r2', line: 3, score: 0 },
    ],
    failure_count: 2,
  });
});

function specWith(role: string, gates: string): string {
  return `cases: [{content: a, s: 1}, {content: b, s: 0}]
evals: [{id: e, type: t, params: {score: "\${case.s}"}, role: ${role}}]
gates: ${gates}
`;
}

const statuses = [
  {
    title: 'a failed assertion fails it [DS-SCORE-01] [DS-SUITE-04]',
    role: 'assertion',
    gates: '[]',
    status: 'failed',
  },
  { title: 'a failed guardrail fails it [DS-SCORE-02]', role: 'guardrail', gates: '[]', status: 'failed' },
  { title: 'a failed metric does not [DS-SCORE-03]', role: 'metric', gates: '[]', status: 'passed' },
  {
    title: 'a gate that holds outweighs a failed assertion',
    role: 'assertion',
    gates: '[{eval: e, metric: pass_rate, min: 0.5}]',
    status: 'passed',
  },
  {
    title: 'a gate that does not hold fails it',
    role: 'metric',
    gates: '[{eval: e, metric: mean, min: 0.51}]',
    status: 'failed',
  },
  {
    title: 'one gate of two is enough to fail it',
    role: 'metric',
    gates: '[{eval: e, metric: mean, min: 0.5}, {eval: e, metric: mean, max: 0.4}]',
    status: 'failed',
  },
  {
    title: 'a gate on a tag that no case has fails it',
    role: 'metric',
    gates: '[{eval: e, metric: mean, tag: x, min: 0}]',
    status: 'failed',
  },
];

test.each(statuses)('the status: $title', async ({ role, gates, status }) => {
  expect((await run(loadSpec(specWith(role, gates)))).status).toBe(status);
});

test.each(['assertion', 'guardrail'])(
  'an unscored result fails its %s, counts, and is not averaged [PK-7-21] [DS-SCORE-05]',
  async (role) => {
    const suite = loadSpec(`cases: [{content: a}, {content: b}]\nevals: [{id: e, type: t, role: ${role}}]\n`);
    const outcomes: Record<string, EvalOutcome> = { a: scored(1, ''), b: unscored('it crashed') };
    const report = await run(suite, {
      score: async (evaluation) => judge(evaluation, outcomes[evaluation.request.content] ?? unscored('?')),
    });
    expect(report).toMatchObject({
      status: 'failed',
      evals: { e: { count: 2, scored: 1, unscored: 1, passed: 1, pass_rate: 0.5, mean: 1 } },
      failures: [{ case: '2', score: null, detail: 'it crashed' }],
    });
  },
);

describe('invalid rows', () => {
  const bad =
    '{"id":"r0","text":"x","score":1}\n[1]\n{"id":"r2","text":3,"score":1}\n\n{"id":"r3","text":"x"}\n{"id":"r4","text":"x","score":1}\n';

  test('are located and counted, make the status error, and leave the others alone [DS-SUITE-06]', async () => {
    const suite = loadSpec(byParam, bad);
    const report = await run(suite);
    const file = suite.file.replace('demo.suite.yaml', 'rows.jsonl');
    expect(report).toMatchObject({
      status: 'error',
      cases: 2,
      evals: { exact: { count: 2, passed: 2 } },
      problem_count: 3,
    });
    expect(report.problems).toEqual([
      {
        file,
        line: 2,
        column: 1,
        message: 'the line is a list',
        hint: 'A dataset has one JSON object on each line.',
      },
      {
        ...{ file, line: 3, column: 1, message: 'content must be text, not the number 3' },
        hint: 'Correct the row, or the expression in the suite that reads it.',
      },
      {
        ...{ file, line: 5, column: 1, message: '`${case.score}` failed: No such key: score' },
        hint: 'The row has id, text. If a key may be missing, write `.?key`.',
      },
    ]);
  });

  test('outweigh passed gates', async () => {
    const gated = `${byParam}gates: [{eval: exact, metric: pass_rate, min: 0.5}]\n`;
    expect(await run(loadSpec(gated, bad))).toMatchObject({ status: 'error', gates: [{ passed: true }] });
  });

  test('are all counted, and at most twenty shown', async () => {
    const report = await run(loadSpec(byParam, '[]\n'.repeat(50)), { window: 7 });
    expect(report.problems.map(({ line }) => line)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    expect(report.problem_count).toBe(50);
  });

  test('a dataset without rows counts as one', async () => {
    const suite = loadSpec(byParam, '\n\n');
    const file = suite.file.replace('demo.suite.yaml', 'rows.jsonl');
    expect(await run(suite)).toMatchObject({
      status: 'error',
      cases: 0,
      problems: [{ scope: 'run', file, line: 1, column: 1, message: 'the dataset is empty' }],
      problem_count: 1,
    });
  });

  test.each([
    { rows: ['a'], message: 'its one row was not selected' },
    { rows: ['a', 'b', 'c'], message: 'none of its 3 rows was selected' },
  ])('a dataset without selected rows counts as one: $message', async ({ rows, message }) => {
    const suite = loadSpec(byParam, toLines(rows.map((id) => ({ id, text: 'x', score: 1, tag: 't' }))));
    const report = await run(suite, { select: compileSelection({ tags: ['other'] }) });
    expect(report).toMatchObject({ status: 'error', cases: 0, problem_count: 1 });
    expect(report.problems).toMatchObject([{ scope: 'run', line: 1, message }]);
  });

  test('more than ten thousand tags count as one, and then there are no results by tag', async () => {
    const rows = Array.from({ length: 10_001 }, (_, id) => ({ id, text: 'x', score: 1, tag: `t${id}` }));
    const report = await run(loadSpec(byParam, toLines(rows)));
    expect(report).toMatchObject({ status: 'error', cases: 10_001, problem_count: 1, overall: { tags: {} } });
    expect(report.problems).toMatchObject([
      { scope: 'run', message: 'tags: there are more than 10000 different tags' },
    ]);
    const fits = await run(loadSpec(byParam, toLines(rows.slice(1))));
    expect(fits).toMatchObject({ status: 'passed', problem_count: 0 });
  });
});

test('failures are all counted, and the first twenty of the dataset shown', async () => {
  const report = await run(loadSpec(byParam, rowsOf(Array<number>(60).fill(0))), { window: 9 });
  expect(report.failures.map(({ case: id }) => id)).toEqual(
    Array.from({ length: 20 }, (_, index) => `r${index}`),
  );
  expect(report.failure_count).toBe(60);
});

test('progress and cases are reported in the order of the dataset', async () => {
  const told: { progress: SuiteProgress; id: string | undefined }[] = [];
  const suite = loadSpec(byParam, `${rowsOf([1, 0])}no row\n`);
  await run(suite, {
    onProgress: (progress, record) => told.push({ progress, id: record?.id }),
    window: 3,
  });
  const none = { problems: 0, unscored: 0, total: null, fraction: expect.any(Number) };
  const first = { ...none, cases: 1, evals: 2, failed: 0, passed: 1 };
  const second = { ...none, cases: 2, evals: 4, failed: 1, passed: 1 };
  expect(told).toEqual([
    { id: 'r0', progress: first },
    { id: 'r1', progress: second },
    { id: undefined, progress: { ...second, problems: 1 } },
  ]);
});

test('a record holds every judged part of a case', async () => {
  const records: CaseRecord[] = [];
  const suite = loadSpec(byParam, rowsOf([1, 0]));
  await run(suite, {
    onProgress: (_progress, record) => {
      if (record !== undefined) records.push(record);
    },
  });
  const result = { score: 0, detail: '', duration_ms: 0, queue_ms: 0, attempts: 1, params: { score: 0 } };
  const reduced = { score: 0, detail: '' };
  expect(records[1]).toEqual({
    number: 2,
    file: suite.file.replace('demo.suite.yaml', 'rows.jsonl'),
    line: 2,
    id: 'r1',
    tags: ['odd'],
    row: { id: 'r1', tag: 'odd', text: 'x', score: 0 },
    epochs: [
      {
        ...{ epoch: 1, content: 'x', messages: [], tool_calls: [], metadata: {} },
        results: [
          { ...result, eval: 'exact', passed: false, threshold: {} },
          { ...result, eval: 'low', passed: true, threshold: { max_score: 0.5 } },
        ],
      },
    ],
    results: [
      { ...reduced, eval: 'exact', passed: false, passed_epochs: 0 },
      { ...reduced, eval: 'low', passed: true, passed_epochs: 1 },
    ],
    score: 0,
    passed: false,
  });
});

describe('the window', () => {
  test.each([1, 3, 8])('of %i cases is filled and never exceeded', async (window) => {
    let inFlight = 0;
    let most = 0;
    const score: Parameters<typeof run>[1] = {
      window,
      score: async (evaluation) => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await nextTurn();
        inFlight -= 1;
        return judge(evaluation, scored(1, ''));
      },
    };
    await run(
      loadSpec(
        'dataset: {path: rows.jsonl}\nevals: [{id: e, type: t}]\n',
        toLines(Array.from({ length: 40 }, () => ({ content: '' }))),
      ),
      score,
    );
    expect(most).toBe(window);
  });

  test('a slow case blocks only its slot', async () => {
    const order: string[] = [];
    const release = Promise.withResolvers<void>();
    await run(
      loadSpec(
        'cases: [{content: slow}, {content: a}, {content: b}, {content: c}]\nevals: [{id: e, type: t}]\n',
      ),
      {
        window: 2,
        score: async (evaluation) => {
          const { content } = evaluation.request;
          if (content === 'slow') await release.promise;
          if (content === 'c') release.resolve();
          order.push(content);
          return judge(evaluation, scored(1, ''));
        },
      },
    );
    expect(order).toEqual(['a', 'b', 'c', 'slow']);
  });

  test.each([0, -1, 1.5, Number.NaN])('of %d is refused', async (window) => {
    await expect(
      run(loadSpec('cases: [{content: a}]\nevals: [{id: e, type: t}]\n'), { window }),
    ).rejects.toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});

test('property: the report is the same for any window and any order of completion', async () => {
  const row = fc.record({
    score: fc.oneof({ weight: 9, arbitrary: fc.nat(997).map((n) => n / 997) }, fc.constant(null)),
    turns: fc.nat(6),
    tag: fc.constantFrom('x', 'y', null),
    text: fc.oneof(
      { weight: 9, arbitrary: fc.constant<unknown>('x') },
      { weight: 1, arbitrary: fc.constant(5) },
    ),
  });
  const spec = `dataset: {path: rows.jsonl}
case: {content: "\${case.text}", tags: ["\${case.tag}"]}
evals:
  - {id: a, type: t, params: {score: "\${case.score}", turns: "\${case.turns}"}}
  - {id: b, type: t, params: {score: "\${case.score}", turns: 0}, role: guardrail, threshold: {min_score: 0.5}}
gates: [{eval: a, metric: mean, min: 0.5}, {eval: b, metric: pass_rate, tag: x, min: 0.5}]
`;
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 40 }),
      fc.integer({ min: 2, max: 12 }),
      async (rows, window) => {
        const suite = loadSpec(spec, toLines(rows));
        const runWith = async (size: number, slow: boolean): Promise<Partial<SuiteReport>> => {
          const report = await run(suite, {
            window: size,
            score: async (evaluation) => {
              const { score, turns } = Object(evaluation.request.params);
              for (let turn = 0; slow && turn < turns; turn++) await nextTurn();
              return judge(evaluation, score === null ? unscored('none') : scored(score, ''));
            },
          });
          return { ...report, run_id: '', duration_ms: 0 };
        };
        expect(JSON.stringify(await runWith(window, true))).toBe(JSON.stringify(await runWith(1, false)));
      },
    ),
    { numRuns: 60 },
  );
});

describe('an abort', () => {
  const many = toLines(Array.from({ length: 2000 }, () => ({ content: 'x' })));
  const spec = 'dataset: {path: rows.jsonl}\nevals: [{id: e, type: t}, {id: f, type: t}]\n';

  test('stops pulling, waits for cases in progress, and rejects with ABORTED', async () => {
    const controller = new AbortController();
    let begun = 0;
    let ended = 0;
    const running = run(loadSpec(spec, many), {
      window: 3,
      signal: controller.signal,
      score: async (evaluation, signal) => {
        begun += 1;
        if (begun === 20) controller.abort();
        for (let turn = 0; turn < 5; turn++) await nextTurn();
        ended += 1;
        if (signal.aborted) throw new RuntimeError('ABORTED', 'given up');
        return judge(evaluation, scored(1, ''));
      },
    });
    await expect(running).rejects.toThrow(
      expect.objectContaining({ code: 'ABORTED', message: 'the run of suite "demo" was stopped' }),
    );
    expect(ended).toBe(begun);
    expect(begun).toBeLessThan(40);
  });

  test.each([
    { title: 'a file', aborted: spec },
    {
      title: 'the suite itself',
      aborted: 'cases: [{content: x}, {content: y}]\nevals: [{id: e, type: t}]\n',
    },
  ])('before the start lets no row of $title begin', async ({ aborted }) => {
    let begun = 0;
    const score = async (): Promise<never> => {
      begun += 1;
      throw new Error('never');
    };
    await expect(run(loadSpec(aborted, many), { signal: AbortSignal.abort(), score })).rejects.toThrow(
      expect.objectContaining({ code: 'ABORTED' }),
    );
    expect(begun).toBe(0);
  });

  test('an error of `score` stops pulling, waits for cases in progress, and is thrown', async () => {
    let begun = 0;
    let ended = 0;
    const fault = new RuntimeError('RUNTIME_CLOSED', 'closed');
    const running = run(loadSpec(spec, many), {
      window: 4,
      score: async (evaluation) => {
        begun += 1;
        const mine = begun;
        await nextTurn();
        ended += 1;
        if (mine === 5) throw fault;
        await nextTurn();
        return judge(evaluation, scored(1, ''));
      },
    });
    await expect(running).rejects.toBe(fault);
    expect(ended).toBe(begun);
    expect(begun).toBeLessThan(40);
  });

  test('a dataset that cannot be read is FILE_UNREADABLE', async () => {
    const suite = loadSpec('dataset: {path: gone.jsonl}\nevals: [{id: e, type: t}]\n');
    await expect(run(suite)).rejects.toThrow(expect.objectContaining({ code: 'FILE_UNREADABLE' }));
  });
});
