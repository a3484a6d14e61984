import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { findSurvivors } from '../../leaks.ts';
import { header, runVitest, startVitest, suite, type Tested, testFile, writeProject } from './project.ts';

const example = join(import.meta.dirname, '../../../examples/vitest');
const read = (name: string): string => readFileSync(join(example, name), 'utf8');

const runtime = `${header}RuntimeConfig
metadata: {name: demo}
spec:
  evals:
    crash: {command: ./crash.sh}
    hang: {command: ./hang.sh}
    note: {command: ./note.sh}
`;

const base = {
  'runtime.yaml': runtime,
  'crash.sh': '#!/bin/sh\necho no model here >&2\nexit 3\n',
  'hang.sh': '#!/bin/sh\necho $$ > hanging\nsleep 300\n',
  'note.sh': `#!/bin/sh\ngrep -o 'note [a-z]' >> noted\necho '{"score": 1}'\n`,
};

const equal = '{id: exact, type: equals, params: {expected: "${case.wanted}"}}';
const isX = '{id: is_x, type: equals, params: {expected: x}}';
const many = Array.from({ length: 1001 }, (_, index) => ({
  id: `m${index}`,
  content: index === 7 ? 'y' : 'x',
}));

const files = {
  ...base,
  'good.suite.yaml': suite('good', 'cases: [{id: a, content: x}, {id: a, content: x}]', `evals: [${isX}]`),
  'mixed.suite.yaml': suite(
    'mixed',
    'dataset: {path: rows.jsonl}',
    `evals: [${equal}, {id: p, type: contains, params: {patterns: [please]}, role: metric}]`,
  ),
  'rows.jsonl': [
    '{"id": "r1", "content": "Oslo", "wanted": "Oslo"}',
    '{"id": "r2", "content": "Bergen\\nis wet", "wanted": "Oslo\\nis wet"}',
    'nonsense',
    '{"id": "r4", "content": "Oslo"}',
    '{"id": "r5", "content": "Rome", "wanted": "Rome"}',
  ].join('\n'),
  'unscored.suite.yaml': suite(
    'unscored',
    'cases: [{id: a, content: the answer}]',
    'evals: [{id: broken, type: crash, threshold: {min_score: 0.5, max_score: 0.9}}]',
  ),
  'gated.suite.yaml': suite(
    'gated',
    'cases: [{id: a, content: x}, {id: b, content: y}]',
    `evals: [${isX}]`,
    'gates: [{eval: is_x, metric: mean, min: 0.9}, {eval: is_x, metric: mean, min: 0.5}]',
  ),
  'two.suite.yaml': suite(
    'two',
    'cases: [{id: a, content: nowhere}]',
    `evals: [${isX}, {id: far, type: levenshtein, params: {expected: x}, threshold: {min_score: 0.4}}]`,
  ),
  'late.suite.yaml': suite('late', 'cases: [{id: a, content: x}]', 'evals: [{id: h, type: hang}]'),
  'many.suite.yaml': suite('many', 'dataset: {path: many.jsonl}', `evals: [${isX}]`),
  'many.jsonl': many.map((row) => `${JSON.stringify(row)}\n`).join(''),
  'other.yaml': `${header}RuntimeConfig\nmetadata: {name: other}\nspec: {evals: {other: {command: ./note.sh}}}\n`,
  'options.suite.yaml': suite('options', 'cases: [{content: z}]', `evals: [${isX}, {id: o, type: other}]`),
  'other.jsonl': '{"id": "b1", "content": "y", "tags": ["b"]}\n{"id": "c1", "content": "y", "tags": ["c"]}\n',
  'all.test.ts': testFile({
    'good.suite.yaml': '{}',
    'mixed.suite.yaml': '{}',
    'unscored.suite.yaml': '{}',
    'gated.suite.yaml': '{}',
    'two.suite.yaml': '{}',
    'late.suite.yaml': '{ timeoutMs: 500 }',
    'many.suite.yaml': '{}',
    'options.suite.yaml': `{ config: 'other.yaml', dataset: 'other.jsonl', select: { tags: ['b'] }, epochs: 2 }`,
  }),
  'broken.suite.yaml': suite('broken', 'cases: [{id: a}]', 'evals: [{id: e, type: equals, treshold: {}}]'),
  'broken.test.ts': testFile({ 'broken.suite.yaml': '{}' }),
  'empty.test.ts': testFile({ 'good.suite.yaml': `{ select: { filter: 'case.id == "z"' } }` }),
  'example/help-desk.test.js': read('help-desk.test.js'),
  'example/help-desk.suite.yaml': read('help-desk.suite.yaml'),
  'example/runtime.yaml': read('runtime.yaml'),
  'example/brevity.mjs': read('brevity.mjs'),
};

