import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { hashLink } from '../../src/gateway/audit/row.ts';
import { makeAuditFolder, openAudit, recordOf, writeCalls } from './audit-log.ts';

test('each call is one row, hashed with its number and the hash of the previous row', async () => {
  const folder = makeAuditFolder();
  const log = await openAudit(folder);
  await writeCalls(log, 3);
  await log.close();
  const database = new DatabaseSync(join(folder, 'audit.db'));
  const rows = database.prepare('SELECT seq, body, hash FROM rows ORDER BY seq').all();
  const chain = String(database.prepare('SELECT id FROM chain').get()?.['id']);
  database.close();
  expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  let previous = '0'.repeat(64);
  for (const { seq, body, hash } of rows) {
    previous = hashLink({ chain, seq: Number(seq), previous, body: String(body) });
    expect(hash).toBe(previous);
  }
});

test('the audit keys are readable by the owner only, and are kept across restarts', async () => {
  const folder = makeAuditFolder();
  const modes = ['audit.key', 'audit-digest.key', 'audit.db'];
  await (await openAudit(folder)).close();
  const keys = modes.slice(0, 2).map((file) => readFileSync(join(folder, file), 'utf8'));
  await (await openAudit(folder)).close();
  expect(modes.map((file) => statSync(join(folder, file)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  expect(modes.slice(0, 2).map((file) => readFileSync(join(folder, file), 'utf8'))).toEqual(keys);
  expect(existsSync(join(folder, 'audit.pub'))).toBe(true);
});

test('a memory store has an audit in memory, and leaves no file', async () => {
  const folder = makeAuditFolder();
  const lines: string[] = [];
  const log = await openAudit(folder, {
    store: { type: 'memory' },
    head: { print: (line) => lines.push(line), everyMs: 60_000 },
  });
  await writeCalls(log, 2);
  await log.close();
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual([3]);
  expect(existsSync(join(folder, 'audit.db'))).toBe(false);
});

test('an audit that cannot be opened stops the start', async () => {
  await expect(openAudit('/dev/null/nowhere')).rejects.toMatchObject({ code: 'STORE_FAILED' });
  await expect(openAudit(makeAuditFolder(), { signingKey: 'not a key' })).rejects.toMatchObject({
    code: 'STORE_FAILED',
  });
});

test('a kept body does not allow its digest to be guessed', async () => {
  const folder = makeAuditFolder();
  const log = await openAudit(folder);
  await log.write(recordOf({ requestDigest: 'c'.repeat(64), answerDigest: null }));
  await log.close();
  expect(readFileSync(join(folder, 'audit.db'), 'latin1')).not.toContain('c'.repeat(64));
});
