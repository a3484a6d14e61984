import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import type { CaseRecord } from '../../../src/suites/record.ts';
import { reporters } from '../../../src/suites/report/delivery.ts';
import { caseOf, epochOf, evalResultOf, written } from './reports.ts';

const write = (records: readonly CaseRecord[]) => written(reporters.csv.open, { records });

const error = { code: 'PROCESS_TIMEOUT', message: 'm', hint: 'h' } as const;

test('each case and eval has a line, with numbers as numbers', async () => {
  const good = evalResultOf({ queue_ms: 3.5 });
  const bad = evalResultOf({ eval: 'b', score: null, passed: false, detail: 'timed out, twice', error });
  const text = await write([
    caseOf([good, bad], {
      tags: ['x', 'y'],
      epochs: [epochOf([good, bad]), epochOf([good, bad], { epoch: 2, content: 'other' })],
      score: 0.5,
    }),
  ]);
  expect(text.split('\r\n')).toEqual([
    'number,case,file,line,tags,case_score,case_passed,eval,type,role,score,passed,passed_epochs,epochs,duration_ms,queue_ms,error,detail,content,variant,row,variables',
    '1,r1,rows.jsonl,1,"x;y",0.5,false,exact,final_number,assertion,1,true,1,2,24,7,,,The answer is 42.,,,',
    '1,r1,rows.jsonl,1,"x;y",0.5,false,b,,,,false,0,2,24,,PROCESS_TIMEOUT,"timed out, twice",The answer is 42.,,,',
    '',
  ]);
});

test.each([
  { title: 'a formula', text: '=HYPERLINK("http://example.com")', cell: `'=HYPERLINK("http://example.com")` },
  { title: 'a number with a sign', text: '+1', cell: "'+1" },
  { title: 'a negative number', text: '-1', cell: "'-1" },
  { title: 'a mention', text: '@SUM(A1)', cell: "'@SUM(A1)" },
  { title: 'a tab', text: '\t=1', cell: "'\t=1" },
  { title: 'a line feed', text: '\n=1', cell: "'\n=1" },
  { title: 'a fullwidth sign', text: '＝1', cell: "'＝1" },
  { title: 'an apostrophe before a formula', text: "'=1", cell: "''=1" },
  { title: 'an apostrophe alone', text: "'tis", cell: "'tis" },
  { title: 'a sign inside', text: 'a=1', cell: 'a=1' },
])('$title does not become a spreadsheet formula', async ({ text, cell }) => {
  const records = [caseOf([evalResultOf({ detail: text })], { id: text, file: text, tags: [text] })];
  const [row] = parse(await write(records), { columns: true });
  expect(row).toMatchObject({ case: cell, file: cell, tags: cell, detail: cell, score: '1' });
});

test('the fields of the first row are columns, and further fields are JSON in one column', async () => {
  const first = { question: 'How many, "exactly"?', n: 42, '=cmd': '=1+1', nested: { a: [1] }, none: null };
  const second = { question: 'Why?', extra: '-x', n: JSON.rawJSON('12345678901234567890') };
  const epochs = [epochOf([evalResultOf()], { variables: { tone: 'kind' } })];
  const rows = parse(
    await write([
      caseOf([evalResultOf()], { row: first, epochs }),
      caseOf([evalResultOf()], { row: second }),
    ]),
    { columns: true },
  );
  const own = (row: unknown) =>
    Object.fromEntries(Object.entries(Object(row)).filter(([name]) => /^(row|variables)/.test(name)));
  expect(rows.map(own)).toEqual([
    {
      ...{
        'row.question': 'How many, "exactly"?',
        'row.n': '42',
        'row.=cmd': "'=1+1",
        'row.nested': '{"a":[1]}',
      },
      ...{ 'row.none': '', row: '', variables: '{"tone":"kind"}' },
    },
    {
      ...{ 'row.question': 'Why?', 'row.n': '12345678901234567890', 'row.=cmd': '', 'row.nested': '' },
      ...{ 'row.none': '', row: '{"extra":"-x"}', variables: '' },
    },
  ]);
});

test('a field that is too long for a cell is cut with a note', async () => {
  const row = { page: 'x'.repeat(60_000_000) };
  const [line] = parse(await write([caseOf([evalResultOf()], { row })]), { columns: true });
  const cell = Object(line)['row.page'];
  expect(cell).toHaveLength(32_767);
  expect(cell).toMatch(/x… \(cut: 60000000 characters\)$/);
});
