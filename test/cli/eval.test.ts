import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { titled } from '../cite.ts';
import { headerOf } from '../suites/report/reports.ts';
import { config, fixture, folderOf, onlyDocument, run, runJson, suite } from './command-line.ts';

const long = '12345678901234567890';

const desk = folderOf({
  'runtime.yaml': config(`
evals:
  score: {command: ${fixture('eval-score')}}
  server: {command: ${fixture('server')}, args: [score], runtime: server}
  crash: {command: ${fixture('crash.sh')}}
`),
  'params.json': '{"score": 0.25}',
  'context.json': '{"turn_index": 7}',
  'answer.txt': 'Yes.\n',
});

const scored = { status: 'scored', detail: '', data: null };

const calls = titled([
  {
    title: 'a score of 1 passes without bounds',
    cites: 'DS-CLI-09 DS-EXIT-02 DS-JSON-05',
    args: ['score', '--params', '{"score": 1, "detail": "good", "data": {"words": 3}}'],
    code: 0,
    document: { status: 'scored', score: 1, passed: true, detail: 'good', data: { words: 3 } },
  },
  {
    title: 'a lower score does not pass without bounds, but is an answer',
    cites: 'DS-CLI-09 DS-EXIT-02 DS-JSON-05',
    args: ['score', '--params', '{"score": 0.99}'],
    code: 0,
    document: { ...scored, score: 0.99, passed: false },
  },
  {
    title: 'a score on its lower bound passes',
    cites: 'DS-CLI-09 DS-EXIT-02',
    args: ['score', '--params', '@params.json', '--min-score', '0.25'],
    code: 0,
    document: { ...scored, score: 0.25, passed: true },
  },
  {
    title: 'a score below its lower bound fails',
    cites: 'DS-CLI-09 DS-EXIT-02',
    args: ['score', '--params', '@params.json', '--min-score', '0.26'],
    code: 1,
    document: { ...scored, score: 0.25, passed: false },
  },
  {
    title: 'a score above its upper bound fails',
    cites: 'DS-CLI-09 DS-EXIT-02',
    args: ['server', '--max-score', '0.7'],
    code: 1,
    document: { status: 'scored', score: 0.75, passed: false, detail: 'three of four', data: null },
  },
  {
    title: 'an upper bound alone asks for no minimum',
    cites: 'DS-CLI-09 DS-EXIT-02',
    args: ['score', '--params', '{"score": 0}', '--max-score', '0.4'],
    code: 0,
    document: { ...scored, score: 0, passed: true },
  },
  {
    title: 'an eval that says why it has no score is unscored',
    cites: 'DS-EXIT-02 DS-JSON-06',
    args: ['score', '--params', '{"error": "no judge today", "score": 1}'],
    code: 1,
    document: {
      ...{ status: 'unscored', reason: 'no judge today', passed: false },
      error: { code: 'EVAL_ERROR', message: 'no judge today', hint: expect.any(String) },
    },
  },
  {
    title: 'a crash is unscored, whatever the bounds, and carries its fault',
    cites: 'DS-EXIT-02 DS-JSON-06 DS-JSON-08',
    args: ['crash', '--max-score', '0.5'],
    code: 1,
    document: {
      status: 'unscored',
      reason: expect.stringContaining('rules.txt: no such file'),
      passed: false,
      error: {
        code: 'PROCESS_EXIT',
        message: expect.stringContaining('rules.txt: no such file'),
        hint: 'Correct the program: its stderr says why.',
        details: expect.any(Object),
      },
    },
  },
]);

test.concurrent.for(calls)('eval call --json: $title', async ({ args, code, document }, { expect }) => {
  const called = ['eval', 'call', ...args, '--content', 'x', '--log-level', 'silent'];
  expect(await runJson(called, { cwd: desk })).toEqual({ code, document, stderr: '' });
});

const words = titled([
  {
    title: 'a metric',
    cites: 'DS-CLI-09 DS-EXIT-02',
    args: ['score', '--params', '{"score": 0.99, "detail": "good"}'],
    code: 0,
    stdout: '0.99: good\n',
  },
  {
    title: 'passed',
    cites: 'DS-CLI-09 DS-EXIT-02',
    args: ['server', '--min-score', '0.5'],
    code: 0,
    stdout: '0.75 passed: three of four\n',
  },
  {
    title: 'not passed',
    cites: 'DS-CLI-09 DS-EXIT-02',
    args: ['score', '--params', '@params.json', '--min-score', '0.5'],
    code: 1,
    stdout: '0.25 not passed\n',
  },
  {
    title: 'an abstention',
    cites: 'DS-EXIT-02',
    args: ['score', '--params', '{"abstain": "no judge today"}'],
    code: 1,
    stdout: 'unscored: no judge today\n',
  },
]);

