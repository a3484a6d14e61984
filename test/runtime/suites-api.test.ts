import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringifyJson } from '../../src/base/json/json.ts';
import type { SuiteRunOptions } from '../../src/runtime/api.ts';
import type { CaseRecord, SuiteReport } from '../../src/suites/record.ts';
import type { Reporter } from '../../src/suites/report/reporter.ts';
import { type Bench, openBench, runtimeSpec } from './suite-bench.ts';

async function cutOff(
  { runtime, suite }: Bench,
  cases: number,
  options: SuiteRunOptions = {},
): Promise<string> {
  const stop = new AbortController();
  let id = '';
  const running = runtime.evals.run(suite, {
    ...options,
    signal: stop.signal,
    onStart: (header) => {
      id = header.run_id;
    },
    onProgress: (progress) => {
      if (progress.cases === cases) stop.abort();
    },
  });
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  return id;
}

function listener(guilty?: keyof Reporter) {
  const told: string[] = [];
  const records: CaseRecord[] = [];
  const note = async (what: keyof Reporter) => {
    told.push(what);
    if (what === guilty) throw new Error('no room');
  };
  const reporter: Reporter = {
    begin: async () => await note('begin'),
    onCase: async (record) => {
      records.push(record);
      await note('onCase');
    },
    onProblem: async () => await note('onProblem'),
    end: async () => await note('end'),
  };
  return { reporter, told, records };
}

const timeless = ({ run_id: _, duration_ms: __, ...report }: SuiteReport) =>
  JSON.parse(JSON.stringify(report), (key, value: unknown) =>
    key === 'latency_ms' || key === 'queue_ms' ? undefined : value,
  );

const recordsOf = (records: readonly CaseRecord[]) =>
  records.map((record) => stringifyJson(record).replaceAll(/"(duration|queue)_ms":\d+/g, '"$1_ms":0'));

async function keptOf({ runtime }: Bench, id: string): Promise<CaseRecord[]> {
  return await Array.fromAsync((await runtime.evals.runs.open(id)).cases());
}

const six = [1, 0.5, 1, 1, 0, 1];

