import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseLossless, stringifyJson } from '../../../../src/base/json/json.ts';
import type { CaseRecord } from '../../../../src/suites/record.ts';
import { reporters } from '../../../../src/suites/report/delivery.ts';
import { toReportDocument } from '../../../../src/suites/report/json.ts';
import { openRunFile } from '../../../../src/suites/report/run-file.ts';
import { caseOf, epochOf, evalResultOf, headerOf, reportOf, written } from '../reports.ts';

const header = headerOf({ total: 3 });
const problem = { file: 'rows.jsonl', line: 2, column: 1, message: 'the line is a list' };
const report = reportOf({ problems: [problem], problem_count: 1 });
const records = [
  caseOf([evalResultOf()]),
  caseOf([evalResultOf({ score: null, passed: false, detail: 'timed\nout \uD800' })], { number: 3, line: 3 }),
];

const write = (cases: readonly CaseRecord[] = records) =>
  written(reporters.jsonl.open, { header, records: cases, problems: [problem], report });

function save(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'jsonl-')), 'run.jsonl');
  writeFileSync(file, text);
  return file;
}

async function readAll(cases: AsyncIterable<CaseRecord>): Promise<CaseRecord[]> {
  return await Array.fromAsync(cases);
}

test('every event is a line with its type', async () => {
  const lines = (await write()).split('\n');
  expect(lines.map((line) => line.slice(0, 16))).toEqual([
    '{"type":"run","r',
    '{"type":"case","',
    '{"type":"case","',
    '{"type":"problem',
    '{"type":"report"',
    '',
  ]);
  expect(JSON.parse(lines[3] ?? '')).toEqual({ type: 'problem', ...problem });
});

test('a run can be read back unchanged any number of times', async () => {
  const run = await openRunFile(save(await write()));
  expect(run.header).toEqual(header);
  expect(run.report).toEqual(report);
  expect(await readAll(run.cases())).toEqual(records);
  expect(await readAll(run.cases())).toEqual(records);
});

test('long numbers keep their digits', async () => {
  const metadata = parseLossless('{"id":12345678901234567890}');
  const epoch = epochOf([evalResultOf()], { metadata: Object.fromEntries(Object.entries(metadata ?? {})) });
  const run = await openRunFile(save(await write([caseOf([evalResultOf()], { epochs: [epoch] })])));
  const [read] = await readAll(run.cases());
  expect(stringifyJson(read?.epochs[0]?.metadata)).toBe('{"id":12345678901234567890}');
});

test('a reader that stops early does not affect the file', async () => {
  const run = await openRunFile(save(await write()));
  for await (const record of run.cases()) {
    expect(record).toEqual(records[0]);
    break;
  }
});

test.each([
  { title: 'in the middle of the report', keep: -20, cases: records },
  {
    title: 'in the middle of the last case',
    keep: -2,
    until: '{"type":"problem',
    cases: records.slice(0, 1),
  },
  { title: 'after a case', keep: undefined, until: '{"type":"problem', cases: records },
])('a run interrupted $title has no report', async ({ keep, until, cases }) => {
  const text = await write();
  const whole = until === undefined ? text : text.slice(0, text.indexOf(until));
  const run = await openRunFile(save(whole.slice(0, keep)));
  expect({ header: run.header, report: run.report }).toEqual({ header, report: undefined });
  expect(await readAll(run.cases())).toEqual(cases);
});

test('a report without its line feed is a report', async () => {
  const run = await openRunFile(save((await write()).trimEnd()));
  expect(run.report).toEqual(report);
});

test('a report longer than one read is found', async () => {
  const failures = Array.from({ length: 20 }, () => ({
    ...{ case: 'r1', file: 'x', line: 1, eval: 'exact', score: 0 },
    detail: '漢字'.repeat(5000),
  }));
  const text = await written(reporters.jsonl.open, { header, report: reportOf({ failures }) });
  expect((await openRunFile(save(text))).report?.failures).toEqual(failures);
});

test('the file of a run in progress can be read', async () => {
  const lines = (await write()).split('\n');
  const file = save(`${lines.slice(0, 2).join('\n')}\n`);
  const run = await openRunFile(file);
  expect(await readAll(run.cases())).toEqual(records.slice(0, 1));
  appendFileSync(file, `${lines[2]}\n`);
  expect(await readAll(run.cases())).toEqual(records);
});

const seeJsonl = 'Run the suite with --reporter jsonl=FILE, and give that file.';
const giveJsonl = 'Give a file that `eval run --reporter jsonl=FILE` wrote.';

test.each([
  {
    title: 'a --json report',
    text: JSON.stringify(toReportDocument(report)),
    says: 'holds the report of a run, but not its cases',
    hint: seeJsonl,
  },
  {
    title: 'a dataset',
    text: '{"id":"r1"}\n',
    says: ':1 does not begin with the header of a run',
    hint: giveJsonl,
  },
  {
    title: 'no JSON',
    text: 'a,b\n1,2\n',
    says: ':1 does not begin with the header of a run',
    hint: giveJsonl,
  },
  { title: 'an empty file', text: '', says: ':1 does not begin with the header of a run', hint: giveJsonl },
  {
    title: 'a run without evals',
    text: '{"type":"run","run_id":"x"}\n',
    says: ':1 does not begin with the header of a run',
    hint: giveJsonl,
  },
])('$title is refused with the next step', async ({ text, says, hint }) => {
  const file = save(text);
  await expect(openRunFile(file)).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringContaining(`${file}${says.startsWith(':') ? '' : ' '}${says}`),
    hint,
  });
});

test.each([
  { title: 'is no JSON', line: '{"type":"case",' },
  { title: 'is no case', line: '{"type":"case","id":"r1"}' },
])('a line in the middle that $title is an error with its number', async ({ line }) => {
  const lines = (await write()).split('\n');
  const file = save(lines.with(1, line).join('\n'));
  const run = await openRunFile(file);
  await expect(readAll(run.cases())).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: `${file}:2 is not a line of a run`,
  });
});

test('lines of a later version are skipped', async () => {
  const lines = (await write()).split('\n');
  const run = await openRunFile(save(lines.toSpliced(1, 0, '{"type":"note","text":"x"}').join('\n')));
  expect(await readAll(run.cases())).toEqual(records);
});

test.each([
  { title: 'is missing', make: () => '/nowhere/run.jsonl', says: '/nowhere/run.jsonl does not exist' },
  { title: 'is a folder', make: () => tmpdir(), says: 'is a folder' },
])('a file that $title is named', async ({ make, says }) => {
  await expect(openRunFile(make())).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringContaining(says),
  });
});