test.concurrent.for(words)('eval call: $title', async ({ args, code, stdout }, { expect }) => {
  const called = ['eval', 'call', ...args, '--content', 'x', '--log-level', 'silent'];
  expect(await run(called, { cwd: desk })).toEqual({ code, stdout, stderr: '' });
});

test.concurrent('long integers in params and data keep their digits [DS-JSON-05 DS-CLI-08]', async ({
  expect,
}) => {
  const params = `{"score": 1, "data": {"id": ${long}}}`;
  const called = ['eval', 'call', 'score', '--content', '', '--params', '-', '--json'];
  const { stdout } = await run(called, { cwd: desk, stdin: params });
  expect(stdout).toBe(`{"status":"scored","score":1,"passed":true,"detail":"","data":{"id":${long}}}\n`);
});

const request = folderOf({
  'runtime.yaml': config('evals: {stdin: {command: ./stdin}}\n'),
  stdin: '#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps({"error": sys.stdin.read()}))\n',
  'answer.txt': 'Yes.\n',
  'context.json': '{"turn_index": 7}',
});

const contents = titled([
  { title: 'text', cites: 'DS-CLI-08', content: 'Yes.\n', stdin: '' },
  { title: '@FILE', cites: 'DS-CLI-08', content: '@answer.txt', stdin: '' },
  { title: '- for stdin', cites: 'DS-CLI-08', content: '-', stdin: 'Yes.\n' },
]);

test.concurrent.for(contents)(
  '--content takes $title, and --context what surrounds it',
  async (row, { expect }) => {
    const { content, stdin } = row;
    const called = ['eval', 'call', 'stdin', '--content', content, '--context', '@context.json'];
    const { document } = await runJson(called, { cwd: request, stdin });
    const sent =
      '{"type":"stdin","params":{},"content":"Yes.\\n","context":{"messages":[],"turn_index":7,"tool_calls":[],"variables":{},"metadata":{}}}\n';
    expect(document).toMatchObject({ status: 'unscored', reason: sent, passed: false });
  },
);

const wrong = titled([
  {
    title: 'a bound above 1',
    cites: 'DS-CLI-12',
    args: ['--min-score', '1.5'],
    message: 'a score bound lies in 0..1, not 1.5',
  },
  {
    title: 'a bound that is no number',
    cites: 'DS-CLI-12',
    args: ['--max-score', 'high'],
    message: '--max-score takes a number, not "high"',
  },
  {
    title: 'an empty bound',
    cites: 'DS-CLI-12',
    args: ['--max-score', ''],
    message: '--max-score takes a number, not ""',
  },
  {
    title: 'bounds that cross',
    cites: 'DS-CLI-12',
    args: ['--min-score', '0.9', '--max-score', '0.1'],
    message: '--min-score 0.9 is above --max-score 0.1',
  },
  {
    title: 'params that are no object',
    cites: 'DS-CLI-08',
    args: ['--params', '"x"'],
    message: '--params is not a JSON object',
  },
  {
    title: 'a context that is no JSON',
    cites: 'DS-CLI-08',
    args: ['--context', '{turn_index: 1}'],
    message: expect.stringMatching(/^--context is not JSON: /),
  },
  {
    title: 'stdin for two options',
    cites: 'DS-CLI-08',
    args: ['--params', '-', '--content', '-'],
    message: '--params has read stdin, so --content cannot',
  },
]);

test.concurrent.for(wrong)('eval call with $title exits 2', async ({ args, message }, { expect }) => {
  const called = ['eval', 'call', 'score', '--content', 'x', ...args];
  const { code, document } = await runJson(called, { cwd: desk, stdin: '{}' });
  expect({ code, document }).toEqual({
    code: 2,
    document: { error: { code: 'USAGE', message, hint: expect.any(String) } },
  });
});

const spec = `
runtime: ./runtime.yaml
cases:
  - {id: one, score: 1, topic: shop}
  - {id: two, score: 0.5, topic: delivery}
case: {id: "\${case.id}", content: text, tags: ["\${case.topic}"]}
evals:
  - {id: quality, type: score, params: {score: "\${case.score}"}, threshold: {min_score: 0.8}}
`;

