import { expect, test } from 'vitest';
import { MAX_AMOUNT, openKeysTables } from '../../../src/store/keys/count-tables.ts';
import { keysLayout } from '../../../src/store/keys/keys-database.ts';
import { memoryFile, openConnection } from '../../../src/store/sqlite/connection.ts';
import { createStatement } from '../../../src/store/sqlite/statement.ts';

async function openTables() {
  const { database } = await openConnection({
    ...{ file: memoryFile, layout: keysLayout, commitWaitsFor: 'nothing', waitMs: 0 },
  });
  const asked: string[] = [];
  const prepare = (sql: string) => {
    asked.push(sql);
    return createStatement(database.prepare(sql));
  };
  const tables = openKeysTables(prepare);
  return { database, asked, tables };
}

/** Queries that scan all rows: for lists, at a start, and over the calls in progress. */
const wholeTables = [
  /^SELECT number FROM generation$/,
  /^SELECT 1 FROM keys/,
  /^SELECT DISTINCT owner FROM leases$/,
];

test('an index finds what a call needs, however many keys there are', async () => {
  const { database, asked } = await openTables();
  const scans = asked.filter((sql) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .some(({ detail }) => /^SCAN (?!\d+-ROW VALUES)/.test(String(detail))),
  );
  expect(asked.length).toBeGreaterThan(15);
  expect(scans.filter((sql) => !wholeTables.some((form) => form.test(sql)))).toEqual([]);
  database.close();
});

test('sums stay readable numbers', async () => {
  const { database, tables } = await openTables();
  const usage = { inputTokens: MAX_AMOUNT, outputTokens: 1, cost: MAX_AMOUNT, isEstimated: false };
  for (let count = 0; count < 5; count += 1) tables.usage.add('k', '2026-11-22', usage);
  expect(tables.usage.costOf('k', '2026-11')).toBe(MAX_AMOUNT);
  const row = database.prepare("SELECT * FROM usage WHERE period = '2026-11'").get();
  expect(row).toMatchObject({ calls: 5, input_tokens: MAX_AMOUNT, output_tokens: 5, estimated: 0 });
  database.close();
});

test('the amounts that calls reserve follow from their rows after any change', async () => {
  const { database, tables } = await openTables();
  const lease = {
    ...{ owner: 'a', key: 'k', second: 1, day: '2026-11-22', isReserved: true },
    ...{ inputTokens: 1, outputTokens: 1 },
  };
  tables.leases.put({ ...lease, number: 1, cost: 5 });
  tables.leases.put({ ...lease, number: 1, cost: 7 });
  tables.leases.put({ ...lease, number: 2, cost: 1 });
  tables.leases.put({ ...lease, number: 2, owner: 'b', cost: 1 });
  expect(tables.leases.heldBy('k')).toEqual({ calls: 3, cost: 9 });
  expect(tables.leases.take('a', 2)?.cost).toBe(1);
  expect(tables.leases.take('a', 2)).toBeUndefined();
  expect(tables.leases.takeAllOf('a')).toHaveLength(1);
  expect(tables.leases.heldBy('k')).toEqual({ calls: 1, cost: 1 });
  expect(tables.leases.owners()).toEqual(['b']);
  database.close();
});

test('the rate of a key keeps only the seconds that count', async () => {
  const { database, tables } = await openTables();
  for (let second = 0; second < 500; second += 1) tables.rates.add('k', 'requests', second, 1);
  const { rows } = database.prepare('SELECT COUNT(*) AS rows FROM rates').get() ?? {};
  expect(rows).toBe(61);
  expect(tables.rates.sumOf('k', 'requests', 499)).toBe(61);
  database.close();
});
