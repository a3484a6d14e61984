import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { headerOf } from '../suites/report/reports.ts';
import { config, fixture, folderOf, run, runBothWays, runJson, suite } from './command-line.ts';

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

const crashed = expect.stringContaining('rules.txt: no such file');

test.concurrent.for([
  {
    title: 'a score of 1 passes without bounds',
    line: `score --params '{"score": 1, "detail": "good", "data": {"words": 3}}'`,
    code: 0,
    document: { status: 'scored', score: 1, passed: true, detail: 'good', data: { words: 3 } },
    stdout: '1: good\n',
  },
  {
    title: 'a lower score does not pass without bounds, but is an answer',
    line: `score --params '{"score": 0.99, "detail": "good"}'`,
    code: 0,
    document: { ...scored, score: 0.99, passed: false, detail: 'good' },
    stdout: '0.99: good\n',
  },
  {
    title: 'a score on its lower bound passes',
    line: 'score --params @params.json --min-score 0.25',
    code: 0,
    document: { ...scored, score: 0.25, passed: true },
    stdout: '0.25 passed\n',
  },
  {
    title: 'a score below its lower bound fails',
    line: 'score --params @params.json --min-score 0.26',
    code: 1,
    document: { ...scored, score: 0.25, passed: false },
    stdout: '0.25 not passed\n',
  },
  {
    title: 'a score above its upper bound fails',
    line: 'server --max-score 0.7',
    code: 1,
    document: { ...scored, score: 0.75, passed: false, detail: 'three of four' },
    stdout: '0.75 not passed: three of four\n',
  },
  {
    title: 'an upper bound alone asks for no minimum',
    line: `score --params '{"score": 0}' --max-score 0.4`,
    code: 0,
    document: { ...scored, score: 0, passed: true },
    stdout: '0 passed\n',
  },
  {
    title: 'an eval that says why it has no score is unscored',
    line: `score --params '{"error": "no judge today", "score": 1}'`,
    code: 1,
    document: {
      ...{ status: 'unscored', reason: 'no judge today', passed: false },
      error: { code: 'EVAL_ERROR', message: 'no judge today', hint: expect.any(String) },
    },
    stdout: 'unscored: [EVAL_ERROR] eval "score": no judge today\n',
    stderr: expect.stringMatching(/^hint: .*\n$/),
  },
  {
    title: 'an abstention is unscored',
    line: `score --params '{"abstain": "no judge today"}'`,
    code: 1,
    document: { status: 'unscored', reason: 'no judge today', passed: false },
    stdout: 'unscored: no judge today\n',
  },
  {
    title: 'a crash is unscored, whatever the bounds, and carries its fault',
    line: 'crash --max-score 0.5',
    code: 1,
    document: {
      ...{ status: 'unscored', reason: crashed, passed: false },
      error: {
        ...{ code: 'PROCESS_EXIT', message: crashed, hint: 'Correct the program: its stderr says why.' },
        details: expect.any(Object),
      },
    },
    stdout: expect.stringMatching(/^unscored: \[PROCESS_EXIT\] .*rules\.txt: no such file\n$/),
    stderr: 'hint: Correct the program: its stderr says why.\n',
  },
])(
  'eval call: $title [DS-CLI-09 DS-EXIT-02 DS-JSON-05 DS-JSON-06 DS-JSON-08]',
  async ({ line, code, document, stdout, stderr = '' }, { expect }) => {
    const called = `eval call ${line} --content x --log-level silent`;
    expect(await runBothWays(called, { cwd: desk })).toEqual({
      people: { code, stdout, stderr },
      programs: { code, document, stderr: '' },
    });
  },
);

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

