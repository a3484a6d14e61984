import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Row } from '../../../src/suites/dataset/row.ts';
import { openRows } from '../../../src/suites/dataset/rows.ts';
import { writeFiles } from '../support.ts';
import { never, readPath, summarize } from './support.ts';

const run = promisify(execFile);

test('inline rows carry the lines of the suite file', async () => {
  const rows = [
    { line: 7, value: { a: 1 } },
    { line: 9, value: { a: 2 } },
  ];
  const opened = openRows({ kind: 'inline', file: 'x.suite.yaml', rows }, never);
  expect(await Array.fromAsync(opened.rows)).toEqual([
    { number: 1, file: 'x.suite.yaml', line: 7, content: { usable: true, value: { a: 1 } } },
    { number: 2, file: 'x.suite.yaml', line: 9, content: { usable: true, value: { a: 2 } } },
  ]);
  expect(opened.fraction()).toBe(null);
});

const csv = 'a\n1\n';
const named = [
  { name: 'rows.jsonl', content: '{"a":"1"}' },
  { name: 'rows.ndjson', content: '{"a":"1"}' },
  { name: 'rows.json', content: '[{"a":"1"}]' },
  { name: 'rows.csv', content: csv },
  { name: 'rows.tsv', content: csv },
  { name: 'rows.yaml', content: '- a: "1"' },
  { name: 'rows.yml', content: '- a: "1"' },
  { name: 'ROWS.CSV', content: csv },
  { name: 'rows.txt', content: '{"a":"1"}' },
  { name: 'rows', content: '{"a":"1"}' },
  { name: 'v1.json/rows', content: '{"a":"1"}\n' },
];

test.each(named)('the name $name selects the format, compressed or not', async ({ name, content }) => {
  const folder = writeFiles({ [name]: content, [`${name}.gz`]: gzipSync(content) });
  for (const file of [name, `${name}.gz`]) {
    const path = join(folder, file);
    const [row, ...more] = await readPath(path);
    expect([row?.file, row?.content, more]).toEqual([path, { usable: true, value: { a: '1' } }, []]);
  }
});

test('`format` overrides the name, and a byte order mark is no text in any format', async () => {
  const mark = '\uFEFF';
  const folder = writeFiles({
    'a.json': `${mark}a\n1\n`,
    'b.txt': `${mark}[{"a":1}]`,
    'c.csv': `${mark}a: 1`,
    'd.csv': `${mark}"a"\n1`,
  });
  expect((await readPath(join(folder, 'a.json'), 'csv')).map(summarize)).toEqual([[1, 2, '{"a":"1"}']]);
  expect((await readPath(join(folder, 'b.txt'), 'json')).map(summarize)).toEqual([[1, 1, '{"a":1}']]);
  expect((await readPath(join(folder, 'c.csv'), 'yaml')).map(summarize)).toEqual([[1, 1, '{"a":1}']]);
  expect((await readPath(join(folder, 'd.csv'))).map(summarize)).toEqual([[1, 2, '{"a":"1"}']]);
});

const shards = {
  'b.jsonl': '{"n":3}\nnope\n',
  'a.csv': 'n\n1\n2\n',
  'sub/c.jsonl': '{"n":5}\n',
  '[x]/d.jsonl': '{"n":6}\n',
  'e[1].jsonl': '{"n":7}\n',
};

const patterns = [
  { pattern: '*.{csv,jsonl}', files: ['a.csv', 'a.csv', 'b.jsonl', 'b.jsonl', 'e[1].jsonl'] },
  { pattern: '**/c.jsonl', files: ['sub/c.jsonl'] },
  { pattern: '[x]/*.jsonl', files: ['[x]/d.jsonl'] },
  { pattern: 'e[1].jsonl', files: ['e[1].jsonl'] },
  { pattern: '?.csv', files: ['a.csv', 'a.csv'] },
  { pattern: 'sub/../?.csv', files: ['a.csv', 'a.csv'] },
];

test.each(patterns)('the pattern $pattern reads its files in order', async ({ pattern, files }) => {
  const folder = writeFiles(shards);
  const rows = await readPath(`${folder}/${pattern}`);
  expect(rows.map(({ number, file }) => [number, file])).toEqual(
    files.map((file, index) => [index + 1, join(folder, file)]),
  );
});