const suites = folderOf({
  'runtime.yaml': config(`evals: {score: {command: ${fixture('eval-score')}}}\n`),
  'other.yaml': config(`evals: {score: {command: ${fixture('prints.sh')}, args: ['{"score": 1}']}}\n`),
  'gated.suite.yaml': suite(`${spec}gates:\n  - {eval: quality, metric: pass_rate, min: 0.5}\n`),
  'strict.suite.yaml': suite(spec),
  'rows.suite.yaml': suite(spec.replace(/cases:\n.*\n.*\n/, 'dataset: {path: rows.jsonl}\n')),
  'rows.jsonl': '{"id": "one", "score": 1, "topic": "shop"}\nnot JSON\n',
  'nowhere.suite.yaml': suite(spec.replace('./runtime.yaml', './nowhere.yaml')),
  'mistyped.suite.yaml': suite(spec.replace('type: score', 'type: scor')),
  'good.jsonl': '{"id": "three", "score": 1, "topic": "shop"}\n',
});

const stats = (count: number, passed: number, mean: number) => ({
  count,
  scored: count,
  unscored: 0,
  passed,
  pass_rate: passed / count,
  mean,
});

const runs = titled([
  {
    title: 'passes with its gate',
    cites: 'DS-CLI-02 DS-SUITE-07',
    args: ['gated.suite.yaml'],
    code: 0,
    document: {
      status: 'passed',
      cases: 2,
      evals: {
        quality: {
          ...stats(2, 1, 0.75),
          tags: { delivery: stats(1, 0, 0.5), shop: stats(1, 1, 1) },
        },
      },
      gates: [{ eval: 'quality', metric: 'pass_rate', value: 0.5, min: 0.5, max: null, passed: true }],
    },
  },
  {
    title: 'fails without gates when an assertion fails',
    cites: 'DS-CLI-02 DS-SUITE-07',
    args: ['strict.suite.yaml'],
    code: 1,
    document: { status: 'failed', cases: 2, gates: [] },
    stderr: 'demo: failed, 1 of 2 cases did not pass\n',
  },
  {
    title: 'is an error when a row cannot be used, and says which',
    cites: 'DS-CLI-02',
    args: ['rows.suite.yaml'],
    code: 2,
    document: {
      status: 'error',
      cases: 1,
      problems: [expect.objectContaining({ file: 'rows.jsonl', line: 2, column: 1 })],
      problem_count: 1,
    },
    stderr: expect.stringMatching(
      /^demo: error, 1 unusable row\n {2}unusable row: \[DATASET_INVALID\] rows\.jsonl:2 the line is not JSON.*\n {4}hint: .*\n$/,
    ),
  },
  {
    title: 'takes another dataset',
    cites: 'DS-CLI-08',
    args: ['rows.suite.yaml', '--dataset', 'good.jsonl'],
    code: 0,
    document: { status: 'passed', cases: 1 },
  },
  {
    title: 'takes a dataset from stdin',
    cites: 'DS-CLI-08',
    args: ['strict.suite.yaml', '--dataset', '-'],
    code: 0,
    document: { status: 'passed', cases: 1 },
  },
  {
    title: 'runs on the runtime that --config names instead of its own',
    cites: 'DS-CLI-01',
    args: ['nowhere.suite.yaml', '--config', 'other.yaml'],
    code: 0,
    document: { status: 'passed', cases: 2 },
  },
]);

const four = '{"id": "four", "score": 1, "topic": "shop"}\n';

test.concurrent.for(runs)('a suite $title', async ({ args, code, document, stderr = '' }, { expect }) => {
  // A dataset is read from the stdin of a process.
  const binary = args.includes('-') && ({ binary: true } as const);
  const ran = await runJson(['eval', 'run', ...args], { cwd: suites, stdin: four, ...binary });
  const its = { run_id: expect.any(String), suite: 'demo', duration_ms: expect.any(Number) };
  expect(ran).toMatchObject({ code, document: { ...its, ...document }, stderr });
});

const tables = [
  {
    args: ['gated.suite.yaml', '--quiet'],
    code: 0,
    stdout: /^demo: passed\n.*\nquality +2 +1 .*✓ quality: pass_rate 0\.5/s,
  },
  {
    args: ['strict.suite.yaml', '--quiet'],
    code: 1,
    stderr: 'demo: failed, 1 of 2 cases did not pass\n',
    stdout: /^demo: failed\n.*1 failure:\n {2}strict\.suite\.yaml:9 {2}case two, quality: score 0\.5\n/s,
  },
  {
    args: ['rows.suite.yaml', '--quiet'],
    code: 2,
    stderr: expect.stringMatching(
      /^demo: error, 1 unusable row\n {2}unusable row: \[DATASET_INVALID\] rows\.jsonl:2 the line is not JSON.*\n {4}hint: .*\n$/,
    ),
    stdout: /^demo: error\n.*1 unusable row:\n {2}rows\.jsonl:2 {2}the line is not JSON/s,
  },
];

