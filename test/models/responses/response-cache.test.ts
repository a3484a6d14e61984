import { mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clearResponseCache, openResponseCache } from '../../../src/models/responses/response-cache.ts';

const keyOf = (name: string) => Buffer.from(name.padEnd(32)).toString('hex');
const asIs = (text: string) => text;
const newFolder = () => join(mkdtempSync(join(tmpdir(), 'cache-')), 'deep', 'responses');

function openCache(folder: string, { maxBytes, secret = '\0' }: { maxBytes?: number; secret?: string } = {}) {
  const warnings: string[] = [];
  const scrubber = { values: (text: string) => text.replaceAll(secret, '[redacted]') };
  const cache = openResponseCache(folder, { warn: (message) => warnings.push(message), scrubber, maxBytes });
  return { cache, warnings };
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );

test('a cached answer is found by another process too, and readable by its owner only', async () => {
  const folder = newFolder();
  await openCache(folder).cache.keep(keyOf('a'), () => '{"a": 1}');
  expect(await openCache(folder).cache.find(keyOf('a'), asIs)).toBe('{"a": 1}');
  expect(await openCache(folder).cache.find(keyOf('b'), asIs)).toBeUndefined();
  const modes = [folder, ...filesIn(folder).map((name) => join(folder, name))].map(
    (path) => statSync(path).mode & 0o777,
  );
  expect(modes.map((mode) => mode.toString(8))).toEqual(['700', '600']);
});

test('an answer that repeats a secret is not cached [DS-COST-06]', async () => {
  const folder = newFolder();
  const { cache, warnings } = openCache(folder, { secret: 'sk-12345678' });
  await cache.keep(keyOf('a'), () => '{"text": "your key is sk-12345678"}');
  expect({ files: filesIn(folder), warnings }).toEqual({ files: [], warnings: [] });
});

test.each([
  ['cut off', (text: string) => text.slice(0, -3)],
  ['empty', () => ''],
  ['changed in one byte', (text: string) => text.replace('1', '2')],
  ['other bytes', () => '\u0000\ufffd'.repeat(100)],
])('an entry that is %s is reported, removed, and cached again [DS-COST-08]', async (_what, damage) => {
  const folder = newFolder();
  const { cache, warnings } = openCache(folder);
  await cache.keep(keyOf('a'), () => '{"a": 1}');
  const [name = ''] = filesIn(folder);
  writeFileSync(join(folder, name), damage(readFileSync(join(folder, name), 'utf8')));
  expect(await cache.find(keyOf('a'), asIs)).toBeUndefined();
  expect({ warnings: warnings.length, files: filesIn(folder) }).toEqual({ warnings: 1, files: [] });
  await cache.keep(keyOf('a'), () => '{"a": 1}');
  expect(await cache.find(keyOf('a'), asIs)).toBe('{"a": 1}');
});

test('beyond its size the oldest entries are removed, including those of earlier processes [DS-COST-08]', async () => {
  const folder = newFolder();
  const body = 'x'.repeat(1_000);
  const first = openCache(folder).cache;
  for (const name of ['old', 'older']) await first.keep(keyOf(name), () => body);
  for (const [name, age] of [
    ['old', 100],
    ['older', 200],
  ] as const) {
    const file = join(folder, keyOf(name).slice(0, 2), `${keyOf(name)}.json`);
    utimesSync(file, Date.now() / 1000 - age, Date.now() / 1000 - age);
  }
  const { cache } = openCache(folder, { maxBytes: 3_500 });
  for (const name of ['new', 'newer']) await cache.keep(keyOf(name), () => body);
  const found = await Promise.all(
    ['older', 'old', 'new', 'newer'].map((name) => cache.find(keyOf(name), asIs)),
  );
  expect(found.map((text) => text !== undefined)).toEqual([false, false, true, true]);
});

test('two concurrent writers write the same entries, and no reader gets a partial one', async () => {
  const folder = newFolder();
  const text = JSON.stringify('y'.repeat(200_000));
  const [one, other] = [openCache(folder), openCache(folder)];
  const seen: (string | undefined)[] = [];
  const work = Array.from({ length: 30 }, async (_, at) => {
    await (at % 2 === 0 ? one : other).cache.keep(keyOf(`k${at % 3}`), () => text);
    seen.push(await (at % 2 === 0 ? other : one).cache.find(keyOf(`k${at % 3}`), asIs));
  });
  await Promise.all(work);
  expect(new Set(seen)).toEqual(new Set([text]));
  expect([...one.warnings, ...other.warnings]).toEqual([]);
  expect(filesIn(folder)).toHaveLength(3);
});

test('a read-only folder is reported once, and nothing fails', async () => {
  const folder = newFolder();
  const { cache, warnings } = openCache(folder);
  writeFileSync(join(folder, keyOf('a').slice(0, 2)), 'no folder');
  for (let time = 0; time < 3; time++) await cache.keep(keyOf('a'), () => '{}');
  expect(warnings).toHaveLength(1);
  expect(() => openCache(join(folder, keyOf('a').slice(0, 2), 'x'))).toThrow(/cannot be used/);
});

test('clearing removes entries and leaves other files', async () => {
  const folder = newFolder();
  const { cache } = openCache(folder);
  await cache.keep(keyOf('a'), () => '{}');
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  expect([await clearResponseCache(folder), await clearResponseCache(folder)]).toEqual([1, 0]);
  expect(filesIn(folder)).toEqual(['notes.txt']);
  expect(await clearResponseCache(join(folder, 'nowhere'))).toBe(0);
});
