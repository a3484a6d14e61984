import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openResultStore } from '../../src/store/open-result-store.ts';
import type { ResultStore } from '../../src/store/result-store.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqliteResults } from '../../src/store/sqlite-result-store.ts';
import { faultOf, newResult, newResultRun } from './examples.ts';
import { mayMount, newFile, start, withDisk } from './processes.ts';
import { keepsRatings } from './rating-contract.ts';
import { allOf, codeOf, keepsResults } from './result-contract.ts';

// An import would print a warning on Node 22.
const { DatabaseSync } = loadSqlite();

const isRoot = process.getuid?.() === 0;

async function openBeside(file: string): Promise<ResultStore> {
  const results = await openResultStore({ type: 'sqlite', file });
  onTestFinished(() => results.close());
  return results;
}

function resultsOf(file: string): string {
  return join(dirname(file), 'evals.db');
}

const stores: readonly { kind: string; open: () => Promise<ResultStore> }[] = [
  { kind: 'sqlite', open: () => openBeside(newFile()) },
  {
    kind: 'memory',
    open: async () => {
      const results = await openResultStore({ type: 'memory' });
      onTestFinished(() => results.close());
      return results;
    },
  },
];

describe.each(stores)('results in $kind', ({ open }) => {
  keepsResults(open);
  keepsRatings(open);
});

test('a store that is refused fails with the reason', async () => {
  expect(await faultOf(openResultStore({ type: 'refused', reason: 'redis is not supported' }))).toMatchObject(
    {
      code: 'STORE_FAILED',
      message: 'redis is not supported',
    },
  );
});

test('results are beside the state, readable by the owner only', async () => {
  const file = newFile();
  const results = await openBeside(file);
  expect(results.location).toBe(resultsOf(file));
  expect([statSync(results.location).mode & 0o777, existsSync(file)]).toEqual([0o600, false]);
});

test('removed results are gone everywhere', async () => {
  const results = await openBeside(newFile());
  await results.createRun(newResultRun('r1', { createdAt: 1 }));
  await results.put(newResult('r1', { text: 'a secret of theirs' }));
  const holds = () =>
    ['', '-wal'].map((end) => readFileSync(`${results.location}${end}`).includes('a secret of theirs'));
  const before = holds();
  await results.prune(2);
  expect([before.includes(true), holds()]).toEqual([true, [false, false]]);
});

test('a state store in place of the results is unchanged', async () => {
  const file = resultsOf(newFile());
  await openBeside(file);
  const { openSqliteStore } = await import('../../src/store/sqlite-store.ts');
  expect(await faultOf(openSqliteStore(file))).toMatchObject({
    code: 'STORE_FAILED',
    message: `${file} is a database of another program`,
  });
});

test('every finished put is there after a SIGKILL at any moment', { timeout: 60_000 }, async () => {
  for (let round = 0; round < 3; round++) {
    const file = newFile();
    const writer = start(['results', file]);
    const said = [await writer.next()];
    await sleep(20 + Math.random() * 130);
    said.push(...(await writer.kill()));
    const results = await openBeside(file);
    const kept = (await allOf(results.records('r1'))).map(({ number, text }) => ({
      number: String(number),
      text,
    }));
    expect(kept.slice(0, said.length)).toEqual(
      said.map((number) => ({ number, text: JSON.stringify(`${number} `.repeat(100)) })),
    );
    expect(said.length).toBeGreaterThan(10);
  }
});

test('a run is claimed across processes, and released when its holder gets SIGKILL', async () => {
  const file = newFile();
  const results = await openBeside(file);
  await results.createRun(newResultRun('r1', { createdAt: 1 }));
  const holder = start(['claim-results', file, 'r1']);
  expect(await holder.next()).toBe('{"claimed":true}');
  expect([await results.claimRun('r1'), await results.prune(2)]).toEqual([undefined, 0]);
  await holder.kill();
  expect(await results.claimRun('r1')).toBeDefined();
});

test('a closed store releases its claims', async () => {
  const file = newFile();
  const [one, other] = [await openBeside(file), await openBeside(file)];
  await one.claimRun('r1');
  await one.close();
  expect(existsSync(`${resultsOf(file)}.locks/r1.lock`)).toBe(false);
  expect(await other.claimRun('r1')).toBeDefined();
});

test('the wait for another process has a limit', async () => {
  const file = resultsOf(newFile());
  const results = await openSqliteResults(file, { waitMs: 50 });
  onTestFinished(() => results.close());
  await results.createRun(newResultRun('r1'));
  const holder = start(['hold', file, '60000']);
  expect(await holder.next()).toBe('holding');
  expect(await faultOf(results.put(newResult('r1')))).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('SQLITE_BUSY'),
  });
  await holder.kill();
  await results.put(newResult('r1'));
  expect(await results.countRecords('r1')).toBe(1);
});

