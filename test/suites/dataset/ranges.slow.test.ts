import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxRowBytes } from '../../../src/suites/dataset/json.ts';
import type { DatasetChunk } from '../../../src/suites/dataset/ranges/dataset-chunk.ts';
import { indexDataset } from '../../../src/suites/dataset/ranges/index-dataset.ts';
import { readChunk } from '../../../src/suites/dataset/ranges/read-chunk.ts';
import type { Row } from '../../../src/suites/dataset/row.ts';
import { openRows } from '../../../src/suites/dataset/rows.ts';
import type { Dataset } from '../../../src/suites/file/model.ts';

const { signal } = new AbortController();

async function chunksOf(
  dataset: Dataset,
  rowsPerChunk: number,
  bytesPerChunk = 1e9,
): Promise<DatasetChunk[]> {
  return await Array.fromAsync(indexDataset(dataset, { rowsPerChunk, bytesPerChunk, signal }));
}

async function byChunks(dataset: Dataset, chunks: readonly DatasetChunk[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const chunk of chunks)
    for await (const row of readChunk(dataset, JSON.parse(JSON.stringify(chunk)), signal)) rows.push(row);
  return rows;
}

async function whole(dataset: Dataset): Promise<Row[]> {
  return await Array.fromAsync(openRows(dataset, signal).rows);
}

function fileOf(name: string, content: Buffer | string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'ranges-')), name);
  writeFileSync(file, content);
  return file;
}

const line = fc.constantFrom(
  ...['{"a":1}', '{"a":"é😀"}', '', ' \t', '\r', '{no', '[1]', '"x"', '\u00a0', '{"a":"\\n"}', ' {"b":2} '],
  '{"long":"'.padEnd(400, 'x').concat('"}'),
);
const lines = fc
  .record({
    all: fc.array(line, { maxLength: 40 }),
    end: fc.constantFrom('\n', '\r\n'),
    mark: fc.constantFrom('', '\ufeff'),
    isEnded: fc.boolean(),
  })
  .map(({ all, end, mark, isEnded }) => mark + all.join(end) + (isEnded ? end : ''));

test.each(['utf8', 'latin1', 'utf16le'] as const)(
  'the chunks of JSON Lines in %s have the rows of the whole',
  async (encoding) => {
    await fc.assert(
      fc.asyncProperty(
        lines,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 300 }),
        async (text, rows, bytes) => {
          const dataset = { kind: 'file', path: fileOf('rows.jsonl', Buffer.from(text, encoding)) } as const;
          const chunks = await chunksOf(dataset, rows, bytes);
          expect(await byChunks(dataset, chunks)).toEqual(await whole(dataset));
          expect(chunks.every((chunk) => chunk.rows <= rows && chunk.rows > 0)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  },
);

test('chunks are cut at line ends, whatever the size of reads, and exclude the byte order mark', async () => {
  const path = fileOf('rows.jsonl', `\ufeff${'{"a":1}\n'.repeat(10)}`);
  const chunks = await chunksOf({ kind: 'file', path }, 4);
  expect(chunks.map(({ range, rows }) => [range?.start, range?.end, range?.firstLine, rows])).toEqual([
    [3, 35, 1, 4],
    [35, 67, 5, 4],
    [67, 83, 9, 2],
  ]);
});

test.each([
  ['rows.csv', 'id,text\n1,"a\nb"\n\n2,c\n3,"x""y"\n4\n5,z'],
  ['rows.tsv', 'id\ttext\r\n1\ta\r\n2\tb\r\n'],
  ['rows.json', '[{"a":1},{"a":2},3,{"a":4}]'],
  ['rows.yaml', '- {a: 1}\n- {a: 2}\n- x\n'],
  ['rows.jsonl.gz', gzipSync('{"a":1}\n{"a":2}\n\n{"a":3}\n')],
  ['empty.jsonl', ''],
  ['[odd] *.jsonl', '{"a":1}\n{"a":2}\n'],
])('the chunks of %s have the rows of the whole', async (name, content) => {
  const dataset = { kind: 'file', path: fileOf(name, content) } as const;
  for (const rows of [1, 2, 100])
    expect(await byChunks(dataset, await chunksOf(dataset, rows))).toEqual(await whole(dataset));
});

test('rows are numbered across all files of a pattern, and inline rows across the suite', async () => {
  const first = fileOf('a.jsonl', '{"a":1}\n{"a":2}\n{"a":3}\n');
  const folder = join(first, '..');
  writeFileSync(join(folder, 'b.csv'), 'a\n4\n5\n');
  const dataset = { kind: 'file', path: join(folder, '*') } as const;
  expect(await byChunks(dataset, await chunksOf(dataset, 2))).toEqual(await whole(dataset));
  const inline = {
    kind: 'inline',
    file: 'demo.suite.yaml',
    rows: [1, 2, 3].map((n) => ({ line: n + 4, value: { n } })),
  } as const;
  expect(await byChunks(inline, await chunksOf(inline, 2))).toEqual(await whole(inline));
});

test.each([
  ['is shorter', '{"a":1}\n'],
  ['has other rows of the same length', '{"a":1}\n{"b":2}\n'],
])('a file that %s than when it was cut is reported', async (_, content) => {
  const path = fileOf('rows.jsonl', '{"a":1}\n{"a":2}\n');
  const dataset = { kind: 'file', path } as const;
  const chunks = await chunksOf(dataset, 10);
  writeFileSync(path, content);
  await expect(byChunks(dataset, chunks)).rejects.toMatchObject({
    code: 'DATASET_INVALID',
    message: expect.stringContaining('is not the file that the run started with'),
  });
});

test('a missing file, stdin, and an abort are reported', async () => {
  const gone = { kind: 'file', path: '/nowhere/rows.jsonl' } as const;
  await expect(chunksOf(gone, 1)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  await expect(chunksOf({ kind: 'file', path: '-' }, 1)).rejects.toMatchObject({ code: 'USAGE' });
  const given = AbortSignal.abort(new Error('given up'));
  const dataset = { kind: 'file', path: fileOf('rows.jsonl', '{"a":1}\n') } as const;
  const index = indexDataset(dataset, { rowsPerChunk: 1, signal: given });
  await expect(Array.fromAsync(index)).rejects.toThrow('given up');
});

test('a line that is too long to read is one row, blank or not', async () => {
  const path = fileOf(
    'rows.jsonl',
    `{"a":1}\n${' '.repeat(maxRowBytes + 1)}\n${'x'.repeat(maxRowBytes + 1)}\n{"a":2}\n`,
  );
  const dataset = { kind: 'file', path } as const;
  const chunks = await chunksOf(dataset, 1);
  expect([chunks.length, await byChunks(dataset, chunks)]).toEqual([4, await whole(dataset)]);
});