describe('a project with suites among its tests', () => {
  let tested: Tested;
  beforeAll(async () => {
    tested = await runVitest(writeProject(files));
  });

  const testsOf = (name: string, file = 'all.test.ts') =>
    tested.tests
      .filter(([title]) => title.startsWith(`${file} > ${name} > `))
      .map(([title, said]) => `${title.replace(`${file} > ${name} > `, '')}: ${said}`);

  test('its run fails, since some of its suites do', () => {
    expect(tested.exitCode).toBe(1);
  });

  test('the suite of the example passes, one test for each case', () => {
    expect(testsOf('help desk', 'example/help-desk.test.js')).toEqual([
      'opening hours: passed',
      'refund: passed',
    ]);
  });

  test('among cases that differ only in their rows, metrics never fail, and each failure names its row', () => {
    expect(testsOf('mixed')).toEqual([
      'r1: passed',
      `r2: SuiteFailure: case r2 failed
  exact: score 0, wanted at least 1: is not the expected text
    at rows.jsonl:2:1`,
      `rows.jsonl:3: SuiteFailure: rows.jsonl:3 the line is not JSON: Unexpected token 'o', "nonsense" is not valid JSON
    hint: A dataset has one JSON object on each line.
    at rows.jsonl:3:1`,
      expect.stringMatching(
        /^r4: SuiteFailure: rows\.jsonl:4 .*No such key: wanted[\s\S]*at rows\.jsonl:4:1$/,
      ),
      'r5: passed',
    ]);
  });

  test('an expected text is shown as a diff', () => {
    expect(tested.output).toContain('- Expected\n+ Received\n\n- Oslo\n+ Bergen\n  is wet\n');
  });

  test('every failed assertion is reported with its bounds', () => {
    expect(testsOf('two')).toEqual([
      `a: SuiteFailure: case a failed
  is_x: score 0, wanted at least 1: is not the expected text
  far: score 0, wanted at least 0.4: 7 edits in 7 characters
    at two.suite.yaml:6:1`,
    ]);
  });

  test('an eval without a score fails its case, which shows the judged text', () => {
    expect(testsOf('unscored')).toEqual([
      `a: SuiteFailure: case a failed
  broken: unscored, wanted at least 0.5 and at most 0.9: the process exited with code 3: no model here
    hint: Correct the program: its stderr says why.
  judged: the answer
    at unscored.suite.yaml:6:1`,
    ]);
  });

  test('each gate is a test, and where there are gates a failed case is skipped with its reason', () => {
    expect(testsOf('gated')).toEqual([
      'a: passed',
      'b: skipped',
      'gate is_x: mean at least 0.9: SuiteFailure: gate is_x: mean is missed: 0.5, but wanted at least 0.9',
      'gate is_x: mean at least 0.5: passed',
    ]);
    expect(tested.output).toContain(
      '[the gates decide; this case failed, but does not count: case b failed is_x: score 0, wanted at least 1',
    );
  });

  test('a run that takes too long is ended, and its waiting tests fail', () => {
    expect(testsOf('late')).toEqual([
      expect.stringMatching(/^a: RuntimeError: the run of the suite took longer than 500 ms\n/),
    ]);
  });

  test('more than a thousand rows form one test', () => {
    expect(testsOf('many')).toEqual([
      `all cases: SuiteFailure: 1 of 1001 cases failed
  case m7, is_x: score 0: is not the expected text`,
      'all rows are usable: passed',
    ]);
  });

  test('options select the config, the dataset, the cases and the number of epochs', () => {
    expect(testsOf('options')).toEqual([
      `b1: SuiteFailure: case b1 failed
  is_x: score 0, wanted at least 1: 0 of 2 epochs passed: is not the expected text
    at other.jsonl:1:1`,
    ]);
  });

  test('two cases of the same name are two tests', () => {
    expect(testsOf('good')).toEqual(['a: passed', 'a: passed']);
  });

  test('a broken suite, and one without cases, fail before anything runs, and say where', () => {
    expect(tested.broken).toEqual({
      'broken.test.ts': `broken.suite.yaml has a problem
broken.suite.yaml:7:33 evals[0].treshold: unknown key
    hint: did you mean \`threshold\`?`,
      'empty.test.ts': 'good.suite.yaml: the dataset has no rows, or none was selected',
    });
  });
});

test('a suite that runs in part does not judge the other cases', async () => {
  const cases =
    'cases: [{id: first, content: note a}, {id: second, content: note b}, {id: third, content: note c}]';
  const folder = writeProject({
    ...base,
    'part.suite.yaml': suite('part', cases, 'evals: [{id: n, type: note}]'),
    'part.test.ts': testFile({ 'part.suite.yaml': '{}' }),
  });
  const { exitCode, tests } = await runVitest(folder, '-t', 'second');
  expect({ exitCode, tests, noted: readFileSync(join(folder, 'noted'), 'utf8') }).toEqual({
    exitCode: 0,
    tests: [
      ['part.test.ts > part > first', 'skipped'],
      ['part.test.ts > part > second', 'passed'],
      ['part.test.ts > part > third', 'skipped'],
    ],
    noted: 'note b\n',
  });
});

test('an interrupted vitest leaves no process behind', async () => {
  const folder = writeProject({
    ...base,
    'hang.suite.yaml': suite('hang', 'cases: [{id: a, content: x}]', 'evals: [{id: h, type: hang}]'),
    'hang.test.ts': testFile({ 'hang.suite.yaml': '{}' }),
  });
  const started = startVitest(folder);
  const hanging = () =>
    findSurvivors(process.env['TMPDIR'] ?? '').filter(({ command }) => command.includes('hang.sh'));
  await until(() => hanging().length > 0);
  // Like Ctrl-C on a terminal: every process of the group gets the signal.
  process.kill(-started.pid, 'SIGINT');
  expect(await started.ended).toBe(130);
  await until(() => hanging().length === 0);
  expect(hanging()).toEqual([]);
});

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 600 && !condition(); turn += 1) await sleep(25);
}
