import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ResultStore } from '../../src/store/result-store.ts';
import { memoryFile } from '../../src/store/sqlite/connection.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqliteResults } from '../../src/store/sqlite-result-store.ts';
import { openStoredRun } from '../../src/suites/journal.ts';
import { openCache } from '../../src/suites/open-subject.ts';
import type { SubjectAdapter } from '../../src/suites/subject/adapter.ts';
import { type Damage, damagesOf, outcomeOf } from '../damage.ts';

const fixture = join(import.meta.dirname, '../fixtures/records/evals.db');

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

interface Texts {
  readonly header: string;
  readonly report: string;
  readonly record: string;
}

function storedTexts(): Texts {
  const [header, report, record] = [
    stored('runs', 'header'),
    stored('runs', 'report'),
    stored('results', 'text'),
  ];
  return { header, report, record };
}

async function keepAndRead(store: ResultStore, id: string, { header, report, record }: Texts): Promise<void> {
  const about = { name: 'desk', file: '/srv/desk/desk.suite.yaml', fingerprint: 'f', createdAt: 1 };
  await store.createRun({ id, kind: 'suite', ...about, header });
  for (const epoch of [1, 2])
    await store.put({ runId: id, number: 1, epoch, caseId: 'one', digest: 'd', text: record });
  await store.setRunEnd(id, { status: 'failed', report });
  const run = await store.findRun(id);
  if (run === undefined) throw new Error('the run is not there');
  for await (const read of openStoredRun(store, run).cases()) JSON.stringify(read);
}

test.each(['header', 'report', 'record'] as const)(
  'any damage to the %s of a run is read or is a coded error',
  async (at) => {
    const texts = storedTexts();
    const store = await openSqliteResults(memoryFile);
    const damages: Damage[] = [...damagesOf(texts[at]), { title: 'cut', text: texts[at].slice(0, -5) }];
    const outcomes = new Set<string>();
    for (const [index, { title, text }] of damages.entries()) {
      const outcome = await outcomeOf(() => keepAndRead(store, `r${index}`, { ...texts, [at]: text }));
      outcomes.add(outcome.startsWith('crashed') ? `${title} ${outcome}` : outcome);
    }
    await store.close();
    expect([...outcomes].toSorted()).toEqual(['STORE_FAILED', 'read']);
  },
);

test('the error names the part that does not fit', async () => {
  const texts = storedTexts();
  const record = texts.record.replace('"duration_ms":', '"duration_ms":"long","was":');
  const reading = keepAndRead(await openSqliteResults(memoryFile), 'r1', { ...texts, record });
  await expect(reading).rejects.toThrow(
    'the stored results are damaged: found text that is not a record of a run (at record.subject.duration_ms)',
  );
});

test('a damaged answer is generated again', async () => {
  const adapter: SubjectAdapter = {
    identify: () => 'subject',
    prepare: () => ({ key: 'question', send: () => Promise.reject(new Error('nobody asks')) }),
  };
  const found: string[] = [];
  for (const { text } of [...damagesOf(stored('answers', 'text')), { title: 'cut', text: '{"text": "a' }]) {
    const answers = { findAnswer: async () => text, keepAnswer: async () => {} };
    const answer = await openCache(answers, adapter, undefined).entryFor(adapter.prepare({}), 1).find();
    found.push(answer === undefined ? 'anew' : `${typeof answer.text} ${Array.isArray(answer.messages)}`);
  }
  expect(new Set(found)).toEqual(new Set(['anew', 'string true']));
});
