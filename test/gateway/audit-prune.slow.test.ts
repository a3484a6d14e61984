import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Head, readHead } from '../../src/gateway/audit/keys.ts';
import { pruneAudit } from '../../src/gateway/audit/writer.ts';
import type { AuditLog } from '../../src/gateway/ports.ts';
import { makeAuditFolder, openAudit, recordOf } from './audit-log.ts';
import { type Evidence, evidenceIn, rechain, rowsOf, verifyAfter } from './audit-tampering.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);

let evidence: Evidence;
/** The heads of rows 4, 6 and 9. The first six rows are pruned later. */
let heads: readonly Head[];

beforeAll(async () => {
  const folder = makeAuditFolder();
  heads = [await writeDays(folder, 1, 3), await writeDays(folder, 4, 5), await writeDays(folder, 6, 8)];
  expect(await prune(folder, 5.5)).toBe(6);
  expect(await prune(folder, 5.5)).toBe(0);
  evidence = evidenceIn(folder);
});

async function writeDays(folder: string, from: number, to: number): Promise<Head> {
  const lines: string[] = [];
  const head = { print: (line: string) => void lines.push(line), everyMs: 60_000 };
  const log = await openAudit(folder, { keepsContent: true, head });
  for (let at = from; at <= to; at += 1) await writeDay(log, at);
  await log.close();
  return readHead(lines.at(-1) ?? '') ?? expect.unreachable();
}

async function writeDay(log: AuditLog, at: number): Promise<void> {
  await log.write(
    recordOf({ id: `call_${at}`, at: start + at * day, content: { request: `${at}`, answer: '' } }),
  );
}

async function prune(folder: string, days: number): Promise<number> {
  const file = join(folder, 'audit.db');
  return await pruneAudit({ file, signingKey: undefined, before: start + days * day });
}

test('pruning removes old rows with their contents, and the remaining chain verifies', async () => {
  const report = await verifyAfter(evidence, (database) => {
    expect(rowsOf(database).map(({ seq }) => seq)).toEqual([7, 8, 9, 10]);
    const contents = database.prepare('SELECT seq FROM contents').all();
    expect(contents.map(({ seq }) => seq)).toEqual([7, 8, 9]);
  });
  expect(report).toMatchObject({ status: 'good', rows: 4, first: 7, last: 10, pruned: 6 });
});

test('earlier heads are compared as far as their rows are known', async () => {
  const report = await verifyAfter(evidence, () => {}, heads);
  expect(report).toMatchObject({ status: 'good', heads: { compared: 3, pruned: 1 } });
});

test('pruning and a server continue after the rows that record an earlier removal', async () => {
  const folder = makeAuditFolder();
  for (let at = 1; at <= 6; at += 1) {
    await writeDays(folder, at, at);
    await prune(folder, at - 0.5);
  }
  const log = await openAudit(folder, { keepMs: Date.now() - (start + 6.5 * day) });
  await writeDay(log, 7);
  await log.close();
  const report = await verifyAfter(evidenceIn(folder), (database) => {
    const kinds = rowsOf(database).map(({ body }) => JSON.parse(body).kind);
    expect(kinds).toEqual(['prune', 'prune', 'call']);
  });
  expect(report).toMatchObject({ status: 'good', pruned: 11 });
});

test('a call with a future timestamp does not block pruning', async () => {
  const folder = makeAuditFolder();
  await writeDays(folder, 1, 2);
  const log = await openAudit(folder);
  await log.write(recordOf({ at: Date.now() + 1000 * day }));
  await writeDay(log, 3);
  await writeDay(log, 4);
  await log.close();
  expect(await prune(folder, 3.5)).toBe(5);
  expect(await verifyAfter(evidenceIn(folder), () => {})).toMatchObject({ status: 'good', first: 6 });
});

test('all rows except the last can be pruned', async () => {
  const folder = makeAuditFolder();
  await writeDays(folder, 1, 3);
  expect(await prune(folder, 100)).toBe(3);
  expect(await prune(folder, 100)).toBe(1);
  expect(await prune(folder, 100)).toBe(0);
  expect(await verifyAfter(evidenceIn(folder), () => {})).toMatchObject({ status: 'good', rows: 2 });
});

test('verification finds rows that were removed without a record of it', async () => {
  for (const statement of [
    'DELETE FROM rows WHERE seq = 7',
    'DELETE FROM rows WHERE seq <= 8',
    "DELETE FROM rows WHERE body LIKE '%prune%'; UPDATE chain SET seq = 9",
  ]) {
    const report = await verifyAfter(evidence, (database) => database.exec(statement));
    expect(report.status).toBe('tampered');
  }
});

test('a row that records a removal cannot be forged without the key', async () => {
  const report = await verifyAfter(evidence, (database) => {
    const rows = rowsOf(database);
    const [gone, ...kept] = rows;
    const note = { kind: 'prune', at: Date.now(), through: gone?.seq, hash: gone?.hash, removed: 1 };
    database.exec('DELETE FROM contents WHERE seq = 7');
    rechain(database, [...kept.map(({ body }) => body), JSON.stringify(note)], 8, gone?.hash);
  });
  expect(report.problems.some(({ message }) => message.includes('not signed'))).toBe(true);
});

test('the row after the removed ones is bound to them', async () => {
  const report = await verifyAfter(evidence, (database) => {
    database.exec("UPDATE rows SET body = json_set(body, '$.caller', 'nobody') WHERE seq = 7");
  });
  expect(report.problems).toMatchObject([{ seq: 7, id: 'call_6' }]);
});

test('verification finds rows that were removed and put back', async () => {
  const report = await verifyAfter(evidence, (database) => {
    database.exec("INSERT INTO rows (seq, body, hash) VALUES (6, '{}', 'x')");
  });
  expect(report.status).toBe('tampered');
});
