import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import type { RuntimeError } from '../../src/base/errors.ts';
import { RefusedCall } from '../../src/gateway/wire/refusal.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { mayMount, start, withDisk } from '../store/processes.ts';
import { makeAuditFolder, openAudit, recordOf, writeCalls } from './audit-log.ts';
import { evidenceIn, rowsOf, verifyAfter } from './audit-tampering.ts';

const { DatabaseSync } = loadSqlite();
const writer = join(import.meta.dirname, 'audit-writer.ts');

async function idsIn(folder: string): Promise<Set<string>> {
  let ids = new Set<string>();
  // Opening it recovers the journal of a killed process.
  await (await openAudit(folder)).close();
  const report = await verifyAfter(evidenceIn(folder), (database) => {
    ids = new Set(rowsOf(database).map(({ body }) => JSON.parse(body).id));
  });
  expect(report.problems).toEqual([]);
  return ids;
}

test('servers that share a folder and are killed at any moment leave one chain with every acknowledged call', async () => {
  const folder = makeAuditFolder();
  const told: string[] = [];
  for (let round = 0; round < 8; round += 1) {
    const servers = ['a', 'b'].map((name) => start([folder, `${name}${round}`], [], writer));
    const first = await Promise.all(servers.map((server) => server.next()));
    await sleep(20 + round * 15);
    const rest = await Promise.all(servers.map((server) => server.kill()));
    told.push(...first.map(String), ...rest.flat());
  }
  const kept = await idsIn(folder);
  expect(told.filter((id) => !kept.has(id))).toEqual([]);
  expect(told.length).toBeGreaterThan(100);
});

test('servers that share a folder write one chain', async () => {
  const folder = makeAuditFolder();
  const servers = ['a', 'b', 'c'].map((name) => start([folder, name, '50'], [], writer));
  const told = (await Promise.all(servers.map((server) => server.rest()))).flat();
  const kept = await idsIn(folder);
  expect(told).toHaveLength(450);
  expect(told.filter((id) => !kept.has(id))).toEqual([]);
});

const small = [
  { title: 'a full disk', prefix: (folder: string) => withDisk(folder, 'size=600k'), possible: mayMount },
  {
    title: 'a limit on the size of files',
    prefix: () => ['sh', '-c', 'ulimit -f 512 && exec "$@"', 'sh'],
    possible: process.platform !== 'win32',
  },
];

test.for(small.filter(({ possible }) => possible))(
  '$title refuses calls without revealing where',
  async ({ prefix }) => {
    const folder = makeAuditFolder();
    mkdirSync(folder, { recursive: true });
    const lines = await start([folder, 'a', '1000', '5000'], prefix(folder), writer).rest();
    const refused = lines.filter((line) => line.startsWith('refused '));
    expect(refused).toHaveLength(1);
    expect(JSON.parse(refused[0]?.slice('refused '.length) ?? '')).toEqual({
      ...{ status: 503, code: 'audit_failed', isRetryable: false },
      message: 'the call cannot be recorded, so it is refused',
    });
    expect(lines.length).toBeGreaterThan(5);
  },
);

async function outcomeOf(call: Promise<void>): Promise<string> {
  try {
    await call;
    return 'kept';
  } catch (error) {
    return error instanceof RefusedCall ? error.refusal.code : String(error);
  }
}

function lock(folder: string): { readonly release: () => void } {
  const database = new DatabaseSync(join(folder, 'audit.db'));
  database.exec('BEGIN IMMEDIATE');
  return { release: () => database.close() };
}

test('calls are refused while rows cannot be kept, and are accepted again afterwards', async () => {
  const folder = makeAuditFolder();
  const warnings: RuntimeError[] = [];
  const log = await openAudit(folder, { warn: (error) => void warnings.push(error), waitMs: 200 });
  await writeCalls(log, 2);
  expect(await outcomeOf(log.ensureWritable())).toBe('kept');
  const { release } = lock(folder);
  expect(await outcomeOf(log.write(recordOf({ id: 'lost' })))).toBe('audit_failed');
  const asked = await Promise.all([1, 2, 3].map(() => outcomeOf(log.ensureWritable())));
  expect(asked).toEqual(['audit_failed', 'audit_failed', 'audit_failed']);
  release();
  expect(await outcomeOf(log.ensureWritable())).toBe('kept');
  await log.write(recordOf({ id: 'call_3' }));
  await log.close();
  expect(warnings.map(({ code }) => code)).toEqual(['STORE_FAILED']);
  expect([...(await idsIn(folder))]).toEqual([undefined, 'call_1', 'call_2', 'call_3']);
});

test('an audit that is not required only logs the same faults', async () => {
  const folder = makeAuditFolder();
  const warnings: RuntimeError[] = [];
  const log = await openAudit(folder, {
    ...{ isRequired: false, waitMs: 100 },
    warn: (error) => void warnings.push(error),
  });
  const { release } = lock(folder);
  expect(await outcomeOf(log.write(recordOf()))).toBe('kept');
  expect(await outcomeOf(log.ensureWritable())).toBe('kept');
  await vi.waitFor(() => expect(warnings).toHaveLength(1), 30_000);
  release();
  await log.close();
});

test.each([
  ['removed', (file: string) => rmSync(file)],
  ['replaced', (file: string) => renameSync(file, `${file}.old`) ?? writeFileSync(file, '')],
])('a file that was %s under it refuses every call, and gets none of them', async (_what, change) => {
  const folder = makeAuditFolder();
  const log = await openAudit(folder, { warn: () => {} });
  await writeCalls(log, 1);
  change(join(folder, 'audit.db'));
  expect(await outcomeOf(log.write(recordOf()))).toBe('audit_failed');
  expect(await outcomeOf(log.ensureWritable())).toBe('audit_failed');
  await log.close();
});

test('the exit of the audit thread fails the calls in progress, and a new thread starts', async () => {
  const folder = makeAuditFolder();
  const log = await openAudit(folder, { warn: () => {} });
  const post = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker) {
    void this.terminate();
  });
  expect(await outcomeOf(log.write(recordOf({ id: 'lost' })))).toBe('audit_failed');
  post.mockRestore();
  expect(await outcomeOf(log.ensureWritable())).toBe('kept');
  await log.write(recordOf({ id: 'call_2' }));
  await log.close();
  expect([...(await idsIn(folder))]).toEqual([undefined, 'call_2']);
});

test('rows requested before the end are kept, and the head on disk names the last row', async () => {
  const folder = makeAuditFolder();
  const file = join(folder, 'elsewhere/head.json');
  const log = await openAudit(folder, { head: { file, everyMs: 60_000 } });
  const writes = writeCalls(log, 100);
  await log.close();
  await writes;
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ seq: 101 });
});

test('a head that cannot be written is logged, and calls are still accepted', async () => {
  const folder = makeAuditFolder();
  const warnings: RuntimeError[] = [];
  const head = { file: '/proc/none/head.json', everyMs: 60_000 };
  const log = await openAudit(folder, { head, warn: (error) => void warnings.push(error) });
  await writeCalls(log, 1);
  await log.close();
  expect(warnings.map(({ code }) => code)).toEqual(['STORE_FAILED', 'STORE_FAILED']);
});
