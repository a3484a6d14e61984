import { expect, test } from 'vitest';
import { readFile, summarize } from './support.ts';

const read = (content: string | Uint8Array) => readFile('rows.jsonl', content);

const files = [
  {
    title: 'one object per line',
    content: '{"a":1}\n{"a":2}\n',
    rows: [
      [1, 1, '{"a":1}'],
      [2, 2, '{"a":2}'],
    ],
  },
  { title: 'no line feed at the end', content: '{"a":1}', rows: [[1, 1, '{"a":1}']] },
  { title: 'nothing', content: '', rows: [] },
  { title: 'a byte order mark', content: '\uFEFF{"a":1}\n', rows: [[1, 1, '{"a":1}']] },
  { title: 'a byte order mark alone', content: '\uFEFF', rows: [] },
  {
    title: 'carriage returns',
    content: '{"a":1}\r\n{"a":2}\r\n',
    rows: [
      [1, 1, '{"a":1}'],
      [2, 2, '{"a":2}'],
    ],
  },
  {
    title: 'blank lines, which count as lines only',
    content: '\n  \t\n{"a":1}\n\r\n{"a":2}\n\n',
    rows: [
      [1, 3, '{"a":1}'],
      [2, 5, '{"a":2}'],
    ],
  },
  {
    title: 'numbers with all their digits',
    content: '{"id":12345678901234567890,"x":[0.10000000000000000001]}\n',
    rows: [[1, 1, '{"id":12345678901234567890,"x":[0.10000000000000000001]}']],
  },
  { title: 'text of any script', content: '{"a":"漢字 😀 é"}\n', rows: [[1, 1, '{"a":"漢字 😀 é"}']] },
  { title: 'a key twice, of which the last counts', content: '{"a":1,"a":2}\n', rows: [[1, 1, '{"a":2}']] },
];

test.each(files)('reads $title', async ({ content, rows }) => {
  expect((await read(content)).map(summarize)).toEqual(rows);
});

const unusable = [
  { title: 'a list', line: '[{"a":1}]', message: 'the line is a list' },
  { title: 'a text', line: '"a"', message: 'the line is not a JSON object' },
  { title: 'null', line: 'null', message: 'the line is not a JSON object' },
  { title: 'a number', line: '7', message: 'the line is not a JSON object' },
  {
    title: 'a number too long for a double',
    line: '12345678901234567890',
    message: 'the line is not a JSON object',
  },
  {
    title: 'two objects',
    line: '{"a":1}{"a":2}',
    message: expect.stringMatching(/^the line is not JSON: .*position 7$/),
  },
  { title: 'half an object', line: '{"a":', message: expect.stringMatching(/^the line is not JSON: /) },
  {
    title: 'a second byte order mark',
    line: '\uFEFF{"a":1}',
    message: expect.stringMatching(/^the line is not JSON: /),
  },
];

test.each(unusable)('$title is an invalid row, and its neighbours are read', async ({ line, message }) => {
  const rows = await read(`{"a":1}\n${line}\n{"a":3}\n`);
  expect(rows.map(summarize)).toEqual([
    [1, 1, '{"a":1}'],
    [2, 2, message],
    [3, 3, '{"a":3}'],
  ]);
});

test('a line that is not UTF-8 is an invalid row, and its neighbours are read', async () => {
  const bad = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d, 0x0a]);
  const rows = await read(Buffer.concat([bad, Buffer.from('{"a":2}\n')]));
  expect(rows.map(summarize)).toEqual([
    [1, 1, 'the line is not valid UTF-8'],
    [2, 2, '{"a":2}'],
  ]);
});

test('a line of more than 64 MiB is an invalid row, and its neighbours are read', async () => {
  const limit = 64 * 1024 * 1024;
  const content = Buffer.alloc(limit + 20, ' ');
  content.write('{"a":1}\n', 0);
  content.write('\n{"a":3}\n', limit + 9);
  const rows = await read(content);
  expect(rows.map(summarize)).toEqual([
    [1, 1, '{"a":1}'],
    [2, 2, 'the line is longer than 64 MiB'],
    [3, 3, '{"a":3}'],
  ]);
});