test('row numbers continue across files, and line numbers restart', async () => {
  expect((await readPath(`${writeFiles(shards)}/{a,b}.*`)).map(summarize)).toEqual([
    [1, 2, '{"n":"1"}'],
    [2, 3, '{"n":"2"}'],
    [3, 1, '{"n":3}'],
    [4, 2, expect.stringMatching(/^the line is not JSON/)],
  ]);
});

const unreadable = [
  { title: 'that does not exist', name: 'gone.jsonl', reason: '$ does not exist' },
  { title: 'that is a folder', name: '.', reason: '$ is a folder' },
  { title: 'below a file', name: 'rows.jsonl/x', reason: '$ does not exist' },
  { title: 'that no file matches', name: '*.csv', reason: 'no file matches $' },
  { title: 'packed that does not exist', name: 'gone.jsonl.gz', reason: '$ does not exist' },
];

test.each(unreadable)('a dataset $title is FILE_UNREADABLE', async ({ name, reason }) => {
  const path = join(writeFiles({ 'rows.jsonl': '' }), name);
  await expect(readPath(path)).rejects.toThrow(
    expect.objectContaining({ code: 'FILE_UNREADABLE', message: reason.replace('$', path) }),
  );
});

/** Rows `{"a":N}` that compress badly. */
const numbered = Array.from({ length: 9000 }, (_, index) => ({ a: (index * 7919) % 10_007 }));
const asLines = (toLine: (row: { readonly a: number }) => string) => numbered.map(toLine).join('\n');
const packed = [
  { name: 'rows.jsonl.gz', text: asLines((row) => JSON.stringify(row)) },
  { name: 'rows.json.gz', text: `[\n${asLines((row) => `${JSON.stringify(row)},`)}\n{"a":0}]` },
  { name: 'rows.csv.gz', text: `a\n${asLines(({ a }) => `${a}`)}\n` },
  { name: 'rows.yaml.gz', text: `${asLines(({ a }) => `- a: ${a}`)}\n` },
];

test.each(packed)(
  'a truncated $name gives the earlier rows, and one that reports the break',
  async ({ name, text }) => {
    const bytes = gzipSync(text);
    const folder = writeFiles({ [name]: bytes.subarray(0, bytes.length / 2), 'z.jsonl': '{"a":1}\n' });
    const whole = (await readPath(join(writeFiles({ [name]: bytes }), name))).map(summarize);
    const rows = (await readPath(`${folder}/*`)).map(summarize);
    const read = rows.length - 2;
    expect(read).toBeGreaterThan(3000);
    expect(whole.length).toBeGreaterThanOrEqual(9000);
    expect(rows.slice(0, read)).toEqual(whole.slice(0, read));
    const [broken, next] = rows.slice(read);
    expect(broken).toEqual([
      read + 1,
      expect.any(Number),
      'the compressed data ends too early, and nothing after this was read',
    ]);
    // The row that is cut in two. For YAML, the one before, because its end is unknown.
    const line = broken?.[1] ?? 0;
    const expected = whole[read]?.[1] ?? 0;
    expect([expected, expected + 1]).toContain(line);
    expect(next).toEqual([read + 2, 1, '{"a":1}']);
  },
);

test.each([
  { title: 'not packed', bytes: Buffer.from('plain'), reason: 'is not valid gzip: incorrect header check' },
  { title: 'empty', bytes: Buffer.alloc(0), reason: 'ends too early' },
  {
    title: 'cut off in its head',
    bytes: gzipSync('{"a":1}\n').subarray(0, 5),
    reason: 'ends too early',
  },
])('a compressed dataset that is $title is one invalid row', async ({ bytes, reason }) => {
  const path = join(writeFiles({ 'rows.csv.gz': bytes }), 'rows.csv.gz');
  const problem = {
    message: `the compressed data ${reason}, and nothing after this was read`,
    hint: 'Compress the dataset again, or copy the complete file again.',
  };
  expect(await readPath(path)).toEqual([
    { number: 1, file: path, line: 1, content: { usable: false, problem } },
  ]);
});

