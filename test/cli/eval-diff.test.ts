import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import type { CaseRecord, RunSource } from '../../src/suites/record.ts';
import { reporters } from '../../src/suites/report/delivery.ts';
import { replayReport } from '../../src/suites/report/replay-report.ts';
import { reporterOf } from '../suites/report/reports.ts';
import { epoch, header, record, said, source } from '../suites/stats/records.ts';
import { fixture, folderOf, run, runJson, suite, workspace } from './command-line.ts';

const evals = [header('exact'), header('judged')];

function judged(id: string, exact: number, other: number, tag = 'all'): CaseRecord {
  return record(id, [[said('exact', exact), said('judged', other)]], { evals, tags: [tag] });
}

async function toFile(run: RunSource): Promise<string> {
  let text = '';
  const sink = {
    hasColour: false,
    columns: undefined,
    write: async (more: string) => {
      text += more;
    },
  };
  await replayReport(run, await reporterOf(reporters.jsonl.open)(sink));
  return text;
}

function runOf(runId: string, cases: readonly CaseRecord[]): RunSource {
  return source(cases, { evals, runId });
}

const old = runOf('before', [
  judged('1', 1, 1, 'small'),
  judged('2', 1, 0, 'small'),
  judged('1', 0, 1, 'large'),
]);
const now = runOf('after', [
  judged('1', 1, 1, 'small'),
  judged('2', 0, 1, 'small'),
  judged('1', 0, 1, 'large'),
]);

async function folder(): Promise<string> {
  return folderOf({
    'main.jsonl': await toFile(old),
    'branch.jsonl': await toFile(now),
    'notes.txt': 'no run\n',
  });
}

describe('eval diff', () => {
  test('compares two files, and fails on a regression only when asked', async () => {
    const cwd = await folder();
    const [plain, strict, lenient] = await Promise.all([
      run('eval diff main.jsonl branch.jsonl', { cwd }),
      run('eval diff main.jsonl branch.jsonl --fail-on-regression', { cwd }),
      run('eval diff main.jsonl branch.jsonl --fail-on-regression significant', { cwd }),
    ]);
    expect([plain.code, strict.code, lenient.code]).toEqual([0, 1, 0]);
    expect([plain.stderr, strict.stderr, lenient.stderr]).toEqual(['', 'worse: exact: 1 regression\n', '']);
    expect(plain.stdout).toContain('A: demo, run before, 3 cases\nB: demo, run after, 3 cases\n');
    expect(plain.stdout).toContain('exact: 1 regression:\n  rows.jsonl:1  case 2: score 1 → score 0: said 0');
    expect(strict.stdout).toBe(plain.stdout);
  });

  test('prints one JSON document, with why B is worse', async () => {
    const cwd = await folder();
    const { code, document } = await runJson('eval diff main.jsonl branch.jsonl --fail-on-regression any', {
      cwd,
    });
    expect([code, document]).toMatchObject([
      1,
      {
        ...{ a: { run_id: 'before' }, b: { run_id: 'after' }, cases: { pairs: 3, regressions: 0 } },
        evals: [
          { eval_a: 'exact', regressions: 1, improvements: 0, first_regressions: [{ case: '2' }] },
          { eval_a: 'judged', regressions: 0, improvements: 1 },
        ],
        failures: ['exact: 1 regression'],
      },
    ]);
  });

  test('compares two sides of one run, in Markdown too', async () => {
    const cwd = await folder();
    const [tags, crossed] = await Promise.all([
      runJson('eval diff main.jsonl --tag-a small --tag-b large', { cwd }),
      run('eval diff main.jsonl --eval-a exact --eval-b judged --reporter markdown', { cwd }),
    ]);
    expect(tags).toMatchObject({
      code: 0,
      document: {
        a: { tag: 'small', cases: 2 },
        b: { tag: 'large', cases: 1 },
        evals: [{ pairs: 1, regressions: 1 }, {}],
      },
    });
    expect(crossed.stdout).toContain('| `exact → judged` | 3 | 66.67% | 66.67% | 1.0000 | 1 | 1 |');
  });

  test.each([
    {
      title: 'one side only',
      args: ['main.jsonl'],
      code: 'USAGE',
      told: 'the comparison has only one side',
    },
    {
      title: 'half of two evals',
      args: ['main.jsonl', '--eval-a', 'exact'],
      code: 'USAGE',
      told: '--eval-a and --eval-b',
    },
    {
      title: 'a file that is not there',
      args: ['main.jsonl', './gone.jsonl'],
      code: 'FILE_UNREADABLE',
      told: 'gone.jsonl',
    },
    {
      title: 'a file of something else',
      args: ['main.jsonl', 'notes.txt'],
      code: 'FILE_UNREADABLE',
      told: 'notes.txt:1',
    },
  ])('refuses $title', async ({ args, code, told }) => {
    const { code: exit, document } = await runJson(['eval', 'diff', ...args], { cwd: await folder() });
    expect([exit, document]).toMatchObject([2, { error: { code, message: expect.stringContaining(told) } }]);
  });
});

test('eval diff --html writes a page besides its output, and never over a run', async () => {
  const cwd = await folder();
  const [told, over] = await Promise.all([
    runJson('eval diff main.jsonl branch.jsonl --html out/diff.html', { cwd }),
    runJson('eval diff main.jsonl branch.jsonl --html main.jsonl', { cwd }),
  ]);
  expect(told).toMatchObject({ code: 0, document: { a: { run_id: 'before' } } });
  expect(readFileSync(join(cwd, 'out/diff.html'), 'utf8')).toMatch(/<h1>Evals compared<\/h1>.*<\/html>\s*$/s);
  expect(over).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
  expect(readFileSync(join(cwd, 'main.jsonl'), 'utf8')).toContain('"type":"run"');
});