test('a put waits for another process that writes', async () => {
  const file = newFile();
  const results = await openBeside(file);
  await results.createRun(newResultRun('r1'));
  const holder = start(['hold', resultsOf(file), '200']);
  expect(await holder.next()).toBe('holding');
  await results.put(newResult('r1'));
  expect(await results.countRecords('r1')).toBe(1);
  expect(await holder.rest()).toEqual(['let go']);
});

const full: readonly {
  title: string;
  possible: boolean;
  says: RegExp;
  prefix: (folder: string) => readonly string[];
}[] = [
  {
    title: 'a disk that is full',
    possible: mayMount,
    says: /has no disk space left \(SQLITE_FULL: /,
    prefix: (folder) => withDisk(folder, 'size=400k'),
  },
  {
    title: 'a limit on the size of files',
    possible: process.platform !== 'win32',
    says: /could not be read or written \(SQLITE_IOERR: /,
    prefix: () => ['sh', '-c', 'ulimit -f 512 && exec "$@"', 'sh'],
  },
];

test.for(full.filter(({ possible }) => possible))(
  '$title fails the put that needs more, keeps stored results, and leaves the store readable',
  { timeout: 60_000 },
  async ({ prefix, says }) => {
    const file = newFile();
    mkdirSync(dirname(file));
    const lines = await start(['fill-results', file], prefix(dirname(file))).rest();
    const [failed, readable] = lines.map((line) => JSON.parse(line));
    expect(failed).toEqual({
      kept: expect.any(Number),
      failed: 'STORE_FAILED',
      message: expect.stringMatching(says),
    });
    expect(failed.kept).toBeGreaterThan(3);
    expect(readable).toEqual({ readable: failed.kept });
  },
);

test.skipIf(isRoot)('read-only results are not opened', async () => {
  const file = newFile();
  await (await openBeside(file)).close();
  chmodSync(resultsOf(file), 0o400);
  expect(await faultOf(openResultStore({ type: 'sqlite', file }))).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringMatching(/SQLITE_READONLY/),
  });
});

test('a file that is no database, or of a newer version, is reported', async () => {
  const file = newFile();
  await (await openBeside(file)).close();
  const database = new DatabaseSync(resultsOf(file));
  database.exec('PRAGMA user_version = 4');
  database.close();
  expect(await faultOf(openResultStore({ type: 'sqlite', file }))).toMatchObject({
    code: 'STORE_FAILED',
    message: `the state store ${resultsOf(file)} has version 4, but this Signalbox supports version 3`,
  });
  writeFileSync(resultsOf(file), 'kind: RuntimeConfig\n'.repeat(100));
  expect((await faultOf(openResultStore({ type: 'sqlite', file }))).message).toMatch(/is not a database/);
});

test.each([
  { title: 'a record that is cut off', sql: 'UPDATE results SET text = substr(text, 1, 5)' },
  { title: 'a record that is another', sql: "UPDATE results SET text = '{}'" },
  { title: 'a word that is no status', sql: "UPDATE runs SET status = 'lost'" },
  { title: 'a number that is none', sql: 'UPDATE results SET number = 9000000000000000001' },
])('$title is reported, not returned', async ({ sql }) => {
  const file = newFile();
  const results = await openBeside(file);
  await results.createRun(newResultRun('r1'));
  await results.put(newResult('r1'));
  await results.close();
  const database = new DatabaseSync(resultsOf(file));
  database.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`);
  database.close();
  const again = await openBeside(file);
  const reads = [() => again.findRun('r1'), () => allOf(again.records('r1'))];
  expect(await Promise.all(reads.map(codeOf))).toContain('STORE_FAILED');
});

test('results that were truncated to nothing, or lack a column, are reported', async () => {
  const file = newFile();
  await (await openBeside(file)).close();
  const database = new DatabaseSync(resultsOf(file));
  database.exec('DROP TRIGGER results_replaced; ALTER TABLE results DROP COLUMN case_id');
  database.close();
  expect(await faultOf(openResultStore({ type: 'sqlite', file }))).toMatchObject({
    code: 'STORE_FAILED',
    hint: expect.stringContaining('restore a backup'),
  });
  writeFileSync(resultsOf(file), '');
  expect(await faultOf(openResultStore({ type: 'sqlite', file }))).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('is damaged: the file is empty'),
  });
});
