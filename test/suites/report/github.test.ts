import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SuiteReport } from '../../../src/suites/record.ts';
import { reporters } from '../../../src/suites/report/delivery.ts';
import { reportOf, written } from './reports.ts';

async function write(members: Partial<SuiteReport>): Promise<string[]> {
  const text = await written(reporters.github.open, { report: reportOf(members) });
  return text.trimEnd().split('\n');
}

const failure = { case: 'r1', file: 'rows.jsonl', line: 2, eval: 'exact', score: 0, detail: '' };
const problem = {
  file: 'rows.jsonl',
  line: 4,
  column: 1,
  message: 'the line is a list',
  hint: 'One object.',
};
const gate = { eval: 'exact', metric: 'mean', value: 0.31, min: 0.5, max: null, passed: false };

test('annotations contain no log commands and no invisible characters', async () => {
  const evil = '\u001B[31m\u0000\u202Ex';
  const failures = [{ ...failure, case: evil, eval: evil, detail: evil, file: evil }];
  const lines = await write({ suite: evil, status: 'failed', failures, failure_count: 1 });
  expect(lines[0]).toContain('title=\\u001b[31m\\u0000\\u202ex did not pass::');
  expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('a void run is not reported as an invalid row', async () => {
  const problem = {
    scope: 'run',
    file: 'rows.jsonl',
    line: 1,
    column: 1,
    message: 'the dataset is empty',
  } as const;
  expect(await write({ status: 'error', problems: [problem], problem_count: 1 })).toEqual([
    '::error file=rows.jsonl,line=1,title=the run is invalid::the dataset is empty',
    '::notice file=gsm8k.suite.yaml,line=1,title=gsm8k%3A error::50.00%25 of 4 cases in 2.0 s passed, 1 abstention, the run is invalid',
  ]);
});

test('missed gates, failures and invalid rows are annotations, and a notice summarises', async () => {
  const lines = await write({
    status: 'failed',
    gates: [gate, { ...gate, passed: true }],
    failures: [failure],
    failure_count: 1,
    problems: [problem],
    problem_count: 1,
  });
  expect(lines).toEqual([
    '::error file=gsm8k.suite.yaml,line=1,title=gate missed::exact: mean 0.31, but wanted at least 0.5',
    '::error file=rows.jsonl,line=2,title=exact did not pass::case r1, exact: score 0',
    '::warning file=rows.jsonl,line=4,title=invalid row::the line is a list (One object.)',
    '::notice file=gsm8k.suite.yaml,line=1,title=gsm8k%3A failed::50.00%25 of 4 cases in 2.0 s passed, 1 failure, 1 abstention, 1 invalid row',
  ]);
});

test('failures that the gates tolerate are not errors', async () => {
  const [first] = await write({ status: 'passed', gates: [{ ...gate, passed: true }], failures: [failure] });
  expect(first).toBe('::warning file=rows.jsonl,line=2,title=exact did not pass::case r1, exact: score 0');
});

test('hostile text stays inside its annotation', async () => {
  const evil = '%,:\r\n::error title=x::y';
  const failures = [
    { ...failure, case: evil, file: join(process.cwd(), 'a,b:c%.jsonl'), eval: evil, detail: evil },
  ];
  const lines = await write({ suite: evil, status: 'failed', failures });
  const text = '%25,:%0A::error title=x::y';
  const property = '%25%2C%3A%0A%3A%3Aerror title=x%3A%3Ay';
  expect(lines).toEqual([
    `::error file=a%2Cb%3Ac%25.jsonl,line=2,title=${property} did not pass::case ${text}, ${text}: score 0: ${text}`,
    `::notice file=gsm8k.suite.yaml,line=1,title=${property}%3A failed::50.00%25 of 4 cases in 2.0 s passed, 1 abstention`,
  ]);
});

test.each(['<stdin>', '/data/rows.jsonl'])(
  'a row of no file in the repository is named in the text: %s',
  async (file) => {
    const [first] = await write({ status: 'failed', failures: [{ ...failure, file }] });
    expect(first).toBe(`::error title=exact did not pass::${file}:2: case r1, exact: score 0`);
  },
);

test('each kind has at most ten annotations, gates first', async () => {
  const lines = await write({
    status: 'failed',
    gates: [gate, gate],
    failures: Array.from({ length: 20 }, () => failure),
    problems: Array.from({ length: 20 }, () => problem),
  });
  const kinds = lines.map((line) => /^::(\w+).*title=([a-z]+)/.exec(line)?.slice(1).join(' '));
  expect(kinds).toEqual([
    ...Array.from({ length: 2 }, () => 'error gate'),
    ...Array.from({ length: 8 }, () => 'error exact'),
    ...Array.from({ length: 10 }, () => 'warning invalid'),
    'notice gsm',
  ]);
});