describe('an interrupted run', () => {
  test('continues under its id, judges nothing twice, and ends as without the interruption, to every digit', async () => {
    const calm = await openBench(six);
    const whole = listener();
    const report = await calm.runtime.evals.run(calm.suite, { reporter: whole.reporter });

    const bench = await openBench(six, { runtime: runtimeSpec.replace('2', '1') });
    const id = await cutOff(bench, 2);
    expect(await bench.runtime.evals.runs.list()).toMatchObject([{ id, status: 'interrupted' }]);
    const rest = listener();
    const resumed = await bench.runtime.evals.run(bench.suite, { resume: true, reporter: rest.reporter });
    expect(resumed.run_id).toBe(id);
    const home = (text: string) => text.replaceAll(bench.folder, calm.folder);
    expect(JSON.parse(home(JSON.stringify(timeless(resumed))))).toEqual(timeless(report));
    expect(recordsOf(rest.records).map(home)).toEqual(recordsOf(whole.records));
    expect(new Set(bench.graded()).size).toBe(six.length);
    expect(recordsOf(rest.records)[0]).toContain('12345678901234567890');
    expect(recordsOf(await keptOf(bench, id))).toEqual(recordsOf(rest.records));
  });

  test.each<{ title: string; change: (bench: Bench) => void; options?: SuiteRunOptions; says: string }>([
    {
      title: 'another suite file',
      change: ({ replace }) => replace('demo.suite.yaml', 'content: x', 'content: y'),
      says: 'the suite file has changed',
    },
    {
      title: 'another suite file that says more of its epochs',
      change: ({ replace }) => replace('demo.suite.yaml', 'spec:', 'spec:\n  repeat: {epochs: 2}'),
      options: { keepGoing: true },
      says: 'the suite file has changed, --keep-going differs',
    },
    {
      title: 'another config',
      change: ({ replace }) => replace('runtime.yaml', 'concurrency: 2', 'concurrency: 3'),
      says: 'the config has changed',
    },
    {
      title: 'another version of a program',
      change: ({ replace }) => replace('grade.sh', 'printf', ': ; printf'),
      says: 'the program grade.sh has changed',
    },
    {
      title: 'another selection',
      change: () => {},
      options: { select: { maxCases: 3 } },
      says: '--max-cases differs',
    },
    { title: 'other tags', change: () => {}, options: { select: { tags: ['a'] } }, says: '--tag differs' },
    { title: 'another number of epochs', change: () => {}, options: { epochs: 2 }, says: '--repeat differs' },
    { title: 'another reducer', change: () => {}, options: { reducer: 'max' }, says: '--reducer differs' },
    { title: 'another limit of failures', change: () => {}, options: { bail: 1 }, says: '--bail differs' },
  ])('does not continue with $title', async ({ change, options, says }) => {
    const bench = await openBench(six);
    const id = await cutOff(bench, 2);
    await bench.settle();
    const before = bench.graded();
    change(bench);
    await expect(bench.runtime.evals.run(bench.suite, { ...options, resume: true })).rejects.toMatchObject({
      code: 'USAGE',
      message: `cannot resume run ${id}: ${says}`,
      hint: 'Resume a run with the same suite, config, programs and options; start a new one without --resume.',
    });
    expect(bench.graded()).toEqual(before);
  });

  test('is found among newer ones with other options', async () => {
    const bench = await openBench(six);
    const id = await cutOff(bench, 2);
    await cutOff(bench, 2, { bail: 3 });
    const report = await bench.runtime.evals.run(bench.suite, { resume: true });
    expect(report).toMatchObject({ run_id: id, cases: 6 });
  });

  test('judges only changed cases again', async () => {
    const bench = await openBench(six, { runtime: runtimeSpec.replace('2', '1') });
    await cutOff(bench, 3);
    await bench.settle();
    const before = bench.graded().length;
    bench.replace('rows.jsonl', '"c2","score":0.5', '"c2","score":0.25');
    const report = await bench.runtime.evals.run(bench.suite, { resume: true });
    expect(report.failures).toMatchObject([
      { case: 'c2', score: 0.25 },
      { case: 'c5', score: 0 },
    ]);
    expect(bench.graded().slice(before)).toContain('c2');
    expect(bench.graded().slice(before)).not.toContain('c1');
  });

  test('an ended, an unknown and an unstored run are not resumed', async () => {
    const bench = await openBench([1]);
    const { run_id: id } = await bench.runtime.evals.run(bench.suite);
    const resume = async (options: SuiteRunOptions) => await bench.runtime.evals.run(bench.suite, options);
    await expect(resume({ resume: id })).rejects.toMatchObject({
      code: 'RUN_ENDED',
      message: `run ${id} has ended: passed`,
    });
    await expect(resume({ resume: true })).rejects.toMatchObject({
      code: 'RUN_UNKNOWN',
      message: 'no run of suite "demo" can be resumed',
    });
    await expect(resume({ resume: 'nobody' })).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
    await expect(resume({ resume: true, keep: false })).rejects.toMatchObject({ code: 'USAGE' });
  });

  test('a memory store accepts runs, and says that none can be resumed', async () => {
    const bench = await openBench([1, 1], { runtime: `state_store: {type: memory}\n${runtimeSpec}` });
    expect(await bench.runtime.evals.run(bench.suite)).toMatchObject({ status: 'passed', cases: 2 });
    await expect(bench.runtime.evals.run(bench.suite, { resume: true })).rejects.toMatchObject({
      code: 'RUN_UNKNOWN',
      message: `the state store of ${join(bench.folder, 'runtime.yaml')} is in memory, which stores no runs`,
      hint: 'Set `state_store: {type: sqlite}` in the config, so that runs can be resumed.',
    });
  });
});

