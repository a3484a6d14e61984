import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { DatasetChunk } from '../../../../src/suites/dataset/ranges/dataset-chunk.ts';
import { indexDataset } from '../../../../src/suites/dataset/ranges/index-dataset.ts';
import { readChunk } from '../../../../src/suites/dataset/ranges/read-chunk.ts';
import { remoteName } from '../../../../src/suites/dataset/remote/address.ts';
import { readRemote } from '../../../../src/suites/dataset/remote/remote-bytes.ts';
import type { Row } from '../../../../src/suites/dataset/row.ts';
import { openRows } from '../../../../src/suites/dataset/rows.ts';
import { never, readPath, summarize } from '../support.ts';
import { openFileServer } from './file-server.ts';

const jsonLines = (count: number) =>
  Array.from({ length: count }, (_, index) => `{"n":${index},"pad":"${'x'.repeat(200)}"}\n`).join('');

async function numbers(path: string): Promise<unknown[]> {
  const rows = await readPath(path);
  return rows.map(({ content }) => content.usable && Number(content.value['n']));
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('rows of an address equal those of a file, and their name omits the query', async () => {
  const server = await openFileServer('{"a": 1}\n\nno\n');
  const rows = await readPath(`${server.origin}/data/rows.jsonl?X-Amz-Signature=secret`);
  expect(rows.map(summarize)).toEqual([
    [1, 1, '{"a":1}'],
    [2, 3, expect.stringContaining('not JSON')],
  ]);
  expect(rows[0]?.file).toBe(`${server.origin}/data/rows.jsonl`);
  expect(server.requests.every(({ url }) => url?.endsWith('?X-Amz-Signature=secret'))).toBe(true);
});

test.each([
  ['rows.csv', 'n\n0\n1\n'],
  ['rows.json?v=2', '[{"n":0},{"n":1}]'],
  ['rows.yaml', '- {n: 0}\n- {n: 1}\n'],
  ['rows.jsonl.gz', gzipSync('{"n":0}\n{"n":1}\n')],
  ['packed.jsonl', gzipSync('{"n":0}\n{"n":1}\n')],
  ['rows.jsonl', Buffer.from('\ufeff{"n":0}\r\n{"n":1}', 'utf16le')],
])('%s is read by its name and its first bytes', async (name, text) => {
  const server = await openFileServer(text);
  expect(await numbers(`${server.origin}/${name}`)).toEqual([0, 1]);
});

test.each([
  ['nothing', '', 0],
  ['one byte', '\n', 0],
  ['one row without a line end', '{"n":0}', 1],
])('%s is read', async (_, text, count) => {
  const server = await openFileServer(text);
  expect(await numbers(`${server.origin}/rows.jsonl`)).toEqual(upTo(count));
  expect(await Array.fromAsync(chunksOf(`${server.origin}/rows.jsonl`))).toHaveLength(count);
});

test('content that a server compresses in transit is decompressed once, whatever its name', async () => {
  const headers = { 'content-encoding': 'gzip' };
  const server = await openFileServer(gzipSync(jsonLines(50)), () => ({ headers }));
  expect(await numbers(`${server.origin}/rows.jsonl`)).toEqual(upTo(50));
  expect(await numbers(`${server.origin}/rows.jsonl.gz`)).toEqual(upTo(50));
  expect(await byChunks(`${server.origin}/rows.jsonl`)).toEqual(
    await readPath(`${server.origin}/rows.jsonl`),
  );
});

test('a connection that breaks repeatedly is resumed where it broke', async () => {
  const server = await openFileServer(jsonLines(2_000), (_, count) =>
    count % 3 === 0 ? { status: 503 } : { cutAfter: 70_000 },
  );
  expect(await numbers(`${server.origin}/rows.jsonl`)).toEqual(upTo(2_000));
});

test('a server that stops sending is requested again', async () => {
  const server = await openFileServer(jsonLines(1_000), (_, count) => ({
    ...(count < 3 && { silentAfter: count === 1 ? 0 : 50_000 }),
  }));
  const parts = await Array.fromAsync(
    readRemote(`${server.origin}/rows.jsonl`, { start: 0, silenceMs: 200 }, { signal: never }),
  );
  expect(Buffer.concat(parts).equals(server.content)).toBe(true);
  expect(server.requests).toHaveLength(3);
});

test('a file that changed after the break is not read on', async () => {
  const server = await openFileServer(jsonLines(1_000), (_, count) => {
    if (count === 3) server.content = Buffer.from(jsonLines(900));
    return count === 2 ? { cutAfter: 70_000 } : undefined;
  });
  await expect(readPath(`${server.origin}/rows.jsonl`)).rejects.toMatchObject({
    code: 'DATASET_INVALID',
    message: `${server.origin}/rows.jsonl changed while it was read`,
  });
});

test.each([
  ['is not there', { status: 404 }, /does not exist \(404\)$/],
  ['is not for everybody', { status: 403 }, /cannot be read: access is denied \(403\)$/],
  [
    'sends on in plain text',
    { status: 302, headers: { location: 'http://example.com/rows' } },
    /uses plain HTTP$/,
  ],
  ['sends on in a circle', { status: 302, headers: { location: '/again' } }, /one redirect too many$/],
])('an address that %s is reported at once', async (_, answer, message) => {
  const server = await openFileServer('', () => answer);
  await expect(readRows(`${server.origin}/rows.jsonl?secret`)).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringMatching(message),
  });
  expect(server.requests.length).toBeLessThan(13);
});

