import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { config, folderOf, run } from './command-line.ts';

function suiteOf(name: string, words: readonly string[], spec = ''): string {
  const cases = words.map((word, at) => `{id: c${at}, content: ${JSON.stringify(word)}}`).join(', ');
  return `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: ${name}}
spec:
  runtime: ./runtime.yaml
  cases: [${cases}]
  evals: [{id: says_yes, type: contains, params: {patterns: ["yes"]}}]
${spec}`;
}

const runtime = config('state_store: {type: memory}\n');
const good = suiteOf('good', ['yes', 'oh yes']);
const bad = suiteOf('bad', ['yes', '=no, "quoted"']);
const broken = `${suiteOf('broken', ['yes'])}  evlas: []\n`;

const three = () =>
  folderOf({ 'runtime.yaml': runtime, 'good.yaml': good, 'bad.yaml': bad, 'broken.yaml': broken });
const evalRun = (...args: string[]) => ['eval', 'run', ...args];

describe('which suites run', () => {
  test('a folder runs its files of kind EvalSuite in path order, including broken ones [DS-SEVERAL-01]', async () => {
    const cwd = folderOf({
      'runtime.yaml': runtime,
      'suites/z.yaml': good.replace('./runtime', '../runtime'),
      'suites/deep/a.yml': bad.replace('./runtime', '../../runtime'),
      'suites/deep/b.json': JSON.stringify({ kind: 'EvalSuite', metadata: { name: 'odd' } }),
      'suites/half.yaml': 'kind: EvalSuite\nspec: {evals: [\n',
      'suites/.hidden/c.yaml': good,
      'suites/node_modules/d.yaml': good,
      'suites/rows.json': '[{"kind": "row"}]',
      'suites/a.pipeline.yaml': 'kind: Pipeline\n',
    });
    const { code, stdout } = await run(evalRun('suites', '--json'), { cwd });
    const { suites, ...counts } = JSON.parse(stdout);
    expect({ code, ...counts }).toMatchObject({ code: 2, status: 'error', passed: 1, failed: 1, errors: 2 });
    expect(suites.map(({ suite, file, status }: Record<string, unknown>) => [suite, file, status])).toEqual([
      ['bad', 'suites/deep/a.yml', 'failed'],
      ['b', 'suites/deep/b.json', 'error'],
      ['half', 'suites/half.yaml', 'error'],
      ['good', 'suites/z.yaml', 'passed'],
    ]);
  });

  test('a folder without suites and a missing folder are errors [DS-SEVERAL-01]', async () => {
    const cwd = folderOf({ 'runtime.yaml': runtime, 'suites/rows.json': '[]' });
    for (const folder of ['suites', 'nowhere']) {
      const { code, stdout } = await run(evalRun(folder, '--json'), { cwd });
      expect({ code, error: JSON.parse(stdout).error.code }).toEqual({ code: 2, error: 'FILE_UNREADABLE' });
    }
  });

  test('a suite that is given twice runs once', async () => {
    const cwd = folderOf({ 'runtime.yaml': runtime, 'good.yaml': good });
    const { stdout } = await run(evalRun('good.yaml', '.', './good.yaml', '--json'), { cwd });
    expect(JSON.parse(stdout).suites).toHaveLength(1);
  });

  test('two suites of one name are refused [DS-SEVERAL-02]', async () => {
    const cwd = folderOf({ 'runtime.yaml': runtime, 'a.yaml': good, 'b.yaml': good });
    const { code, stderr } = await run(evalRun('.', '--reporter', 'csv=all.csv'), { cwd });
    expect({ code, written: existsSync(join(cwd, 'all.csv')) }).toEqual({ code: 2, written: false });
    expect(stderr).toContain('several suites are named "good": a.yaml and b.yaml');
  });

  test.each([[['--resume', 'abcd']], [['--dataset', '-']]])(
    '%j applies to one run only, and is refused',
    async (more) => {
      expect((await run(evalRun('.', ...more), { cwd: three() })).code).toBe(2);
    },
  );
});

test('a suite that cannot run is reported with its line, and the others run [DS-SEVERAL-03]', async () => {
  const { code, stdout, stderr } = await run(evalRun('broken.yaml', 'good.yaml', 'bad.yaml'), {
    cwd: three(),
  });
  expect(code).toBe(2);
  expect(stderr).toContain('broken: error, [CONFIG_INVALID]');
  expect(stderr).toMatch(/broken\.yaml:8:3/);
  expect(stderr).toContain('bad: failed, 1 of 2 cases did not pass');
  expect(stdout).toMatch(
    /^suite {3}status {2}cases {2}passed {2}pass rate +time\nbroken {3}error\ngood {4}passed/m,
  );
  expect(stdout).toMatch(/1 of 3 suites passed, 1 failed, 1 ended with an error in /);
});