const wide = 'x'.repeat(20_000);
test.each([
  { name: 'rows.jsonl.gz', text: '{"a":1}\n{"a":2}\n', rows: ['{"a":1}', '{"a":2}'], line: 3 },
  { name: 'rows.csv.gz', text: `a\n${wide}\n2\n`, rows: [`{"a":"${wide}"}`, '{"a":"2"}'], line: 4 },
  // The last row may be incomplete.
  { name: 'rows.yaml.gz', text: '- a: 1\n- a: 2\n', rows: ['{"a":1}'], line: 3 },
])('$name that lacks only its end gives every complete row', async ({ name, text, rows, line }) => {
  const path = join(writeFiles({ [name]: gzipSync(text).subarray(0, -8) }), name);
  const read = (await readPath(path)).map(summarize);
  expect(read.slice(0, -1).map(([, , row]) => row)).toEqual(rows);
  expect(read.at(-1)).toEqual([
    rows.length + 1,
    line,
    'the compressed data ends too early, and nothing after this was read',
  ]);
});

test('a file compressed in several parts is one file, and data after the last part is ignored', async () => {
  const parts = ['{"a":1}\n{"a"', ':2}\n'].map((text) => gzipSync(text));
  const bytes = Buffer.concat([...parts, Buffer.alloc(100_000)]);
  const path = join(writeFiles({ 'rows.jsonl.gz': bytes }), 'rows.jsonl.gz');
  expect((await readPath(path)).map(summarize)).toEqual([
    [1, 1, '{"a":1}'],
    [2, 2, '{"a":2}'],
  ]);
});

const long: Readonly<Record<string, string>> = {
  'rows.jsonl': '{"a":1}\n'.repeat(50_000),
  'rows.json': `[${'{"a":1},\n'.repeat(50_000)}{"a":2}]`,
  'rows.csv': `a,b\n${'1,2\n'.repeat(50_000)}`,
};

test.each(Object.keys(long))('an abort ends the reading of %s', async (name) => {
  const path = join(writeFiles({ [name]: long[name] ?? '' }), name);
  const controller = new AbortController();
  const { rows } = openRows({ kind: 'file', path }, controller.signal);
  let read = 0;
  for await (const _row of rows) {
    read += 1;
    if (read === 3) controller.abort();
  }
  expect(read).toBeGreaterThanOrEqual(3);
  expect(read).toBeLessThan(50_000);
});

test('an abort before the first row gives none', async () => {
  const path = join(writeFiles(long), 'rows.csv');
  expect(await Array.fromAsync(openRows({ kind: 'file', path }, AbortSignal.abort()).rows)).toEqual([]);
});

test('the fraction grows from 0 to 1 over all files, measured in bytes on disk', async () => {
  const text = Array.from({ length: 40_000 }, (_, index) => `{"a":${(index * 7919) % 40_009}}\n`).join('');
  const folder = writeFiles({ 'a.jsonl': text, 'b.jsonl.gz': gzipSync(text) });
  const { rows, fraction } = openRows({ kind: 'file', path: `${folder}/*` }, never);
  const seen = [fraction()];
  for await (const { number } of rows) if (number % 1000 === 0) seen.push(fraction());
  const known = seen.filter((each) => each !== null);
  expect(seen[0]).toBe(null);
  expect(known).toEqual(known.toSorted((one, other) => one - other));
  expect(new Set(known).size).toBeGreaterThan(4);
  expect(fraction()).toBe(1);
});

test('a pipe has no fraction', async () => {
  const path = join(writeFiles({}), 'pipe');
  await run('mkfifo', [path]);
  const writing = run('sh', ['-c', 'echo \'{"a":1}\' > "$0"', path]);
  const { rows, fraction } = openRows({ kind: 'file', path }, never);
  const seen: [Row['line'], number | null][] = [];
  for await (const { line } of rows) seen.push([line, fraction()]);
  await writing;
  expect(seen).toEqual([[1, null]]);
});

test('a reader that stops early leaves no file open', async () => {
  const path = join(writeFiles({ 'rows.jsonl.gz': gzipSync(long['rows.jsonl'] ?? '') }), 'rows.jsonl.gz');
  const opened = (): number =>
    process.getActiveResourcesInfo().filter((name) => name.startsWith('FSReq') || name === 'Zlib').length;
  const before = opened();
  for await (const _row of openRows({ kind: 'file', path }, never).rows) break;
  await expect.poll(opened).toBe(before);
});
