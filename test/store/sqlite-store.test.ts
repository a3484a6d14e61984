import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { storeContract } from './contract.ts';
import { belowContract } from './contract-below.ts';
import { newCall, newRun } from './examples.ts';
import { newFile, openAt } from './processes.ts';

storeContract('sqlite', () =>
  openStore({ type: 'sqlite', file: join(mkdtempSync(join(tmpdir(), 'state-')), '.signalbox/state.db') }),
);

belowContract('sqlite', () => openSqliteStore(newFile()));

test('reading waiting calls waits for no writer, unless one of them has expired', async () => {
  const file = newFile();
  const store = await openAt(file, { waitMs: 50 });
  await store.createRun(newRun('r1'));
  await store.addPending(newCall('p1', 'r1', { expiresAt: 5_000 }));
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  expect(await store.listPendings({}, 4_999)).toHaveLength(1);
  await expect(store.listPendings({}, 5_000)).rejects.toMatchObject({ code: 'STORE_FAILED' });
});

test('no step begins after a cancellation in the same transaction', async () => {
  const store = await openAt(newFile());
  await store.createRun(newRun('r1'));
  const begin = (step: string) => store.beginStep('r1', step, 1, { unlessCancelled: true });
  const [before, , after] = await Promise.allSettled([
    begin('a'),
    store.setRunStatus('r1', { status: 'cancelled', at: 2 }),
    begin('b'),
  ]);
  expect([before, after]).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'RUN_ENDED' } }]);
  expect((await store.listSteps('r1')).map(({ step }) => step)).toEqual(['a']);
});
