import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { validateFile } from '../src/check-file.ts';
import { formatProblem } from '../src/config/problem.ts';

const folder = mkdtempSync(join(tmpdir(), 'check-'));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const fallback = write(
  'runtime.yaml',
  `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools: {lookup: {exec: {command: sh}}}
  evals: {polite: {command: sh}}
  providers: [{id: main, type: openai, model: scripted}]
`,
);
write('broken.yaml', 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {concurrency: 0}\n');

function problemsOf(text: string): readonly string[] {
  const file = write('x.yaml', text);
  return validateFile(file, fallback).map((problem) =>
    formatProblem(problem)
      .replaceAll(`${file}:`, '')
      .replaceAll(`${folder}/`, '')
      .replace('\n    hint: ', ' | '),
  );
}

const head = (kind: string) => `apiVersion: signalbox/v1\nkind: ${kind}\nspec:\n`;

describe('a pipeline', () => {
  const steps = '  steps: [{id: a, tool: lokup}, {id: b, eval: polite, content: x}]\n';

  test('is checked against the runtime that it names, or else the one given', () => {
    const expected = 'steps[0].tool: no tool named lokup is declared | did you mean `lookup`?';
    expect(problemsOf(`${head('Pipeline')}${steps}`)).toEqual([`4:25 ${expected}`]);
    expect(problemsOf(`${head('Pipeline')}  runtime: ./runtime.yaml\n${steps}`)).toEqual([
      `5:25 ${expected}`,
    ]);
  });

  test('whose runtime is broken is told of that, and its names are unchecked', () => {
    expect(problemsOf(`${head('Pipeline')}  runtime: ./broken.yaml\n${steps}`)).toEqual([
      '4:12 warning: runtime: broken.yaml has an error, so the names in its steps are unchecked | Run `signalbox validate ' +
        'broken.yaml`.',
    ]);
  });

  test('whose runtime is not there is told of that once', () => {
    expect(problemsOf(`${head('Pipeline')}  runtime: ./nowhere.yaml\n${steps}`)).toEqual([
      '4:12 warning: runtime: nowhere.yaml does not exist',
    ]);
  });
});

describe('the kind of a file', () => {
  test.each([
    {
      title: 'that is unknown is told with those that there are',
      text: 'apiVersion: signalbox/v1\nkind: Arena\nspec: {anything: 1}\n',
      problems: ['2:7 kind: must be one of: RuntimeConfig, EvalSuite, Pipeline (got: Arena)'],
    },
    {
      title: 'that is missing is told with those that there are',
      text: 'apiVersion: signalbox/v1\n',
      problems: ['1:1 kind: must be one of: RuntimeConfig, EvalSuite, Pipeline'],
    },
    {
      title: 'that is unknown does not hide what else is wrong with the YAML',
      text: 'kind: Arena\na: 1\na: 2\n',
      problems: [
        '1:7 kind: must be one of: RuntimeConfig, EvalSuite, Pipeline (got: Arena)',
        '3:1 the key `a` stands twice in one mapping',
      ],
    },
    {
      title: 'that is misspelt decides what the file is checked as: a pipeline',
      text: `${head('pipelines')}  steps: [{id: a}]\n`,
      problems: [
        '2:7 kind: must be Pipeline (got: pipelines)',
        '4:11 steps[0]: needs one of: tool, eval, chat, parallel, steps',
      ],
    },
    {
      title: 'that is misspelt decides what the file is checked as: a suite',
      text: `${head('EvalSuit')}  cases: [{content: x}]\n  evals: [{id: a, type: polit}]\n`,
      problems: [
        '2:7 kind: must be EvalSuite (got: EvalSuit)',
        '5:25 evals[0].type: no eval named polit is declared | did you mean `polite`?',
      ],
    },
    {
      title: 'that is misspelt decides what the file is checked as: a config',
      text: `${head('RuntimeConfg')}  concurrency: 0\n`,
      problems: ['2:7 kind: must be RuntimeConfig', '4:16 concurrency: must be at least 1 (got: 0)'],
    },
    {
      title: 'of no mapping at all is no matter',
      text: '- a\n',
      problems: ['1:1 must be a mapping, not a list'],
    },
  ])('$title', ({ text, problems }) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

test('a file that is not there is one problem', () => {
  expect(validateFile(join(folder, 'none.yaml'), fallback)).toEqual([
    expect.objectContaining({
      severity: 'error',
      line: 1,
      column: 1,
      message: expect.stringContaining('does not exist'),
    }),
  ]);
});
