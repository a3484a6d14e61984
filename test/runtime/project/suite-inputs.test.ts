import { existsSync, linkSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { loadInputs, loadResults } from '../../../src/runtime/runtime.ts';
import { config, folderOf, suite } from '../../cli/command-line.ts';
import { newTextSink } from '../../suites/report/reports.ts';

const files = {
  'runtime.yaml': config(`tools:
  answer: {exec: {command: sh, args: [-c, answer.sh, later.txt], cwd: sub}}
evals:
  grade: {command: ./grade.sh}
hooks:
  guard: {command: sh, args: [guard.sh], hook: provider}
`),
  'demo.suite.yaml': suite(`runtime: ./runtime.yaml
dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: x}
evals: [{id: e, type: grade}]
`),
  'rows.jsonl': '{"id":"a"}\n',
  'parts/one.csv': 'id\na\n',
  'parts/two.csv': 'id\nb\n',
  'old.cassette': '',
  'grade.sh': '#!/bin/sh\n',
  'guard.sh': '#!/bin/sh\n',
  'sub/answer.sh': '#!/bin/sh\n',
};

async function report(
  folder: string,
  file: string,
  { dataset, record, replay }: { dataset?: string; record?: string; replay?: string } = {},
): Promise<void> {
  const at = (name: string | undefined) => (name === undefined ? undefined : join(folder, name));
  const { findSuiteInputs } = await loadInputs();
  const { openDelivery } = await loadResults();
  const inputs = await findSuiteInputs(join(folder, 'demo.suite.yaml'), {
    config: join(folder, 'runtime.yaml'),
    dataset: at(dataset),
    cassette: { record: at(record), replay: at(replay) },
  });
  const stdout = newTextSink();
  const delivery = await openDelivery([{ name: 'jsonl', file: join(folder, file) }], { stdout, inputs });
  await delivery.abort();
}

test.each([
  { file: 'demo.suite.yaml', what: 'the suite' },
  { file: 'runtime.yaml', what: 'its config' },
  { file: 'rows.jsonl', what: 'its dataset' },
  { file: 'parts/two.csv', what: 'its dataset', asked: { dataset: 'parts/*.csv' } },
  { file: 'old.cassette', what: 'the cassette', asked: { replay: 'old.cassette' } },
  { file: 'new.cassette', what: 'the cassette', asked: { record: 'new.cassette' } },
  { file: 'sub/../new.cassette', what: 'the cassette', asked: { record: 'new.cassette' } },
  { file: 'grade.sh', what: 'a program of "grade"' },
  { file: 'guard.sh', what: 'a program of "guard"' },
  { file: 'sub/answer.sh', what: 'a program of "answer"' },
])('no report overwrites $file, which is $what', async ({ file, what, asked }) => {
  const folder = folderOf(files);
  const path = join(folder, file);
  const before = readdirSync(folder);
  await expect(report(folder, file, asked)).rejects.toMatchObject({
    code: 'USAGE',
    message: `the report would overwrite ${path}, which is ${what}`,
    hint: 'Choose another file for the report; nothing was written.',
  });
  expect(readdirSync(folder)).toEqual(before);
  const known = Object.entries(files).map(([name]) => readFileSync(join(folder, name), 'utf8'));
  expect(known).toEqual(Object.values(files));
});

test.each([
  { title: 'symbolic', link: symlinkSync },
  { title: 'hard', link: linkSync },
])('a $title link to an input counts as the input', async ({ link }) => {
  const folder = folderOf(files);
  link(join(folder, 'rows.jsonl'), join(folder, 'link.jsonl'));
  await expect(report(folder, 'link.jsonl')).rejects.toMatchObject({ code: 'USAGE' });
  expect(readFileSync(join(folder, 'rows.jsonl'), 'utf8')).toBe(files['rows.jsonl']);
});

test('the pipeline of a suite is an input', async () => {
  const folder = folderOf({
    ...files,
    'flow.pipeline.yaml':
      'apiVersion: signalbox/v1\nkind: Pipeline\nspec:\n  steps: [{id: a, tool: answer, args: {}}]\n',
    'demo.suite.yaml': suite(`runtime: ./runtime.yaml
dataset: {path: rows.jsonl}
subject: {pipeline: flow.pipeline.yaml, input: {}}
evals: [{id: e, type: grade}]
`),
  });
  await expect(report(folder, 'flow.pipeline.yaml')).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('which is the pipeline of its subject'),
  });
});

test.each([
  { title: 'a dataset that is not read', file: 'rows.jsonl', asked: { dataset: 'parts/one.csv' } },
  { title: 'a file that only has the name of an input', file: 'new/rows.jsonl', asked: {} },
  { title: 'what is named by an argument and is not there', file: 'sub/later.txt', asked: {} },
])('a report may be written to $title', async ({ file, asked }) => {
  const folder = folderOf(files);
  await report(folder, file, asked);
  expect(readFileSync(join(folder, file), 'utf8')).toBe('');
});

test('a device is no input', async () => {
  const folder = folderOf(files);
  symlinkSync('/dev/null', join(folder, 'null'));
  await report(folder, 'null', { dataset: 'null' });
  expect(existsSync(join(folder, 'null'))).toBe(true);
});

test('paths may be relative, and the dataset stdin', async () => {
  const folder = folderOf(files);
  const near = (name: string) => relative('.', join(folder, name));
  const { findSuiteInputs } = await loadInputs();
  const options = { config: near('runtime.yaml'), dataset: '-' };
  expect((await findSuiteInputs(near('demo.suite.yaml'), options)).slice(0, 3)).toEqual([
    { file: near('demo.suite.yaml'), what: 'the suite' },
    { file: near('runtime.yaml'), what: 'its config' },
    { file: '/dev/stdin', what: 'its dataset' },
  ]);
});
