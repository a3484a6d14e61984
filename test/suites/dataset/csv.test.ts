import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newRecordReader, readSeparated } from '../../../src/suites/dataset/readers.ts';
import { cutBytes, readFile, summarize } from './support.ts';

const read = async (content: string | Uint8Array) => (await readFile('rows.csv', content)).map(summarize);

const whole = [
  {
    title: 'values, which are text',
    content: 'id,score,note\n1,0.50,\n02,true,null\n',
    rows: [
      [1, 2, '{"id":"1","score":"0.50","note":""}'],
      [2, 3, '{"id":"02","score":"true","note":"null"}'],
    ],
  },
  { title: 'nothing', content: '', rows: [] },
  { title: 'a header alone', content: 'a,b', rows: [] },
  { title: 'no line feed at the end', content: 'a,b\n1,2', rows: [[1, 2, '{"a":"1","b":"2"}']] },
  { title: 'carriage returns', content: 'a,b\r\n1,2\r\n', rows: [[1, 2, '{"a":"1","b":"2"}']] },
  {
    title: 'quotes around commas, quotes and line ends, with the row at its first line',
    content: '"a",b\n"x, ""y""","1\n\r\n2"\n"",z\n',
    rows: [
      [1, 2, '{"a":"x, \\"y\\"","b":"1\\n\\r\\n2"}'],
      [2, 5, '{"a":"","b":"z"}'],
    ],
  },
  {
    title: 'blank lines, which count as lines only',
    content: '\n\na,b\n\n1,2\r\n  \n\r\n3,4\n\n',
    rows: [
      [1, 5, '{"a":"1","b":"2"}'],
      [2, 8, '{"a":"3","b":"4"}'],
    ],
  },
  {
    title: 'one column, in which quotes tell an empty field from a blank line',
    content: 'a\n\n""\nx\n""',
    rows: [
      [1, 3, '{"a":""}'],
      [2, 4, '{"a":"x"}'],
      [3, 5, '{"a":""}'],
    ],
  },
  {
    title: 'white space, which stays',
    content: 'a, b \n 1 ,\t2\n',
    rows: [[1, 2, '{"a":" 1 "," b ":"\\t2"}']],
  },
  {
    title: 'names that mean something to JavaScript',
    content: '__proto__,constructor\n1,2\n',
    rows: [[1, 2, '{"__proto__":"1","constructor":"2"}']],
  },
  { title: 'text of any script', content: 'é\n漢字 😀\n', rows: [[1, 2, '{"é":"漢字 😀"}']] },
];

test.each(whole)('reads $title', async ({ content, rows }) => {
  expect(await read(content)).toEqual(rows);
});

test('tabs separate the fields of TSV, and commas do not', async () => {
  expect((await readFile('rows.tsv', 'a\tb\n"1\t2"\t3,4\n')).map(summarize)).toEqual([
    [1, 2, '{"a":"1\\t2","b":"3,4"}'],
  ]);
});

const unusable = [
  { title: 'a field too few', row: 'x', message: 'the row has 1 field, but the header has 2' },
  { title: 'a field too many', row: 'x,y,z', message: 'the row has 3 fields, but the header has 2' },
  { title: 'text behind a quote', row: '"x"y,z', message: 'text follows a closing quote' },
  {
    title: 'a quote inside of a field',
    row: '5" pipe,z',
    message: 'a field that is not quoted contains a quote',
  },
  { title: 'a quote that is never closed', row: '"x,z', message: 'a quote is opened but never closed' },
  { title: 'a byte that is no text', row: '\xff,z', message: 'the row is not valid UTF-8' },
];

test.each(unusable)(
  'a row with $title is unusable, and its neighbours are read',
  async ({ row, message }) => {
    const before = 'a,b\r\n"1\n",2\r\n';
    expect(await read(Buffer.from(`${before}${row}\r\n5,6\r\n\r\n7,8`, 'latin1'))).toEqual([
      [1, 2, '{"a":"1\\n","b":"2"}'],
      [2, 4, message],
      [3, 5, '{"a":"5","b":"6"}'],
      [4, 7, '{"a":"7","b":"8"}'],
    ]);
  },
);

