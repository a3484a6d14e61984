import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ResultStore } from '../../src/store/result-store.ts';
import { memoryFile } from '../../src/store/sqlite/connection.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqliteResults } from '../../src/store/sqlite-result-store.ts';
import { openStoredRun } from '../../src/suite/run/journal.ts';
import type { SubjectAdapter } from '../../src/suite/subject/adapter.ts';
import { openCache } from '../../src/suite/subject/cache.ts';
import { type Damage, damagesOf, outcomeOf } from '../damage.ts';

const fixture = join(import.meta.dirname, '../fixtures/records/evals.db');

/** A column of the first row of a table of the fixture. */
function stored(table: string, column: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'records-')), 'evals.db');
  cpSync(fixture, file);
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  return String(
    database.prepare(`SELECT ${column} AS text FROM ${table} ORDER BY seq LIMIT 1`).get()?.['text'],
  );
}

/** A run as it is kept, with these texts in place of its own. */
async function openWith(texts: { header?: string; report?: string; record?: string }): Promise<ResultStore> {
  const store = await openSqliteResults(memoryFile);
  const header = texts.header ?? stored('runs', 'header');
  const about = { name: 'desk', file: '/srv/desk/desk.suite.yaml', fingerprint: 'f', createdAt: 1 };
  store.createRun({ id: 'r1', kind: 'suite', ...about, header });
  const text = texts.record ?? stored('results', 'text');
  for (const epoch of [1, 2]) store.put({ runId: 'r1', number: 1, epoch, caseId: 'one', digest: 'd', text });
  store.setRunEnd('r1', { status: 'failed', report: texts.report ?? stored('runs', 'report') });
  return store;
}

async function readAll(store: ResultStore): Promise<void> {
  const run = store.findRun('r1');
  if (run === undefined) throw new Error('the run is not there');
  for await (const record of openStoredRun(store, run).cases()) JSON.stringify(record);
}

const kinds = [
  { title: 'the header of a run', table: 'runs', column: 'header', at: 'header' },
  { title: 'the report of a run', table: 'runs', column: 'report', at: 'report' },
  { title: 'the record of an epoch', table: 'results', column: 'text', at: 'record' },
] as const;

test.each(kinds)(
  'whatever part of $title is damaged is read or is a coded error',
  async ({ table, column, at }) => {
    const text = stored(table, column);
    const rest = {
      header: stored('runs', 'header'),
      report: stored('runs', 'report'),
      record: stored('results', 'text'),
    };
    const damages: Damage[] = [...damagesOf(text), { title: 'cut', text: text.slice(0, -5) }];
    const outcomes = new Set<string>();
    const crashes: string[] = [];
    for (const { title, text: damaged } of damages) {
      const store = await openWith({ ...rest, [at]: damaged });
      const outcome = await outcomeOf(() => readAll(store));
      if (outcome.startsWith('crashed')) crashes.push(`${title}: ${outcome}`);
      outcomes.add(outcome);
      store.close();
    }
    expect(crashes).toEqual([]);
    expect([...outcomes].toSorted()).toEqual(['STORE_FAILED', 'read']);
  },
);

test('the error names the part that does not fit', async () => {
  const text = stored('results', 'text').replace('"duration_ms":', '"duration_ms":"long","was":');
  const store = await openWith({ record: text });
  await expect(readAll(store)).rejects.toThrow(
    'the stored results are damaged: there is text that is no record of a run (at record.subject.duration_ms)',
  );
});

test('an answer that is damaged is made anew', () => {
  const adapter: SubjectAdapter = {
    identify: () => 'subject',
    prepare: () => ({ key: 'question', send: () => Promise.reject(new Error('nobody asks')) }),
  };
  const found = [...damagesOf(stored('answers', 'text')), { title: 'cut', text: '{"text": "a' }].map(
    ({ text }) => {
      const entry = openCache({ findAnswer: () => text, keepAnswer: () => {} }, adapter, undefined).entryFor(
        adapter.prepare({}),
        1,
      );
      const answer = entry.find();
      return answer === undefined ? 'anew' : `${typeof answer.text} ${Array.isArray(answer.messages)}`;
    },
  );
  expect(new Set(found)).toEqual(new Set(['anew', 'string true']));
});
