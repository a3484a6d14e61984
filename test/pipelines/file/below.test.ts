import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatProblem } from '../../../src/base/yaml/problem.ts';
import type { ExecConfig } from '../../../src/config/config.ts';
import { loadPipeline } from '../../../src/pipelines/file/load.ts';

const exec: ExecConfig = {
  command: 'sh',
  args: [],
  runtime: 'exec',
  env: [],
  dialect: 'promptkit',
  position: { file: 'runtime.yaml', line: 1, column: 1 },
};

const head = 'apiVersion: signalbox/v1\nkind: Pipeline\nspec:\n';

function problemsIn(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'below-'));
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), text.startsWith('apiVersion') ? text : head + text);
  const [first = ''] = Object.keys(files);
  const runtime = {
    tools: [{ name: 'act', exec, idempotent: false }],
    evals: [],
    providers: [],
  };
  const { problems } = loadPipeline(join(folder, first), first.startsWith('unsafe') ? runtime : undefined);
  return problems
    .filter(({ severity }) => severity === 'error')
    .map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ''));
}

const step = (file: string, more = '') => `  steps: [{id: a, pipeline: ./${file}${more}}]\n`;
const leaf = '  steps: [{id: t, wait: 1s}]\n';
const schema =
  'type: object, required: [n], additionalProperties: false, properties: {n: {type: integer}, s: {type: string}}';
const strict = `  input: {${schema}}\n${leaf}`;

test.each([
  {
    title: 'itself',
    files: { 'a.yaml': step('a.yaml') },
    told: ['a.yaml:4:29 steps[0].pipeline: ./a.yaml runs itself: a.yaml → a.yaml'],
  },
  {
    title: 'itself, by another',
    files: { 'a.yaml': step('b.yaml'), 'b.yaml': step('c.yaml'), 'c.yaml': step('b.yaml') },
    told: ['c.yaml:4:29 steps[0].pipeline: ./b.yaml runs itself: b.yaml → c.yaml → b.yaml'],
  },
  {
    title: 'a file that is not there',
    files: { 'a.yaml': step('refnd.yaml'), 'refund.yaml': leaf },
    told: ['a.yaml:4:29 steps[0].pipeline: refnd.yaml does not exist'],
    hint: 'did you mean `refund.yaml`?',
  },
  {
    title: 'a file of another kind',
    files: {
      'a.yaml': step('r.yaml'),
      'r.yaml': 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n',
    },
    told: ['a.yaml:4:29 steps[0].pipeline: r.yaml has the kind RuntimeConfig'],
  },
  {
    title: 'a pipeline with mistakes, twice',
    files: {
      'a.yaml': '  steps: [{id: a, pipeline: ./b.yaml}, {id: b, pipeline: ./b.yaml}]\n',
      'b.yaml': '  steps: [{id: t, wait: soon}]\n',
    },
    told: ['b.yaml:4:25 steps[0].wait:'],
  },
  {
    title: 'an input that can never fit',
    files: { 'a.yaml': step('b.yaml', ', input: {n: five, s: "${input.s}"}'), 'b.yaml': strict },
    told: ['a.yaml:4:50 steps[0].input.n: does not fit the pipeline’s input: must be integer'],
  },
  {
    title: 'an input that lacks a key',
    files: { 'a.yaml': step('b.yaml'), 'b.yaml': strict },
    told: ['a.yaml:4:11 steps[0].input.n: is required by the pipeline’s input'],
  },
  {
    title: 'another runtime',
    files: { 'a.yaml': `  runtime: ./x.yaml\n${step('b.yaml')}`, 'b.yaml': `  runtime: ./y.yaml\n${leaf}` },
    told: ['a.yaml:5:29 steps[0].pipeline: b.yaml has the runtime y.yaml, but this file has x.yaml'],
  },
  {
    title: 'a key of its view that there is not',
    files: { 'a.yaml': `${step('b.yaml')}  output: "\${steps.a.outptu}"\n`, 'b.yaml': leaf },
    told: ['a.yaml:5:11 output: `steps.a` has no `outptu`'],
  },
  {
    title: 'input of a step that runs no pipeline',
    files: { 'a.yaml': '  steps: [{id: a, wait: 1s, input: {}}]\n' },
    told: ['a.yaml:4:29 steps[0].input: belongs to a step with `pipeline`'],
  },
])('$title is reported with its place', ({ files, told, hint }) => {
  const found = problemsIn(files);
  expect(found).toHaveLength(told.length);
  for (const [place, problem] of found.entries()) expect(problem).toContain(told[place]);
  if (hint !== undefined) expect(found.join()).toContain(hint);
});

test('a pipeline whose calls must not be repeated is not retried', () => {
  const found = problemsIn({
    'unsafe.yaml': step('b.yaml', ', retry: {max: 1}'),
    'b.yaml': '  steps: [{id: t, tool: act}]\n',
  });
  expect(found.filter((each) => each.includes('steps[0].retry'))).toHaveLength(1);
});

test('sixteen levels of nesting are allowed, and a circular link is refused', () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, at) => [`${at}.yaml`, at === length - 1 ? leaf : step(`${at + 1}.yaml`)]),
    );
  expect(problemsIn(chain(16))).toEqual([]);
  expect(problemsIn(chain(17))).toEqual([expect.stringContaining('15.yaml:4:29')]);
  const folder = mkdtempSync(join(tmpdir(), 'below-'));
  symlinkSync(folder, join(folder, 'again'));
  writeFileSync(join(folder, 'a.yaml'), head + step('again/a.yaml'));
  const { problems } = loadPipeline(join(folder, 'a.yaml'), undefined);
  expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(1);
});
