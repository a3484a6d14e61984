import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import type { ResultStore } from '../../../src/store/result-store.ts';
import { memoryFile } from '../../../src/store/sqlite/connection.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { openJournal } from '../../../src/suites/journal.ts';
import { loadSpec, run, toLines } from '../support.ts';

const spec = `dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: text}
evals: [{id: a, type: t, params: {score: "\${case.score}"}}]
`;
const rows = Array.from({ length: 20 }, (_, index) => ({ id: `c${index + 1}`, score: 1 }));

/** A store with one run. `batches` counts the records of each write. */
async function openStore(): Promise<{ readonly store: ResultStore; readonly batches: number[] }> {
  const store = await openSqliteResults(memoryFile);
  const run = {
    kind: 'suite' as const,
    name: 'demo',
    file: '/demo.suite.yaml',
    fingerprint: 'f',
    createdAt: 0,
  };
  await store.createRun({ id: 'r1', ...run, header: '{}' });
  const batches: number[] = [];
  const putAll: ResultStore['putAll'] = async (records) => {
    batches.push(records.length);
    await store.putAll(records);
  };
  return { store: { ...store, putAll }, batches };
}

test('a case is in the store before any listener receives it', async () => {
  const { store } = await openStore();
  const kept: Promise<boolean>[] = [];
  await run(loadSpec(spec, toLines(rows)), {
    window: 4,
    journal: openJournal(store, 'r1', false),
    onProgress: (_, record) => {
      const found = store.get('r1', record?.number ?? 0, 1);
      kept.push(found.then((one) => one?.caseId === record?.id));
    },
  });
  expect(await Promise.all(kept)).toEqual(rows.map(() => true));
});

test('cases judged in one turn of the event loop are stored together', async () => {
  const { store, batches } = await openStore();
  await run(loadSpec(spec, toLines(rows)), { window: 20, journal: openJournal(store, 'r1', false) });
  expect(batches.reduce((sum, size) => sum + size, 0)).toBe(20);
  expect(batches.length).toBeLessThan(20);
});

test('a store that fails ends the run', async () => {
  const { store } = await openStore();
  const putAll = async () => {
    throw new RuntimeError('STORE_FAILED', 'no room');
  };
  const running = run(loadSpec(spec, toLines(rows)), {
    window: 4,
    journal: openJournal({ ...store, putAll }, 'r1', false),
  });
  await expect(running).rejects.toMatchObject({ code: 'STORE_FAILED' });
});