test.concurrent.for([
  ['text', 'Yes.\n', ''],
  ['@FILE', '@answer.txt', ''],
  ['- for stdin', '-', 'Yes.\n'],
] as const)(
  '--content takes %s, and --context the surrounding context [DS-CLI-08]',
  async ([, content, stdin], { expect }) => {
    const called = ['eval', 'call', 'stdin', '--content', content, '--context', '@context.json'];
    const { document } = await runJson(called, { cwd: request, stdin });
    const sent =
      '{"type":"stdin","params":{},"content":"Yes.\\n","context":{"messages":[],"turn_index":7,"tool_calls":[],"variables":{},"metadata":{}}}\n';
    expect(document).toMatchObject({ status: 'unscored', reason: sent, passed: false });
  },
);

test.concurrent.for([
  ['a bound above 1', '--min-score 1.5', 'a score bound must be from 0 to 1, not 1.5'],
  ['a bound that is no number', '--max-score high', '--max-score must be a number, not "high"'],
  ['an empty bound', "--max-score ''", '--max-score must be a number, not ""'],
  ['bounds that cross', '--min-score 0.9 --max-score 0.1', '--min-score 0.9 is above --max-score 0.1'],
  ['params that are no object', `--params '"x"'`, '--params is not a JSON object'],
  [
    'a context that is no JSON',
    "--context '{turn_index: 1}'",
    expect.stringMatching(/^--context is not JSON: /),
  ],
  ['stdin for two options', '--params - --content -', '--params has already read stdin, so --content cannot'],
] as const)('eval call with %s exits 2 [DS-CLI-08 DS-CLI-12]', async ([, line, message], { expect }) => {
  const called = `eval call score --content x ${line}`;
  const { code, document } = await runJson(called, { cwd: desk, stdin: '{}' });
  const error = { code: 'USAGE', message, hint: expect.any(String) };
  expect({ code, document }).toEqual({ code: 2, document: { error } });
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

const unusable = expect.stringMatching(
  /^demo: error, 1 invalid row\n {2}invalid row: \[DATASET_INVALID\] rows\.jsonl:2 the line is not JSON.*\n {4}hint: .*\n$/,
);
const table = (shown: RegExp) => expect.stringMatching(shown);

test.concurrent.for([
  {
    title: 'passes with its gate',
    line: 'gated.suite.yaml',
    code: 0,
    document: {
      ...{ status: 'passed', cases: 2 },
      evals: {
        quality: { ...stats(2, 1, 0.75), tags: { delivery: stats(1, 0, 0.5), shop: stats(1, 1, 1) } },
      },
      gates: [{ eval: 'quality', metric: 'pass_rate', value: 0.5, min: 0.5, max: null, passed: true }],
    },
    stdout: table(/^demo: passed\n.*\nquality +2 +1 .*✓ quality: pass_rate 0\.5/s),
  },
  {
    title: 'fails without gates when an assertion fails',
    line: 'strict.suite.yaml',
    code: 1,
    document: { status: 'failed', cases: 2, gates: [] },
    stdout: table(
      /^demo: failed\n.*1 failure:\n {2}strict\.suite\.yaml:9 {2}case two, quality: score 0\.5\n/s,
    ),
    stderr: 'demo: failed, 1 of 2 cases did not pass\n',
  },
  {
    title: 'is an error when a row cannot be used, and says which',
    line: 'rows.suite.yaml',
    code: 2,
    document: {
      ...{ status: 'error', cases: 1, problem_count: 1 },
      problems: [expect.objectContaining({ file: 'rows.jsonl', line: 2, column: 1 })],
    },
    stdout: table(/^demo: error\n.*1 invalid row:\n {2}rows\.jsonl:2 {2}the line is not JSON/s),
    stderr: unusable,
  },
  {
    title: 'takes another dataset',
    line: 'rows.suite.yaml --dataset good.jsonl',
    code: 0,
    document: { status: 'passed', cases: 1 },
    stdout: table(/^demo: passed\n/),
  },
  {
    title: 'runs on the runtime that --config names instead of its own',
    line: 'nowhere.suite.yaml --config other.yaml',
    code: 0,
    document: { status: 'passed', cases: 2 },
    stdout: table(/^demo: passed\n/),
  },
])(
  'a suite $title [DS-CLI-01 DS-CLI-02 DS-CLI-08 DS-SUITE-07]',
  async ({ line, code, document, stdout, stderr = '' }, { expect }) => {
    const its = { run_id: expect.any(String), suite: 'demo', duration_ms: expect.any(Number) };
    const ran = await runJson(`eval run ${line}`, { cwd: suites });
    expect(ran).toMatchObject({ code, document: { ...its, ...document }, stderr });
    expect(await run(`eval run ${line} --quiet`, { cwd: suites })).toEqual({ code, stdout, stderr });
  },
);

test.concurrent('a suite reads a dataset from stdin [DS-CLI-08]', async ({ expect }) => {
  const stdin = '{"id": "four", "score": 1, "topic": "shop"}\n';
  const ran = await runJson('eval run strict.suite.yaml --dataset -', { cwd: suites, stdin, binary: true });
  expect(ran).toMatchObject({ code: 0, document: { status: 'passed', cases: 1 }, stderr: '' });
});

test.concurrent.for([
  {
    title: 'that is not there',
    line: 'none.suite.yaml',
    error: { code: 'FILE_UNREADABLE', message: 'none.suite.yaml does not exist' },
  },
  {
    title: 'whose runtime is not there',
    line: 'nowhere.suite.yaml',
    error: {
      code: 'FILE_UNREADABLE',
      message: 'nowhere.suite.yaml:6:12 runtime: nowhere.yaml does not exist',
    },
  },
  {
    title: 'with an eval that its runtime lacks',
    line: 'mistyped.suite.yaml',
    error: {
      ...{ code: 'CONFIG_INVALID', message: 'mistyped.suite.yaml has a problem' },
      problems: [
        {
          ...{ severity: 'error', file: 'mistyped.suite.yaml', line: 12, column: 27 },
          message: 'evals[0].type: no eval named scor is declared',
          hint: 'did you mean `score`?',
        },
      ],
    },
  },
  {
    title: 'that is a RuntimeConfig',
    line: 'runtime.yaml',
    error: {
      ...{ code: 'CONFIG_INVALID', message: expect.any(String) },
      problems: expect.arrayContaining([
        expect.objectContaining({ message: 'kind: must be EvalSuite (got: RuntimeConfig)' }),
      ]),
    },
  },
  {
    title: 'with a dataset that is not there',
    line: 'strict.suite.yaml --dataset none.jsonl',
    error: { code: 'FILE_UNREADABLE', message: 'none.jsonl does not exist' },
  },
])('a suite $title exits 2 [DS-CLI-12 DS-JSON-09]', async ({ line, error }, { expect }) => {
  const { code, document } = await runJson(`eval run ${line}`, { cwd: suites });
  expect({ code, document }).toEqual({
    code: 2,
    document: { error: { ...error, hint: expect.any(String) } },
  });
});

const runOfNothing = `${JSON.stringify({ type: 'run', ...headerOf() })}\n`;

test.concurrent.for([
  {
    title: 'over its dataset',
    args: ['run', 'over.suite.yaml', '--dataset', 'over.jsonl', '--reporter', 'jsonl=over.jsonl'],
    error: { code: 'USAGE', message: 'the report would overwrite over.jsonl, which is its dataset' },
  },
  {
    title: 'of a run over that run',
    args: ['html', 'over.jsonl', '--output', 'over.jsonl'],
    error: {
      code: 'USAGE',
      message: 'the report would overwrite over.jsonl, which is the run to show',
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

test.concurrent('a suite’s files are relative to the suite, whatever the working directory', async ({
  expect,
}) => {
  const file = join(suites, 'rows.suite.yaml');
  const { code, stdout } = await run(['eval', 'run', file], { cwd: desk });
  expect({ code, stdout }).toEqual({
    code: 2,
    stdout: expect.stringContaining(`${join(suites, 'rows.jsonl')}:2  the line is not JSON`),
  });
});