const headers = [
  { title: 'a name twice', header: 'a,b,a', reason: 'two columns have the name "a"' },
  { title: 'a column without a name', header: 'a,,b', reason: 'column 2 has no name' },
  { title: 'a quote in it', header: 'a"b', reason: 'a field that is not quoted contains a quote' },
];

test.each(headers)('a header with $title is DATASET_INVALID', async ({ header, reason }) => {
  await expect(readFile('rows.csv', `\n${header}\n1,2,3\n`)).rejects.toThrow(
    expect.objectContaining({
      code: 'DATASET_INVALID',
      message: expect.stringMatching(new RegExp(`rows\\.csv:2: the header row is invalid: ${reason}$`)),
    }),
  );
});

const mebibyte = 1024 * 1024;

test('an unclosed quote hides a limited part of the file, and later rows are read', () => {
  const reader = newRecordReader(',', mebibyte);
  const found: unknown[] = [...reader.push(Buffer.from('"never\n1\n'))];
  const chunk = Buffer.from(`${'x'.repeat(1023)}\n`);
  let held = 0;
  for (; found.length === 0 && held < 16 * mebibyte; held += chunk.length) {
    const rows = [...reader.push(chunk)].slice(0, 3);
    found.push(
      ...rows.map(({ line, content }) => [
        line,
        content.usable ? content.fields[0]?.length : content.problem.message,
      ]),
    );
  }
  expect(found).toEqual([
    [1, 'a quote is opened but never closed'],
    [2, 1],
    [3, 1023],
  ]);
  expect(held).toBeLessThanOrEqual(2 * mebibyte + chunk.length);
});

test('a too long line is unusable and not stored, and its neighbours are read', () => {
  const reader = newRecordReader(',', mebibyte);
  const chunk = Buffer.alloc(100_000, 'x');
  const chunks = [Buffer.from('1\n'), ...Array.from({ length: 40 }, () => chunk), Buffer.from('x\n3\n')];
  const found = [...chunks.flatMap((each) => [...reader.push(each)]), ...reader.end()];
  expect(found).toEqual([
    { line: 1, content: { usable: true, fields: ['1'] } },
    { line: 2, content: { usable: false, problem: { message: 'the row is longer than 1 MiB' } } },
    { line: 3, content: { usable: true, fields: ['3'] } },
  ]);
});

const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', 'é', '😀') });

function quote(text: string, always: boolean): string {
  return always || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

test('property: any fields are read back with their lines, wherever the chunks end', async () => {
  const row = fc.record({ fields: fc.tuple(field, field), isQuoted: fc.boolean(), isBad: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(row), fc.array(fc.nat(200)), async (rows, cuts) => {
      const texts = rows.map(({ fields, isQuoted, isBad }) => {
        return isBad ? 'x"y,z\n' : `${fields.map((each) => quote(each, isQuoted)).join(',')}\n`;
      });
      const lines = texts.map((_text, index) => texts.slice(0, index).join('').split('\n').length + 1);
      const read = readSeparated(',')(cutBytes(Buffer.from(`p,q\n${texts.join('')}`), cuts), 'rows.csv');
      expect(
        (await Array.fromAsync(read)).map(({ line, content }) => [line, content.usable && content.value]),
      ).toEqual(
        rows.map(({ fields, isBad }, index) => [lines[index], !isBad && { p: fields[0], q: fields[1] }]),
      );
    }),
  );
});

test('property: no text makes the reading fail, and chunk borders change nothing', async () => {
  const text = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', ' ') });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(40)), async (content, cuts) => {
      const bytes = Buffer.from(`p,q\n${content}`);
      const read = (ends: readonly number[]) =>
        Array.fromAsync(readSeparated(',')(cutBytes(bytes, ends), 'rows.csv'));
      expect(await read(cuts)).toEqual(await read([]));
    }),
  );
});
