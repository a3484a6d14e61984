import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openResultStore } from '../../src/store/open-result-store.ts';
import type { ResultStore } from '../../src/store/result-store.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqliteResults } from '../../src/store/sqlite-result-store.ts';
import { exactText, faultOf, hardStrings, newResult, newResultRun } from './examples.ts';
import { mayMount, newFile, start, withDisk } from './processes.ts';

// Not by import: Node 22 would announce it.
const { DatabaseSync } = loadSqlite();

const isRoot = process.getuid?.() === 0;

/** The results beside the state in `file`, closed after the test. */
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

/** The code of what the work throws, or what it gives. */
function codeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

describe.each(stores)('results in $kind', ({ open }) => {
  test('a run is found as it began, and then as it ended', async () => {
    const results = await open();
    const run = newResultRun('r1');
    results.createRun(run);
    const begun = results.findRun('r1');
    results.setRunEnd('r1', { status: 'failed', report: exactText });
    const ended = results.findRun('r1');
    results.setRunEnd('r1', { status: 'running', report: null });
    expect([begun, ended, results.findRun('r1'), results.findRun('r2')]).toEqual([
      { ...run, status: 'running', report: null },
      { ...run, status: 'failed', report: exactText },
      { ...run, status: 'running', report: null },
      undefined,
    ]);
  });

  test('there is one run of an id, and ids are safe as the names of files', async () => {
    const results = await open();
    results.createRun(newResultRun('r1'));
    expect(codeOf(() => results.createRun(newResultRun('r1', { name: 'other' })))).toBe('STORE_FAILED');
    expect(codeOf(() => results.createRun(newResultRun('../r1')))).toBe('USAGE');
    expect(results.listRuns().map(({ name }) => name)).toEqual(['answers']);
  });

  test('runs are listed newest first, by name, kind and number', async () => {
    const results = await open();
    results.createRun(newResultRun('a', { createdAt: 2 }));
    results.createRun(newResultRun('b', { createdAt: 3, name: 'other' }));
    results.createRun(newResultRun('c', { createdAt: 1, kind: 'shadow' }));
    results.createRun(newResultRun('d', { createdAt: 2 }));
    const idsOf = (filter?: Parameters<ResultStore['listRuns']>[0]) =>
      results.listRuns(filter).map(({ id }) => id);
    expect({
      all: idsOf(),
      name: idsOf({ name: 'answers' }),
      kind: idsOf({ kind: 'suite' }),
      both: idsOf({ name: 'answers', kind: 'shadow' }),
      limit: idsOf({ limit: 2 }),
      none: idsOf({ name: 'none', limit: 5 }),
    }).toEqual({
      all: ['b', 'd', 'a', 'c'],
      name: ['d', 'a', 'c'],
      kind: ['b', 'd', 'a'],
      both: ['c'],
      limit: ['b', 'd'],
      none: [],
    });
  });

  test('records come by number and epoch, whatever the order in which they were kept', async () => {
    const results = await open();
    results.createRun(newResultRun('r1'));
    results.createRun(newResultRun('r2'));
    results.put(newResult('r2', { number: 7 }));
    const places = Array.from({ length: 150 }, (_, index) => ({
      number: 1 + Math.floor(index / 2),
      epoch: 1 + (index % 2),
    }));
    const shuffled = places.map((place, index) => ({ place, at: (index * 67) % 150 }));
    for (const { place } of shuffled.toSorted((one, other) => one.at - other.at)) {
      results.put(newResult('r1', { ...place, caseId: `case-${place.number % 3}` }));
    }
    const placesOf = (filter?: Parameters<ResultStore['records']>[1]) =>
      [...results.records('r1', filter)].map(({ number, epoch }) => ({ number, epoch }));
    expect(placesOf()).toEqual(places);
    expect(placesOf({ caseId: 'case-2' })).toEqual(places.filter(({ number }) => number % 3 === 2));
    expect([results.countRecords('r1'), results.countRecords('r2'), results.countRecords('r3')]).toEqual([
      150, 1, 0,
    ]);
    expect([...results.records('r3')]).toEqual([]);
  });

  test('several records are kept at once, or none of them', async () => {
    const results = await open();
    results.createRun(newResultRun('r1'));
    const three = [1, 2, 3].map((number) => newResult('r1', { number }));
    results.putAll(three);
    const stray = [newResult('r1', { number: 4 }), newResult('gone', { number: 5 })];
    expect(codeOf(() => results.putAll(stray))).toBe('STORE_FAILED');
    expect([...results.records('r1')].map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test('a record that is kept again replaces the first one', async () => {
    const results = await open();
    results.createRun(newResultRun('r1'));
    results.put(newResult('r1'));
    results.put(newResult('r1', { caseId: 'again', digest: 'd2', text: '2' }));
    const kept = { number: 1, epoch: 1, caseId: 'again', digest: 'd2', text: '2' };
    expect([...results.records('r1')]).toEqual([kept]);
    expect(results.get('r1', 1, 1)).toEqual(kept);
    expect([results.get('r1', 1, 2), results.get('r2', 1, 1)]).toEqual([undefined, undefined]);
  });

  test('a record that is appended stands behind all that there are; where there is no run it stands nowhere', async () => {
    const results = await open();
    results.createRun(newResultRun('r1'));
    results.createRun(newResultRun('r2'));
    results.put(newResult('r2', { number: 9 }));
    const { number: _number, ...record } = newResult('r1');
    const appended = [
      results.append({ ...record, caseId: 'first' }),
      results.append({ ...record, caseId: 'second' }),
      results.append({ ...record, runId: 'r2', caseId: 'third' }),
      results.append({ ...record, runId: 'r3' }),
    ];
    expect(appended).toEqual([true, true, true, false]);
    const placesOf = (id: string) => [...results.records(id)].map(({ number, caseId }) => [number, caseId]);
    expect([placesOf('r1'), placesOf('r2').at(-1), placesOf('r3')]).toEqual([
      [
        [1, 'first'],
        [2, 'second'],
      ],
      [10, 'third'],
      [],
    ]);
  });

  test('records may be kept while others are read, and two may read at once', async () => {
    const results = await open();
    results.createRun(newResultRun('r1'));
    for (let number = 1; number <= 100; number++) results.put(newResult('r1', { number }));
    const pairs: [number, number][] = [];
    const other = results.records('r1')[Symbol.iterator]();
    for (const { number } of results.records('r1')) {
      const twin = other.next();
      results.put(newResult('r1', { number, text: 'changed' }));
      pairs.push([number, twin.done ? 0 : twin.value.number]);
    }
    expect(pairs).toEqual(pairs.map((_, index) => [index + 1, index + 1]));
    expect(results.countRecords('r1')).toBe(100);
  });

  test.each(hardStrings)('the texts %j are themselves', async (text) => {
    const results = await open();
    const run = newResultRun('r1', { name: text, file: text, fingerprint: text, header: text });
    results.createRun(run);
    results.put(newResult('r1', { caseId: text, digest: text, text }));
    results.keepAnswer(text, text);
    expect(results.listRuns({ name: text })).toEqual([{ ...run, status: 'running', report: null }]);
    expect([...results.records('r1', { caseId: text })]).toEqual([
      { number: 1, epoch: 1, caseId: text, digest: text, text },
    ]);
    expect(results.findAnswer(text)).toBe(text);
  });

  test('answers are found under their key, the last one kept', async () => {
    const results = await open();
    results.keepAnswer('k1', 'one');
    results.keepAnswer('k2', 'two');
    results.keepAnswer('k1', exactText);
    expect([results.findAnswer('k1'), results.findAnswer('k2'), results.findAnswer('k3')]).toEqual([
      exactText,
      'two',
      undefined,
    ]);
  });

  test('a run that is not there takes neither a record nor an end', async () => {
    const results = await open();
    expect(codeOf(() => results.put(newResult('r1')))).toBe('STORE_FAILED');
    expect(codeOf(() => results.setRunEnd('r1', { status: 'passed', report: null }))).toBe('STORE_FAILED');
  });

  test('one holder at a time has a run', async () => {
    const results = await open();
    results.createRun(newResultRun('r1'));
    const claim = await results.claimRun('r1');
    expect([claim === undefined, await results.claimRun('r1')]).toEqual([false, undefined]);
    await claim?.release();
    const second = await results.claimRun('r1');
    // A second release must not take the run from whoever claimed it since.
    await claim?.release();
    expect([second === undefined, await results.claimRun('r1')]).toEqual([false, undefined]);
  });

  test('what is old is removed with all its records, but for runs that somebody works on', async () => {
    const results = await open();
    for (const [id, createdAt] of Object.entries({ old: 1, held: 2, young: 3 })) {
      results.createRun(newResultRun(id, { createdAt }));
      results.put(newResult(id));
    }
    results.keepAnswer('k1', 'one');
    const claim = await results.claimRun('held');
    expect(results.prune(3)).toBe(1);
    expect(results.listRuns().map(({ id }) => id)).toEqual(['young', 'held']);
    expect(results.findAnswer('k1')).toBe('one');
    await claim?.release();
    expect(results.prune(Date.now() + 1)).toBe(2);
    expect(results.findAnswer('k1')).toBeUndefined();
    results.createRun(newResultRun('old'));
    expect(results.countRecords('old')).toBe(0);
  });

  test('a closed store does nothing more', async () => {
    const results = await open();
    results.createRun(newResultRun('r1'));
    results.close();
    results.close();
    const calls: readonly (() => unknown)[] = [
      () => results.createRun(newResultRun('r2')),
      () => results.findRun('r1'),
      () => results.listRuns(),
      () => results.setRunEnd('r1', { status: 'passed', report: null }),
      () => results.put(newResult('r1')),
      () => results.get('r1', 1, 1),
      () => [...results.records('r1')],
      () => results.countRecords('r1'),
      () => results.findAnswer('k1'),
      () => results.keepAnswer('k1', ''),
      () => results.prune(1),
    ];
    expect(calls.map(codeOf)).toEqual(calls.map(() => 'STORE_FAILED'));
    expect((await faultOf(results.claimRun('r1'))).code).toBe('STORE_FAILED');
  });
});

test('a store that is refused fails with the reason', async () => {
  expect(await faultOf(openResultStore({ type: 'refused', reason: 'redis is not supported' }))).toMatchObject(
    {
      code: 'STORE_FAILED',
      message: 'redis is not supported',
    },
  );
});

test('results lie beside the state, for their owner alone', async () => {
  const file = newFile();
  const results = await openBeside(file);
  expect(results.location).toBe(resultsOf(file));
  expect([statSync(results.location).mode & 0o777, existsSync(file)]).toEqual([0o600, false]);
});

test('what was removed is nowhere any more', async () => {
  const results = await openBeside(newFile());
  results.createRun(newResultRun('r1', { createdAt: 1 }));
  results.put(newResult('r1', { text: 'a secret of theirs' }));
  const holds = () =>
    ['', '-wal'].map((end) => readFileSync(`${results.location}${end}`).includes('a secret of theirs'));
  const before = holds();
  results.prune(2);
  expect([before.includes(true), holds()]).toEqual([true, [false, false]]);
});

test('a state store at the place of the results is left as it is', async () => {
  const file = resultsOf(newFile());
  await openBeside(file);
  const { openSqliteStore } = await import('../../src/store/sqlite-store.ts');
  expect(await faultOf(openSqliteStore(file))).toMatchObject({
    code: 'STORE_FAILED',
    message: `${file} is the database of another program`,
  });
});

test('what put has returned for is there after a SIGKILL at any moment', { timeout: 60_000 }, async () => {
  for (let round = 0; round < 3; round++) {
    const file = newFile();
    const writer = start(['results', file]);
    const said = [await writer.next()];
    await sleep(20 + Math.random() * 130);
    said.push(...(await writer.kill()));
    const results = await openBeside(file);
    const kept = [...results.records('r1')].map(({ number, text }) => ({ number: String(number), text }));
    expect(kept.slice(0, said.length)).toEqual(
      said.map((number) => ({ number, text: JSON.stringify(`${number} `.repeat(100)) })),
    );
    expect(said.length).toBeGreaterThan(10);
  }
});

test('a run is claimed across processes, and falls back when its holder gets SIGKILL', async () => {
  const file = newFile();
  const results = await openBeside(file);
  results.createRun(newResultRun('r1', { createdAt: 1 }));
  const holder = start(['claim-results', file, 'r1']);
  expect(await holder.next()).toBe('{"claimed":true}');
  expect([await results.claimRun('r1'), results.prune(2)]).toEqual([undefined, 0]);
  await holder.kill();
  expect(await results.claimRun('r1')).toBeDefined();
});

test('a store that is closed releases its claims', async () => {
  const file = newFile();
  const [one, other] = [await openBeside(file), await openBeside(file)];
  await one.claimRun('r1');
  one.close();
  expect(existsSync(`${resultsOf(file)}.locks/r1.lock`)).toBe(false);
  expect(await other.claimRun('r1')).toBeDefined();
});

test('the waiting for another process has an end', async () => {
  const file = resultsOf(newFile());
  const results = await openSqliteResults(file, { waitMs: 50 });
  onTestFinished(() => results.close());
  results.createRun(newResultRun('r1'));
  const holder = start(['hold', file, '60000']);
  expect(await holder.next()).toBe('holding');
  expect(() => results.put(newResult('r1'))).toThrow(
    expect.objectContaining({ code: 'STORE_FAILED', message: expect.stringContaining('SQLITE_BUSY') }),
  );
  await holder.kill();
  results.put(newResult('r1'));
  expect(results.countRecords('r1')).toBe(1);
});

test('a put waits for another process that writes', async () => {
  const file = newFile();
  const results = await openBeside(file);
  results.createRun(newResultRun('r1'));
  const holder = start(['hold', resultsOf(file), '200']);
  expect(await holder.next()).toBe('holding');
  results.put(newResult('r1'));
  expect(results.countRecords('r1')).toBe(1);
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
    says: /has no room left \(SQLITE_FULL: /,
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
  '$title fails the put that needs more, keeps what was kept, and leaves the store readable',
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

test.skipIf(isRoot)('results that may not be written are not opened', async () => {
  const file = newFile();
  (await openBeside(file)).close();
  chmodSync(resultsOf(file), 0o400);
  expect(await faultOf(openResultStore({ type: 'sqlite', file }))).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringMatching(/SQLITE_READONLY/),
  });
});

test('a file that is no database, or of a newer version, is told', async () => {
  const file = newFile();
  (await openBeside(file)).close();
  const database = new DatabaseSync(resultsOf(file));
  database.exec('PRAGMA user_version = 2');
  database.close();
  expect(await faultOf(openResultStore({ type: 'sqlite', file }))).toMatchObject({
    code: 'STORE_FAILED',
    message: `the state store ${resultsOf(file)} is of version 2, and this Signalbox knows version 1`,
  });
  writeFileSync(resultsOf(file), 'kind: RuntimeConfig\n'.repeat(100));
  expect((await faultOf(openResultStore({ type: 'sqlite', file }))).message).toMatch(/is no database/);
});

test.each([
  { title: 'a record that is cut off', sql: 'UPDATE results SET text = substr(text, 1, 5)' },
  { title: 'a record that is another', sql: "UPDATE results SET text = '{}'" },
  { title: 'a word that is no status', sql: "UPDATE runs SET status = 'lost'" },
  { title: 'a number that is none', sql: 'UPDATE results SET number = 9000000000000000001' },
])('$title is told, not handed out', async ({ sql }) => {
  const file = newFile();
  const results = await openBeside(file);
  results.createRun(newResultRun('r1'));
  results.put(newResult('r1'));
  results.close();
  const database = new DatabaseSync(resultsOf(file));
  database.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`);
  database.close();
  const again = await openBeside(file);
  const reads = [() => again.findRun('r1'), () => [...again.records('r1')]];
  expect(reads.map(codeOf)).toContain('STORE_FAILED');
});

test('results that were truncated to nothing, or lack a column, are told', async () => {
  const file = newFile();
  (await openBeside(file)).close();
  const database = new DatabaseSync(resultsOf(file));
  database.exec('ALTER TABLE results DROP COLUMN case_id');
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
