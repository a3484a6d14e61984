import { expect, test } from 'vitest';
import { parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { fits } from '../../../src/base/json/shape.ts';
import { scrubMembers } from '../../../src/contract/scrub.ts';
import { memoryFile } from '../../../src/store/sqlite/connection.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { openJournal, openStoredRun } from '../../../src/suites/journal.ts';
import { type CaseRecord, caseRecord } from '../../../src/suites/record.ts';
import type { SuiteOptions } from '../../../src/suites/suite-run.ts';
import { loadSpec, run } from '../support.ts';

const spec = `dataset: {path: rows.jsonl}
repeat: {epochs: 2}
case: {id: "\${case.id}", content: text, context: {variables: {tone: "\${case.tone}"}}}
evals: [{id: a, type: t, params: {score: 1}}]
`;

/** The reported records, and the stored records. */
async function recordsOf(row: string, options: Partial<SuiteOptions> = {}) {
  const store = await openSqliteResults(memoryFile);
  const names = { kind: 'suite', name: 'demo', file: '/demo', fingerprint: 'f', createdAt: 0 } as const;
  const header = JSON.stringify({
    ...{ run_id: 'r1', suite: 'demo', file: 'demo', started_at: '', epochs: 2, total: 1 },
    evals: [{ id: 'a', type: 't', role: 'assertion', weight: 1, reducer: 'mean' }],
  });
  await store.createRun({ id: 'r1', ...names, header });
  const told: CaseRecord[] = [];
  await run(loadSpec(spec, `${row}\n`), {
    ...options,
    journal: openJournal(store, 'r1', false),
    onProgress: (_, record) => void (record && told.push(record)),
  });
  const stored = await store.findRun('r1');
  if (stored === undefined) throw new Error('the run is gone');
  return { told, kept: await Array.fromAsync(openStoredRun(store, stored).cases()) };
}

test('a case is reported and stored with its row and its variables, to the last digit', async () => {
  const row =
    '{"id":"x","tone":"kind","n":12345678901234567890,"__proto__":{"a":1},"list":[1,null,{"b":""}]}';
  const { told, kept } = await recordsOf(row);
  expect(stringifyJson(kept)).toBe(stringifyJson(told));
  expect(stringifyJson(kept[0]?.row)).toBe(stringifyJson(parseLossless(row)));
  expect(kept[0]?.epochs.map(({ variables }) => variables)).toEqual([{ tone: 'kind' }, { tone: 'kind' }]);
  expect(kept[0]).not.toHaveProperty('row_cuts');
});

test('a secret in a row is neither reported nor stored', async () => {
  const scrubRow: SuiteOptions['scrubRow'] = (row) =>
    scrubMembers(row, (text) => text.replaceAll('s3cret', '[redacted]'));
  const { told, kept } = await recordsOf('{"id":"x","tone":"","note":"it is s3cret"}', { scrubRow });
  expect(told[0]?.row).toEqual({ id: 'x', tone: '', note: 'it is [redacted]' });
  expect(kept[0]?.row).toEqual(told[0]?.row);
});

test('only the beginnings of texts are stored of a very large row, with a note', async () => {
  const { told, kept } = await recordsOf(JSON.stringify({ id: 'x', tone: '', page: 'a'.repeat(20_000_000) }));
  const cuts = [{ path: 'page', unit: 'characters', kept: 1_048_576, length: 20_000_000 }];
  expect([told[0]?.row_cuts, kept[0]?.row_cuts]).toEqual([cuts, cuts]);
  expect(kept[0]?.row?.['page']).toHaveLength(1_048_576);
});

test('a record from before rows were stored can be read', () => {
  const record = { number: 1, file: 'f', line: 1, id: 'x', tags: [], epochs: [], results: [] };
  expect(fits(caseRecord, { ...record, score: null, passed: true })).toBe(true);
});