test('a server without ranges is read from the beginning, and a break is reported', async () => {
  const whole = await openFileServer(jsonLines(500), () => ({ withoutRanges: true }));
  expect(await numbers(`${whole.origin}/rows.jsonl`)).toEqual(upTo(500));
  expect(await byChunks(`${whole.origin}/rows.jsonl`)).toEqual(await readPath(`${whole.origin}/rows.jsonl`));
  const broken = await openFileServer(jsonLines(500), () => ({ withoutRanges: true, cutAfter: 20_000 }));
  await expect(readRows(`${broken.origin}/rows.jsonl`)).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringMatching(
      /broke off after \d+ bytes, and can be read only as a whole: its server does not support ranges$/,
    ),
  });
});

test('a user and a password are sent only to their server, and a redirect leads to no private address', async () => {
  const other = await openFileServer('{"n":0}\n');
  const first = await openFileServer('', () => ({
    status: 307,
    headers: { location: `${other.origin}/rows.jsonl` },
  }));
  const path = `${first.origin.replace('//', '//ada:p%40ss@')}/rows.jsonl`;
  await expect(readRows(path)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  expect(other.requests).toEqual([]);
  const dataset = { kind: 'file', path, privateHosts: ['127.0.0.1'] } as const;
  expect(await Array.fromAsync(openRows(dataset, never).rows)).toHaveLength(1);
  const basic = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`;
  expect(new Set(first.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([basic]));
  expect(new Set(other.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([undefined]));
});

test.each([
  ['http://example.com/rows.jsonl', /uses plain HTTP/],
  ['s3://bucket', /has no bucket and key/],
  ['s3://bucket/a/../b', /part, which addresses drop/],
  ['https://', /is not a valid address/],
])('%s is not retried', async (path, message) => {
  await expect(readRows(path)).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringMatching(message),
  });
});

test('the chunks of an address have the rows of the whole, and are read by range', async () => {
  const server = await openFileServer(jsonLines(1_000));
  const path = `${server.origin}/rows.jsonl?secret`;
  const chunks = await Array.fromAsync(chunksOf(path));
  expect(chunks).toHaveLength(4);
  expect(JSON.stringify(chunks)).not.toContain('secret');
  const whole = await readPath(path);
  server.requests.length = 0;
  expect(await readChunks(path, chunks)).toEqual(whole);
  const asked = server.requests.map(({ headers }) => headers.range).filter((range) => range !== 'bytes=0-3');
  expect(asked).toEqual(chunks.map(({ range }) => `bytes=${range?.start}-${(range?.end ?? 0) - 1}`));
});

test('a chunk of a changed file is refused', async () => {
  const server = await openFileServer(jsonLines(1_000));
  const path = `${server.origin}/rows.jsonl`;
  const [, second] = await Array.fromAsync(chunksOf(path));
  server.content = Buffer.from(jsonLines(1_000).replace('"n":0', '"n":7'));
  const read = Array.fromAsync(readChunk({ kind: 'file', path }, second ?? Object.create(null), never));
  await expect(read).rejects.toMatchObject({ code: 'DATASET_INVALID' });
});

test('an abort ends the reading at once, and closes the connection', async () => {
  const server = await openFileServer(jsonLines(1_000), () => ({ silentAfter: 50_000 }));
  const ending = new AbortController();
  const path = `${server.origin}/rows.jsonl`;
  const rows: Row[] = [];
  for await (const row of openRows({ kind: 'file', path }, ending.signal).rows) {
    rows.push(row);
    if (rows.length === 100) ending.abort();
  }
  expect(rows.length).toBeLessThan(1_000);
});

test('a dataset name has no user, password, query or fragment', () => {
  expect(remoteName('https://ada:pass@data.example/a%20b/rows.jsonl?token=1#part')).toBe(
    'https://data.example/a%20b/rows.jsonl',
  );
  expect(remoteName('s3://bucket/a b?.jsonl')).toBe('s3://bucket/a b?.jsonl');
});

function chunksOf(path: string) {
  return indexDataset({ kind: 'file', path }, { rowsPerChunk: 300, signal: never });
}

async function byChunks(path: string): Promise<Row[]> {
  return await readChunks(path, await Array.fromAsync(chunksOf(path)));
}

async function readChunks(path: string, chunks: readonly DatasetChunk[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const chunk of chunks)
    rows.push(
      ...(await Array.fromAsync(readChunk({ kind: 'file', path }, JSON.parse(JSON.stringify(chunk)), never))),
    );
  return rows;
}

async function readRows(path: string): Promise<Row[]> {
  return await Array.fromAsync(openRows({ kind: 'file', path }, never).rows);
}