describe('bail', () => {
  const scores = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1];

  test.each([1, 2, 16])(
    'with %i concurrent processes ends at the second failed case, with the same cases reported and stored',
    async (concurrency) => {
      const bench = await openBench(scores, { runtime: runtimeSpec.replace('2', String(concurrency)) });
      const { reporter, records } = listener();
      const report = await bench.runtime.evals.run(bench.suite, { bail: 2, reporter });
      expect(report).toMatchObject({ status: 'failed', bailed: true, cases: 5, failure_count: 2 });
      expect(records.map(({ id }) => id)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
      const kept = await keptOf(bench, report.run_id);
      expect(kept.map(({ id, passed }) => [id, passed])).toEqual(
        records.map(({ id, passed }) => [id, passed]),
      );
    },
  );

  test('aborts cases in progress, and their processes end', async () => {
    const hanging = 'grep -q \'"case":"c1"\' && echo \'{"score": 0}\' || exec sleep 600\n';
    const bench = await openBench([1, 1, 1, 1], { grade: hanging });
    const report = await bench.runtime.evals.run(bench.suite, { bail: 1 });
    expect(report).toMatchObject({ status: 'failed', bailed: true, cases: 1 });
  });

  test.each([1, 16])(
    'the allowed number of failures at the last case is bailed too, with %i concurrent',
    async (concurrency) => {
      const bench = await openBench([1, 0], { runtime: runtimeSpec.replace('2', String(concurrency)) });
      const gated = await bench.runtime.evals.run(bench.suite, { bail: 2 });
      expect(gated).toMatchObject({ bailed: false, cases: 2 });
    },
  );
});

describe('a failing store', () => {
  test('before the run prevents grading, and the error names the option without a store', async () => {
    const bench = await openBench([1], { runtime: `state_store: {path: graded/state.db}\n${runtimeSpec}` });
    const { reporter, told } = listener();
    await expect(bench.runtime.evals.run(bench.suite, { reporter })).rejects.toMatchObject({
      code: 'STORE_FAILED',
      hint: expect.stringMatching(/ A run with --no-store is not stored and needs no store\.$/),
    });
    expect({ told, graded: bench.graded() }).toEqual({ told: [], graded: [] });
    expect(await bench.runtime.evals.run(bench.suite, { keep: false })).toMatchObject({ status: 'passed' });
  });

  test('during a run ends it, and no end is reported', async () => {
    const bench = await openBench(six);
    const { reporter, told } = listener();
    const running = bench.runtime.evals.run(bench.suite, {
      reporter,
      onProgress: ({ cases }) => {
        if (cases === 2) rmSync(join(bench.folder, '.signalbox'), { recursive: true });
      },
    });
    await expect(running).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(told).not.toContain('end');
  });

  test('at the very end fails the run before its end is reported', async () => {
    const bench = await openBench([1, 1]);
    const { reporter, told } = listener();
    const running = bench.runtime.evals.run(bench.suite, {
      reporter,
      onProgress: ({ cases }) => {
        if (cases === 2) rmSync(join(bench.folder, '.signalbox'), { recursive: true });
      },
    });
    await expect(running).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(told).toEqual(['begin', 'onCase', 'onCase']);
  });
});

test.each(['begin', 'onCase', 'end'] as const)(
  'a reporter that fails at %s ends the run, which can be resumed',
  async (guilty) => {
    const bench = await openBench(six);
    await expect(
      bench.runtime.evals.run(bench.suite, { reporter: listener(guilty).reporter }),
    ).rejects.toThrow('no room');
    expect(await bench.runtime.evals.runs.list()).toMatchObject([{ status: 'interrupted' }]);
    const report = await bench.runtime.evals.run(bench.suite, { resume: true });
    expect(report).toMatchObject({ status: 'failed', cases: 6 });
    expect(await bench.runtime.evals.runs.list()).toMatchObject([
      { id: report.run_id, status: 'failed', cases: 6 },
    ]);
  },
);
