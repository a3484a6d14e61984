import { describe, expect, test } from 'vitest';
import { loadSpec, run } from '../support.ts';
import { readFile, summarize } from './support.ts';

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();

describe('exports of spreadsheets', () => {
  test.each([
    { title: 'UTF-16 with its mark', bytes: Buffer.from('\ufeffid,city\r\n1,Zürich\r\n', 'utf16le') },
    { title: 'UTF-16 the other way round', bytes: utf16be('\ufeffid,city\r\n1,Zürich\r\n') },
    { title: 'UTF-16 without a mark', bytes: Buffer.from('id,city\r\n1,Zürich\r\n', 'utf16le') },
    { title: 'UTF-16 the other way round, without a mark', bytes: utf16be('id,city\n1,Zürich\n') },
    { title: 'UTF-8 with a mark', bytes: Buffer.from('\ufeffid,city\n1,Zürich\n') },
  ])('is read: $title', async ({ bytes }) => {
    expect((await readFile('rows.csv', bytes)).map(summarize)).toEqual([
      [1, 2, '{"id":"1","city":"Zürich"}'],
    ]);
  });

  test('are reported as Latin-1 if they are', async () => {
    const [row] = await readFile('rows.csv', Buffer.from('id,city\n1,Zürich\n', 'latin1'));
    expect(row?.content).toEqual({
      usable: false,
      problem: {
        message: 'the row is not valid UTF-8',
        hint: 'It looks like Latin-1 or Windows-1252. Save the dataset as UTF-8, as with `iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW`.',
      },
    });
  });

  test.each([
    { file: 'rows.csv', header: 'id;question;truth', columns: '3 separated by semicolons', wanted: 'commas' },
    { file: 'rows.csv', header: 'id\tquestion', columns: '2 separated by tabs', wanted: 'commas' },
    { file: 'rows.csv', header: 'id|question', columns: '2 separated by bars', wanted: 'commas' },
    { file: 'rows.tsv', header: 'id,question', columns: '2 separated by commas', wanted: 'tabs' },
  ])(
    'are refused where another separator makes one column of $header in $file',
    async ({ file, header, columns, wanted }) => {
      await expect(readFile(file, `${header}\n1\n`)).rejects.toMatchObject({
        code: 'DATASET_INVALID',
        message: expect.stringContaining(
          `${file}:1: the header row is one column, but looks like ${columns}: id, question`,
        ),
        hint: expect.stringContaining(`Save the dataset with ${wanted} between its columns`),
      });
    },
  );
});

test('a missing column is reported with the nearest name and all existing ones', async () => {
  const spec = 'dataset: {path: rows.jsonl}\ncase: {content: "${case.anwser}"}\nevals: [{id: e, type: t}]\n';
  const report = await run(loadSpec(spec, '{"id": 1, "answer": "x", "a b": 2}\n'));
  expect(report.problems).toMatchObject([
    {
      message: '`${case.anwser}` failed: No such key: anwser',
      hint: 'Did you mean case.answer? The row has id, answer, a b. If a key may be missing, write `.?key`.',
    },
  ]);
});

test('text tags are reported once, at the line of the suite', async () => {
  const spec = `dataset: {path: rows.jsonl}
case:
  content: x
  tags: "\${case.topic}"
evals: [{id: e, type: t}]
`;
  const suite = loadSpec(spec, '{"topic": "a"}\n'.repeat(500));
  const told: unknown[] = [];
  const report = await run(suite, {
    reporter: {
      begin: async () => {},
      onCase: async () => {},
      onProblem: async (problem) => void told.push(problem),
      end: async () => {},
    },
  });
  const problem = {
    ...{ file: suite.file, line: 7, column: 1, message: 'case.tags must be a list, but it is text' },
    hint: 'Write it in brackets, as a list of one: tags: ["${case.topic}"].',
  };
  expect(told).toEqual([problem]);
  expect(report).toMatchObject({ status: 'error', cases: 0, problem_count: 500, problems: [problem] });
});