describe('eval show', () => {
  test('shows everything of one case, with control characters escaped', async () => {
    const error = { code: 'PROCESS_EXIT', message: 'exit 3', hint: 'See its stderr.' } as const;
    const asked = [
      said('exact', 1, { detail: 'said 41\nwanted 41', params: { truth: '41' }, data: { tries: 2 } }),
      said('judged', null, { detail: 'exit 3', error, attempts: 3, stderr: 'oh\u001b[2J no\n' }),
    ];
    const messages = [{ role: 'user', content: 'How many?' }] as const;
    const calls = [{ name: 'add', args: { a: 40, b: 1 }, result: '41', error: '', index: 1 }];
    const whole = {
      ...record('7', [asked], { evals, tags: ['x', 'y'], score: null, passed: false }),
      row: { question: 'How\nmany\u001b[2J?', 'truth\n': 41 },
      row_cuts: [{ path: 'page', unit: 'characters' as const, kept: 3, length: 9 }],
      epochs: [
        epoch(asked, { content: 'It is 41.', messages, tool_calls: calls, variables: { tone: 'kind' } }),
      ],
    };
    const cwd = folderOf({ 'run.jsonl': await toFile(runOf('one', [judged('1', 1, 1), whole])) });
    const [people, programs] = await Promise.all([
      run('eval show run.jsonl --case 7', { cwd }),
      runJson('eval show run.jsonl --case 7', { cwd }),
    ]);
    expect(people).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: `case   7
at     rows.jsonl:1
tags   x, y
score  unscored
       not passed

row
  question:
    How
    many\\u001b[2J?
  truth: 41
  page is cut: 3 of 9 characters

user: How many?
call add: {"a":40,"b":1} → 41
judged: It is 41.
variables:
  tone: kind
exact: 1 passed (1 ms)
  detail:
    said 41
    wanted 41
  params: {"truth":"41"}
  data: {"tries":2}
judged: unscored not passed (1 ms, 3 attempts)
  detail: exit 3
  error: [PROCESS_EXIT] exit 3
  hint: See its stderr.
  stderr: oh\\u001b[2J no
`,
    });
    expect(programs).toEqual({ code: 0, stderr: '', document: { run_id: 'one', cases: [whole] } });
  });

  test('shows the report of an interrupted run, as far as it got', async () => {
    const [begin = '', first = ''] = (await toFile(old)).split('\n');
    const cwd = folderOf({ 'cut.jsonl': `${begin}\n${first}\n{"type":"ca` });
    const [shown, missing] = await Promise.all([
      runJson('eval show cut.jsonl', { cwd }),
      runJson('eval show cut.jsonl --case 99', { cwd }),
    ]);
    expect(shown).toMatchObject({
      ...{
        code: 0,
        document: {
          run_id: 'before',
          status: 'interrupted',
          duration_ms: null,
          cases: 1,
          evals: { exact: { count: 1, mean: 1 } },
        },
      },
      stderr: 'the run did not finish; these are its cases so far\n',
    });
    expect(missing).toMatchObject({ code: 2, document: { error: { code: 'NAME_UNKNOWN' } } });
  });
});

test('eval html writes one page, named after the run', async () => {
  const cwd = await folder();
  expect(await run('eval html main.jsonl', { cwd })).toEqual({
    code: 0,
    stdout: 'before.html\n',
    stderr: '',
  });
  expect(readFileSync(join(cwd, 'before.html'), 'utf8')).toMatch(/^<!doctype html>.*<\/html>\s*$/is);
});

describe('stored runs', () => {
  async function twoRuns() {
    const cwd = workspace(`evals: {score: {command: ${fixture('eval-score')}}}\n`, {
      'good.suite.yaml': suiteOf(1),
      'bad.suite.yaml': suiteOf(0),
    });
    const runtime = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
    try {
      const good = await runtime.evals.run(join(cwd, 'good.suite.yaml'));
      const bad = await runtime.evals.run(join(cwd, 'bad.suite.yaml'));
      return { cwd, ids: [good.run_id, bad.run_id] };
    } finally {
      await runtime.close();
    }
  }

  function suiteOf(score: number): string {
    return suite(
      `cases: [{id: one, content: x}]\nevals: [{id: exact, type: score, params: {score: ${score}}}]\n`,
    );
  }

  test('are listed newest first, and selected by age or the beginning of their ids', async () => {
    const { cwd, ids } = await twoRuns();
    const [good = '', bad = ''] = ids;
    const [list, byAge, byId, none] = await Promise.all([
      runJson('eval list', { cwd }),
      runJson('eval diff last~1 last', { cwd }),
      runJson(['eval', 'show', good.slice(0, 8)], { cwd }),
      runJson('eval show last~2', { cwd }),
    ]);
    const kept = { kind: 'suite', suite: 'demo', cases: 1, started_at: expect.any(String) };
    expect(list.document).toEqual({
      runs: [
        { ...kept, id: bad, status: 'failed', pass_rate: 0 },
        { ...kept, id: good, status: 'passed', pass_rate: 1 },
      ],
    });
    expect(byAge.document).toMatchObject({
      a: { run_id: good },
      b: { run_id: bad },
      evals: [{ regressions: 1 }],
    });
    expect(byId.document).toMatchObject({ run_id: good, status: 'passed', cases: 1 });
    expect(none).toMatchObject({ code: 2, document: { error: { code: 'RUN_UNKNOWN' } } });
  });
});