test.concurrent.for(tables)(
  'people get a table of $args',
  async ({ args, code, stdout, stderr = '' }, { expect }) => {
    expect(await run(['eval', 'run', ...args], { cwd: suites })).toEqual({
      code,
      stdout: expect.stringMatching(stdout),
      stderr,
    });
  },
);

const badRuns = titled([
  {
    title: 'that is not there',
    cites: 'DS-CLI-12',
    args: ['none.suite.yaml'],
    error: { code: 'FILE_UNREADABLE', message: 'none.suite.yaml does not exist' },
  },
  {
    title: 'whose runtime is not there',
    cites: 'DS-CLI-12',
    args: ['nowhere.suite.yaml'],
    error: {
      code: 'FILE_UNREADABLE',
      message: 'nowhere.suite.yaml:6:12 runtime: nowhere.yaml does not exist',
    },
  },
  {
    title: 'with an eval that its runtime lacks',
    cites: 'DS-CLI-12 DS-JSON-09',
    args: ['mistyped.suite.yaml'],
    error: {
      code: 'CONFIG_INVALID',
      message: 'mistyped.suite.yaml has a problem',
      problems: [
        {
          severity: 'error',
          file: 'mistyped.suite.yaml',
          line: 12,
          column: 27,
          message: 'evals[0].type: no eval named scor is declared',
          hint: 'did you mean `score`?',
        },
      ],
    },
  },
  {
    title: 'that is a RuntimeConfig',
    cites: 'DS-CLI-12 DS-JSON-09',
    args: ['runtime.yaml'],
    error: {
      code: 'CONFIG_INVALID',
      message: expect.any(String),
      problems: expect.arrayContaining([
        expect.objectContaining({ message: 'kind: must be EvalSuite (got: RuntimeConfig)' }),
      ]),
    },
  },
  {
    title: 'with a dataset that is not there',
    cites: 'DS-CLI-12',
    args: ['strict.suite.yaml', '--dataset', 'none.jsonl'],
    error: { code: 'FILE_UNREADABLE', message: 'none.jsonl does not exist' },
  },
]);

test.concurrent.for(badRuns)('a suite $title exits 2', async ({ args, error }, { expect }) => {
  const { code, stdout } = await run(['eval', 'run', ...args, '--json'], { cwd: suites });
  expect({ code, document: onlyDocument(stdout) }).toEqual({
    code: 2,
    document: { error: { ...error, hint: expect.any(String) } },
  });
});

const runOfNothing = `${JSON.stringify({ type: 'run', ...headerOf() })}\n`;

test.concurrent.for([
  {
    title: 'over its dataset',
    args: ['run', 'over.suite.yaml', '--dataset', 'over.jsonl', '--reporter', 'jsonl=over.jsonl'],
    error: { code: 'USAGE', message: 'a report would be written over over.jsonl, which is its dataset' },
  },
  {
    title: 'of a run over that run',
    args: ['html', 'over.jsonl', '--output', 'over.jsonl'],
    error: {
      code: 'USAGE',
      message: 'a report would be written over over.jsonl, which is the run that it shows',
    },
  },
  {
    title: 'whose store cannot be opened',
    args: ['run', 'over.suite.yaml', '--config', 'unkept.yaml'],
    error: { code: 'STORE_FAILED' },
  },
])('a report $title exits 2, which is no verdict', async ({ args, error }, { expect }) => {
  const folder = folderOf({
    'over.jsonl': runOfNothing,
    'over.suite.yaml': suite(
      'cases: [{id: a, content: x}]\nevals: [{id: e, type: contains, params: {patterns: [x]}}]\n',
    ),
    'runtime.yaml': config('{}'),
    'unkept.yaml': config('state_store: {path: over.jsonl/state.db}'),
  });
  const { code, document } = await runJson(['eval', ...args], { cwd: folder });
  expect({ code, document }).toMatchObject({ code: 2, document: { error } });
  expect(readFileSync(join(folder, 'over.jsonl'), 'utf8')).toBe(runOfNothing);
});

test.concurrent('the files of a suite are those beside it, wherever one calls from', async ({ expect }) => {
  const file = join(suites, 'rows.suite.yaml');
  const { code, stdout } = await run(['eval', 'run', file], { cwd: desk });
  expect({ code, stdout }).toEqual({
    code: 2,
    stdout: expect.stringContaining(`${join(suites, 'rows.jsonl')}:2  the line is not JSON`),
  });
});