test('exit codes: all passed, one failed, one with an error', async () => {
  const codes = [['good.yaml', 'good.yaml', '.'], ['good.yaml', 'bad.yaml'], ['.']];
  const cwd = three();
  const only = folderOf({ 'runtime.yaml': runtime, 'good.yaml': good });
  expect((await run(evalRun(...(codes[0] ?? [])), { cwd: only })).code).toBe(0);
  expect((await run(evalRun(...(codes[1] ?? [])), { cwd })).code).toBe(1);
  expect((await run(evalRun(...(codes[2] ?? [])), { cwd })).code).toBe(2);
});

test('each report format contains all suites [DS-SEVERAL-04]', async () => {
  const cwd = three();
  const forms = ['json', 'jsonl', 'csv', 'junit', 'markdown', 'github', 'sarif', 'html'];
  const outputs = forms.flatMap((form) => ['--reporter', `${form}=out/report.${form}`]);
  expect((await run(evalRun('good.yaml', 'broken.yaml', 'bad.yaml', ...outputs), { cwd })).code).toBe(2);
  const read = (name: string) => readFileSync(join(cwd, 'out', name), 'utf8');
  expect(readdirSync(join(cwd, 'out')).toSorted()).toEqual(
    [...forms.map((form) => `report.${form}`), 'report.bad.html', 'report.good.html'].toSorted(),
  );
  expect(JSON.parse(read('report.json')).suites.map(({ suite }: { suite: string }) => suite)).toEqual([
    'good',
    'broken',
    'bad',
  ]);
  const lines = read('report.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ type }) => type)).toEqual([
    ...['run', 'case', 'case', 'report'],
    ...['run', 'case', 'case', 'report'],
    'suites',
  ]);
  expect(
    read('report.csv')
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(',')[0]),
  ).toEqual(['suite', 'good', 'good', 'bad', 'bad']);
  expect(
    read('report.junit').match(/<testsuites? name="[^"]*" tests="\d+" failures="\d+" errors="\d+"/g),
  ).toEqual([
    '<testsuites name="signalbox" tests="5" failures="1" errors="1"',
    '<testsuite name="good.says_yes" tests="2" failures="0" errors="0"',
    '<testsuite name="bad.says_yes" tests="2" failures="1" errors="0"',
    '<testsuite name="broken.suite" tests="1" failures="0" errors="1"',
  ]);
  const { runs } = JSON.parse(read('report.sarif'));
  expect(
    runs.map((each: { automationDetails: { id: string }; results: unknown[] }) => [
      each.automationDetails.id.split('/')[0],
      each.results.length,
    ]),
  ).toEqual([
    ['good', 0],
    ['bad', 1],
    ['broken', 0],
  ]);
  expect(read('report.markdown')).toMatch(/^### ⚠️ 1 of 3 suites passed, 1 failed, 1 ended with an error\n/);
  expect(read('report.github').match(/^::\w+/gm)).toEqual(['::error', '::error', '::notice', '::notice']);
  const index = read('report.html');
  expect(index).toContain('<a href="report.good.html">good</a>');
  expect(index).toContain('[CONFIG_INVALID]');
  expect(read('report.bad.html')).toContain('<title>bad: eval report</title>');
  const shown = await run('eval html out/report.jsonl --json', { cwd });
  expect(JSON.parse(shown.stdout).error.message).toContain('holds the runs of several suites');
});

test('HTML pages of several suites need a file', async () => {
  const { code, stderr } = await run(evalRun('.', '--reporter', 'html'), { cwd: three() });
  expect(code).toBe(2);
  expect(stderr).toContain('html=FILE');
});

test('a report that cannot be written ends all suites', async () => {
  const { code, stderr } = await run(evalRun('good.yaml', 'bad.yaml', '--reporter', 'csv=/dev/full'), {
    cwd: three(),
  });
  expect(code).toBe(2);
  expect(stderr).toContain('/dev/full cannot be written');
});

test('no report overwrites a suite', async () => {
  const { code, stderr } = await run(evalRun('.', '--reporter', 'csv=broken.yaml'), { cwd: three() });
  expect(code).toBe(2);
  expect(stderr).toContain('the report would overwrite broken.yaml, which is a suite');
});

test('suites of one config share its servers [DS-SEVERAL-05]', async () => {
  const spec = (name: string) =>
    suiteOf(name, ['a', 'b']).replace(/evals: .*/, 'evals: [{id: pid, type: pid, role: metric}]');
  const cwd = folderOf({
    'runtime.yaml': config(
      `state_store: {type: memory}\nconcurrency: 1\nevals: {pid: {script: {python: "{'score': 1, 'detail': str(__import__('os').getpid())}"}, runtime: server}}\n`,
    ),
    'a.yaml': spec('a'),
    'b.yaml': spec('b'),
  });
  const { code } = await run(evalRun('.', '--reporter', 'jsonl=all.jsonl'), { cwd });
  const cases = readFileSync(join(cwd, 'all.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const details = cases.flatMap(
    ({ results }) => results?.map(({ detail }: { detail: string }) => detail) ?? [],
  );
  expect({ code, cases: details.length, processes: new Set(details).size }).toEqual({
    code: 0,
    cases: 4,
    processes: 1,
  });
});
