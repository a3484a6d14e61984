import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RuntimeOptions } from '../../src/index.ts';
import type { SuiteRunOptions } from '../../src/runtime/api.ts';
import type { CaseRecord } from '../../src/suites/record.ts';
import { onTransports, type Transport } from '../cite.ts';
import { open } from './open.ts';

interface Setting {
  readonly how: string;
  readonly on: Transport;
  readonly cases?: number;
  /** The index of the case whose params are wrong, from 0. */
  readonly guilty?: number;
  readonly batch?: number;
  readonly concurrency?: number;
  readonly timeoutMs?: number;
  readonly options?: SuiteRunOptions;
  readonly runtime?: RuntimeOptions;
  readonly spec?: string;
}

const scoreOf = (at: number) => (at % 4) / 4;

/** A suite over cases whose scores are 0, 0.25, 0.5, 0.75, 0, …, and its runtime. */
async function prepare(setting: Setting) {
  const { how, on, cases = 6, guilty, batch = 4, concurrency = 2, timeoutMs = 20_000, runtime } = setting;
  const args = [how, ...(on === 'server' ? ['--server'] : [])];
  const mode = on === 'server' ? ', runtime: server' : '';
  const entry = `command: $bin/batch-grader, args: ${JSON.stringify(args)}${mode}, env: [GRADER_KEY]`;
  const rows = Array.from({ length: cases }, (_, at) =>
    JSON.stringify({ id: `c${at}`, score: scoreOf(at), ...(at === guilty && { guilty: true }) }),
  );
  const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  dataset: {path: rows.jsonl}
  case: {id: "\${case.id}", content: "text of \${case.id}"}
  evals: [{id: grade, type: grade, params: {score: "\${case.score}", guilty: "\${case.?guilty}"}, threshold: {min_score: 0.5}}]
${setting.spec ?? ''}`;
  const opened = await open(
    `concurrency: ${concurrency}
evals:
  grade: {${entry}, batch: ${batch}, timeout_ms: ${timeoutMs}, grace_ms: 100}
`,
    runtime,
    { 'rows.jsonl': `${rows.join('\n')}\n`, 'demo.suite.yaml': suite, asked: '' },
  );
  return { ...opened, suite: join(opened.folder, 'demo.suite.yaml') };
}

async function judge(setting: Setting) {
  const { runtime, folder, suite, events } = await prepare(setting);
  const records: CaseRecord[] = [];
  const report = await runtime.evals.run(suite, {
    reporter: {
      begin: async () => {},
      onCase: async (record) => void records.push(record),
      onProblem: async () => {},
      end: async () => {},
    },
    ...setting.options,
  });
  const results = records.flatMap(({ epochs }) => epochs.flatMap((epoch) => epoch.results));
  return {
    ...{ report, results, records, events },
    scores: results.map(({ score }) => score),
    errors: results.map(({ error }) => error?.code),
    asked: readFileSync(join(folder, 'asked'), 'utf8').split('\n').filter(Boolean),
  };
}

const six = [0, 0.25, 0.5, 0.75, 0, 0.25];
const nothing = Array(6).fill(null);

describe('a batch', () => {
  test.each(
    onTransports([
      { title: 'carries as many cases as it may, and what is left', cites: 'PK-7-30@both PK-7-31@both' },
    ]),
  )('$title', async ({ on }) => {
    const { scores, asked, results, report } = await judge({ how: 'ok', on });
    expect({ scores, asked: asked.toSorted() }).toEqual({ scores: six, asked: ['2', '4'] });
    expect(results.map(({ detail }) => detail)).toEqual(six.map((_, at) => `text of c${at}`));
    expect(results.map(({ passed }) => passed)).toEqual(six.map((score) => score >= 0.5));
    expect(report).toMatchObject({ cases: 6, evals: { grade: { scored: 6, passed: 2 } } });
  });

  test.each(
    onTransports([{ title: 'has the results of its cases where each names its own', cites: 'PK-7-31@both' }]),
  )('$title', async ({ on }) => {
    expect(await judge({ how: 'names', on })).toMatchObject({ scores: six });
  });

  test.each(
    onTransports([
      { title: 'that is answered by too few results scores nobody', cites: 'PK-7-32@both', how: 'short' },
      { title: 'that is answered by too many results scores nobody', cites: 'PK-7-32@both', how: 'long' },
      { title: 'that is answered without results scores nobody', cites: 'PK-7-32@both', how: 'none' },
      { title: 'that is answered by a text scores nobody', cites: 'PK-7-32@both', how: 'text' },
    ]),
  )('$title', async ({ on, how }) => {
    const { scores, errors } = await judge({ how, on });
    expect({ scores, errors }).toEqual({ scores: nothing, errors: Array(6).fill('REPLY_MALFORMED') });
  });

  test.each(
    onTransports([
      {
        title: 'whose results name each other’s cases scores who is in its own place, and says so',
        cites: 'PK-7-33@both',
      },
    ]),
  )('$title', async ({ on }) => {
    const { scores, errors } = await judge({ how: 'swapped', on, cases: 4 });
    expect(scores).toEqual([null, null, null, 0.75]);
    expect(errors).toEqual([...Array(3).fill('REPLY_MALFORMED'), undefined]);
  });

  test.each(
    onTransports([{ title: 'that is answered by one score says to remove `batch`', cites: 'PK-7-34@both' }]),
  )('$title', async ({ on }) => {
    const { scores, results } = await judge({ how: 'plain', on });
    expect(scores).toEqual(nothing);
    expect(results[0]?.error?.hint).toContain('Remove `batch`');
  });

  test.each(
    onTransports([
      { title: 'with an invalid score loses that case alone', cites: 'PK-7-31@both', how: 'bad' },
      {
        title: 'with an element that is no object loses that case alone',
        cites: 'PK-7-31@both',
        how: 'nothing',
      },
      { title: 'with an element that says why loses that case alone', cites: 'PK-7-31@both', how: 'sorry' },
    ]),
  )('$title', async ({ on, how }) => {
    const { scores } = await judge({ how, on, guilty: 1 });
    expect(scores).toEqual([0, null, 0.5, 0.75, 0, 0.25]);
  });

  test.each(
    onTransports([{ title: 'that its program gives up is unscored for that reason', cites: 'PK-7-36@both' }]),
  )('$title', async ({ on }) => {
    const { scores, results } = await judge({ how: 'failed', on });
    expect(scores).toEqual(nothing);
    expect(new Set(results.map(({ detail }) => detail))).toEqual(new Set(['no model']));
  });

  const deaths = { oneshot: 'PROCESS_SIGNAL', server: 'SERVER_EXIT' } as const;

  test.each(
    onTransports([
      {
        title: 'whose program dies in its midst is unscored as a whole, and no other is',
        cites: 'PK-7-35@both',
      },
    ]),
  )('$title', async ({ on }) => {
    const { scores, errors, results } = await judge({ how: 'dies', on, guilty: 1, concurrency: 1 });
    expect(scores).toEqual([null, null, null, null, 0, 0.25]);
    expect(errors).toEqual([...Array(4).fill(deaths[on]), undefined, undefined]);
    expect(results[3]?.detail).toContain('(one request for 4 cases)');
  });

  test.each(onTransports([{ title: 'has one time limit for all its cases', cites: 'PK-7-35@both' }]))(
    '$title',
    async ({ on }) => {
      const { scores, errors } = await judge({
        how: 'hangs',
        on,
        guilty: 5,
        concurrency: 1,
        timeoutMs: 6000,
      });
      expect(scores).toEqual([0, 0.25, 0.5, 0.75, null, null]);
      expect(errors.slice(4)).toEqual(['PROCESS_TIMEOUT', 'PROCESS_TIMEOUT']);
    },
  );

  test.each(onTransports([{ title: 'is no form for a direct call', cites: 'PK-7-37@both' }]))(
    '$title',
    async ({ on }) => {
      const { runtime, folder } = await prepare({ how: 'ok', on });
      const call = await runtime.evals.call('grade', { content: 'x', params: { score: 0.5 } });
      expect(call).toMatchObject({ status: 'scored', score: 0.5 });
      expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('single\n');
    },
  );
});

describe('a suite over batches', () => {
  test('repeats the cases of a failed batch one by one, so that only the guilty one is lost', async () => {
    const { scores, asked, results } = await judge({
      ...{ how: 'dies', on: 'oneshot', guilty: 1, concurrency: 1 },
      options: { retries: 1 },
    });
    expect(scores).toEqual([0, null, 0.5, 0.75, 0, 0.25]);
    expect(asked.toSorted()).toEqual(['1', '1', '1', '1', '2', '4']);
    expect(results.map(({ attempts }) => attempts)).toEqual([2, 2, 2, 2, 1, 1]);
  });

  test('repeats cases within batches', async () => {
    const { scores, asked } = await judge({ how: 'ok', on: 'server', options: { epochs: 2 } });
    expect(scores).toEqual(six.flatMap((score) => [score, score]));
    expect(asked.map(Number).reduce((sum, size) => sum + size)).toBe(12);
  });

  test('runs the selected cases, whatever batches they form', async () => {
    const { scores } = await judge({
      ...{ how: 'ok', on: 'oneshot', cases: 40, batch: 3 },
      options: { select: { filter: 'case.score == 0.5' } },
    });
    expect(scores).toEqual(Array(10).fill(0.5));
  });

  test('sends no more than a batch at once while a thousand wait', async () => {
    const { report, asked } = await judge({ how: 'ok', on: 'server', cases: 1000, batch: 64 });
    expect(report).toMatchObject({ cases: 1000, evals: { grade: { scored: 1000 } } });
    expect(Math.max(...asked.map(Number))).toBe(64);
    expect(asked.length).toBeLessThan(40);
  });

  test('ends one case at its time limit with the batch that contains it', async () => {
    const { errors } = await judge({
      ...{ how: 'hangs', on: 'server', guilty: 5, concurrency: 1 },
      options: { timeoutMs: 6000 },
    });
    expect(errors).toEqual([...Array(4).fill(undefined), 'STEP_TIMEOUT', 'STEP_TIMEOUT']);
  });

  test('reports the time of the request separately from the wait for its slot', async () => {
    const { results } = await judge({ how: 'slow', on: 'oneshot', concurrency: 1, cases: 8, batch: 4 });
    const [first, second] = [results[0], results[7]];
    expect(Math.min(...results.map(({ duration_ms }) => duration_ms))).toBeGreaterThanOrEqual(190);
    expect(second?.queue_ms).toBeGreaterThanOrEqual(190);
    expect(first?.queue_ms).toBeLessThan(second?.queue_ms ?? 0);
  });

  test('hides secrets in the reasons of single cases', async () => {
    process.env['GRADER_KEY'] = 'a-very-secret-value';
    try {
      const { results } = await judge({ how: 'secret', on: 'server', guilty: 2 });
      expect(results[2]?.detail).toMatch(/^it was /);
      expect(JSON.stringify(results)).not.toContain('a-very-secret-value');
    } finally {
      delete process.env['GRADER_KEY'];
    }
  });

  test('emits a start and an end for each case', async () => {
    const { events } = await judge({ how: 'ok', on: 'server' });
    const calls = events.flatMap((event) => (event.type === 'call.started' ? [event.call] : []));
    const ends = events.flatMap((event) => (event.type === 'call.finished' ? [event.call] : []));
    expect({ calls: new Set(calls).size, ends: ends.toSorted() }).toEqual({
      calls: 6,
      ends: calls.toSorted(),
    });
  });

  test('is recorded case by case, and replayed with any batches', async () => {
    const { folder, suite, runtime } = await prepare({ how: 'ok', on: 'server', concurrency: 1 });
    await runtime.close();
    const { openRuntime } = await import('../../src/index.ts');
    const file = join(folder, 'runtime.yaml');
    const cassette = join(folder, 'run.cassette');
    const run = async (options: RuntimeOptions) => {
      await using opened = await openRuntime(file, { log: false, ...options });
      return await opened.evals.run(suite, { keep: false });
    };
    const live = await run({ cassette: { record: cassette } });
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('1\n'.repeat(6));
    writeFileSync(file, readFileSync(file, 'utf8').replace('concurrency: 1', 'concurrency: 3'));
    const replayed = await run({ cassette: { replay: cassette } });
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('1\n'.repeat(6));
    expect(replayed.evals['grade']).toMatchObject({ scored: 6, mean: live.evals['grade']?.mean });
    expect(replayed.status).toBe(live.status);
  });

  test('ends at once when it is aborted, and leaves nothing behind', async () => {
    const stop = new AbortController();
    const { runtime, suite, folder } = await prepare({ how: 'hangs', on: 'oneshot', guilty: 0 });
    const running = runtime.evals.run(suite, { signal: stop.signal });
    await expect.poll(() => readFileSync(join(folder, 'asked'), 'utf8'), { timeout: 20_000 }).not.toBe('');
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
