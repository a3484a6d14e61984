import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { copyStore } from '../../../src/runtime/project/copy-store.ts';
import { copiedState } from '../../../src/store/copy/copied-table.ts';
import { openPostgresResults } from '../../../src/store/postgres-result-store.ts';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { exactText, faultOf, hardStrings, newCall, newResult, newResultRun, newRun } from '../examples.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

describe.runIf(hasPostgres)(`copied stores${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('everything is copied byte for byte, and both stores answer alike [DS-POSTGRES-16]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRun, { maxLength: 6 }), async (runs) => {
        const here = newFolder();
        const url = await server.newUrl('socket', 'caller');
        await fill(here.state, runs);
        await copy(here.config, url);
        const name = new URL(url).pathname.slice(1);
        for (const file of [here.state, here.results])
          for (const { table, columns, rows } of rowsOf(file))
            expect([table, await askRows(name, table, columns)]).toEqual([table, rows]);
        const [file, database] = [await openSqliteStore(here.state), await openPostgresStore(addressOf(url))];
        try {
          expect(await answersOf(database)).toEqual(await answersOf(file));
        } finally {
          await Promise.all([file.close(), database.close()]);
          rmSync(here.folder, { recursive: true });
        }
      }),
      { numRuns: Number(process.env['COPY_RUNS'] ?? 12) },
    );
  });

  test('later records follow the copied ones, and history continues [DS-POSTGRES-16]', async () => {
    const { state, config } = newFolder();
    const url = await server.newUrl();
    await fill(state, [oneRun, oneRun]);
    await copy(config, url);
    const store = await openPostgresStore(addressOf(url));
    onTestFinished(() => store.close());
    await store.createRun(newRun('new'));
    await store.beginStep('new', 'first', 1);
    expect((await store.listRuns()).map(({ id }) => id)).toEqual(['new', 'r1', 'r0']);
    expect(await store.listHistory('new')).toEqual([{ what: 'began', subject: 'first' }]);
    const results = await openPostgresResults(addressOf(url));
    onTestFinished(() => results.close());
    await results.createRun(newResultRun('later'));
    expect(await results.countRecords('suite')).toBe(2);
    const ratings = await Array.fromAsync(results.ratings('suite'));
    expect(ratings.map(({ caseId }) => caseId)).toEqual(['a\0b', 'a\0b']);
    const place = { caseId: 'a\0b', eval: '', by: 'ada' };
    expect(await results.removeRating('suite', { ...place, variant: 'small' })).toBe(true);
    expect((await Array.fromAsync(results.ratings('suite'))).map(({ text }) => text)).toEqual([
      '{"score":1}',
    ]);
  });

  test('unsent notifications are sent from the copy, once, with the original due time [DS-POSTGRES-16]', async () => {
    const { state, config } = newFolder();
    const url = await server.newUrl('socket', 'caller');
    await fill(state, [oneRun, { ...oneRun, end: 'failed' }]);
    const source = await openSqliteStore(state);
    const [told, postponed] = await source.outbox.take(['ops'], 10, { leaseMs: 0, limit: 2 });
    await source.outbox.remove(told?.seq ?? 0);
    await source.outbox.postpone(postponed?.seq ?? 0, Date.now(), 3_600_000);
    await source.close();
    await copy(config, url);
    const database = await openPostgresStore(addressOf(url));
    onTestFinished(() => database.close());
    const options = { leaseMs: 60_000, limit: 9 };
    const due = await database.outbox.take(['ops'], Date.now(), options);
    expect(due.map(({ runId, event, attempts }) => [runId, event, attempts])).toEqual([['r1', 'failed', 1]]);
    expect(await database.outbox.take(['ops'], Date.now(), options)).toEqual([]);
    const later = await database.outbox.take(['ops'], Date.now() + 7_200_000, options);
    expect(later.map(({ runId, attempts }) => [runId, attempts]).toSorted()).toEqual([
      ['r1', 2],
      ['r1', 2],
    ]);
  });

  test('repeating a copy changes nothing, and a target with other data is not touched [DS-POSTGRES-17]', async () => {
    const { state, config } = newFolder();
    const url = await server.newUrl();
    await fill(state, [oneRun]);
    expect((await copy(config, url)).wasThere).toBe(false);
    expect((await copy(config, url)).wasThere).toBe(true);
    const store = await openSqliteStore(state);
    await store.createRun(newRun('more'));
    await store.close();
    expect(await faultOf(copy(config, url))).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('is not empty'),
    });
    const target = await openPostgresStore(addressOf(url));
    onTestFinished(() => target.close());
    expect(await target.findRun('more')).toBeUndefined();
  });

  test('two concurrent copies result in one [DS-POSTGRES-17]', async () => {
    const { state, config } = newFolder();
    const url = await server.newUrl();
    await fill(state, [oneRun, oneRun]);
    // One copy may get the results and the other the state, so that neither finds both.
    const [one, other] = await Promise.all([copy(config, url), copy(config, url)]);
    expect([one.wasThere && other.wasThere, other.tables]).toEqual([false, one.tables]);
    expect((await copy(config, url)).wasThere).toBe(true);
  });

  test('a store with a run in progress is not copied [DS-POSTGRES-17]', async () => {
    const { state, config } = newFolder();
    await fill(state, [oneRun]);
    const file = await openSqliteStore(state);
    onTestFinished(() => file.close());
    await file.claimRun('r0');
    expect(await faultOf(copy(config, await server.newUrl()))).toMatchObject({ code: 'RUN_BUSY' });
  });

  test('a target that stores wrong rows is detected, and keeps nothing [DS-POSTGRES-16]', async () => {
    const { state, config } = newFolder();
    const url = await server.newUrl();
    await fill(state, [oneRun]);
    const store = await openPostgresStore(addressOf(url));
    onTestFinished(() => store.close());
    const name = new URL(url).pathname.slice(1);
    // A trigger that re-enables itself when it is disabled.
    await server.ask(
      `CREATE FUNCTION signalbox.spoil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.name := upper(NEW.name); RETURN NEW; END';
       CREATE TRIGGER spoil BEFORE INSERT ON signalbox.runs FOR EACH ROW EXECUTE FUNCTION signalbox.spoil();
       CREATE FUNCTION signalbox.keep_on() RETURNS event_trigger LANGUAGE plpgsql AS
         'BEGIN IF pg_trigger_depth() = 0 AND EXISTS (SELECT 1 FROM pg_trigger WHERE tgname = ''spoil'' AND tgenabled = ''D'') THEN
           EXECUTE ''ALTER TABLE signalbox.runs ENABLE ALWAYS TRIGGER spoil''; END IF; END';
       CREATE EVENT TRIGGER keep_on ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION signalbox.keep_on()`,
      name,
    );
    expect(await faultOf(copy(config, url))).toMatchObject({
      message: expect.stringContaining('returned rows other than'),
    });
    expect(await store.listRuns()).toEqual([]);
  });

  test('an empty store is copied, and a missing one is not', async () => {
    const { state, config } = newFolder();
    const url = await server.newUrl();
    expect(await faultOf(copy(config, url))).toMatchObject({ code: 'STORE_FAILED' });
    await (await openSqliteStore(state)).close();
    expect((await copy(config, url)).tables.map(({ rows }) => rows)).toEqual(copiedState.tables.map(() => 0));
  });

  test('a text of many megabytes is copied [DS-POSTGRES-16]', async () => {
    const megabytes = Number(process.env['COPY_TEXT_MB'] ?? 6);
    const { state, config } = newFolder();
    const url = await server.newUrl();
    const text = 'é"0123456789 '.repeat(megabytes * 72_000);
    await fill(state, [{ ...oneRun, outcomes: [{ text, isLong: false }] }]);
    await copy(config, url);
    const store = await openPostgresStore(addressOf(url));
    onTestFinished(() => store.close());
    expect((await store.listSteps('r0'))[0]?.outcome?.text).toBe(JSON.stringify({ value: text }));
  });

  /** The rows of a Postgres table as JSON, without its Postgres-only columns. */
  async function askRows(database: string, table: string, columns: readonly string[]): Promise<string[]> {
    const rows = await server.ask(`SELECT ${columns.join(', ')} FROM signalbox.${table}`, database);
    return rows.map((row) => JSON.stringify(columns.map((column) => String(row[column] ?? null)))).toSorted();
  }
});

test('a store in Postgres is not copied, nor is any to a file, and the error names the next step', async () => {
  const { config, toPostgres } = newFolder();
  expect(await faultOf(copy(config, 'back.db'))).toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('sqlite3 '),
  });
  for (const to of ['back.db', 'postgres://me@db/x'])
    expect(await faultOf(copy(toPostgres, to, 'postgres://me@db/x'))).toMatchObject({
      code: 'USAGE',
      hint: expect.stringContaining('pg_dump'),
    });
});

interface SomeRun {
  readonly source: string;
  readonly outcomes: readonly { readonly text: string; readonly isLong: boolean }[];
  readonly call: string | null;
  readonly ruling: string;
  readonly end: 'completed' | 'failed' | 'pending' | 'running';
}

const oneRun: SomeRun = {
  ...{
    source: 'kind: Pipeline',
    outcomes: [{ text: 'x', isLong: true }],
    call: 'a',
    ruling: '',
    end: 'pending',
  },
};

const hard = fc.oneof(fc.constantFrom(...hardStrings), fc.string({ unit: 'binary' }));
const anyRun: fc.Arbitrary<SomeRun> = fc.record({
  source: hard,
  outcomes: fc.array(fc.record({ text: hard, isLong: fc.boolean() }), { maxLength: 4 }),
  call: fc.option(hard),
  ruling: fc.constantFrom('', 'approved', 'rejected', 'responded', 'cancelled'),
  end: fc.constantFrom('completed', 'failed', 'pending', 'running'),
});

async function fill(state: string, runs: readonly SomeRun[]): Promise<void> {
  const store = await openSqliteStore(state);
  await store.outbox.setRules(newRun('any').config, [
    { target: 'ops', event: 'pending' },
    { target: 'ops', event: 'failed' },
  ]);
  for (const [number, run] of runs.entries()) await addRun(store, `r${number}`, run);
  const { digest: instead } = await store.addPin({ server: 'files', text: exactText, at: 1 });
  await store.addPin({ server: 'desk', text: '{}', at: 2 });
  await store.acceptPin({ server: 'files', text: '{"tools":{}}', by: 'ada', at: 3, instead });
  await store.close();
  const results = await openSqliteResults(join(dirname(state), 'evals.db'));
  await results.createRun(newResultRun('suite'));
  await results.put(newResult('suite'));
  await results.put(newResult('suite', { number: 2, caseId: 'a\0b' }));
  await results.keepRating('suite', { caseId: 'a\0b', eval: '', by: 'ada', at: 7, text: '{"score":1}' });
  const ofSmall = { caseId: 'a\0b', eval: '', by: 'ada', variant: 'small' };
  await results.keepRating('suite', { ...ofSmall, at: 8, text: '{"variant":"small","score":0}' });
  await results.close();
}

async function addRun(store: Store, id: string, run: SomeRun): Promise<void> {
  await store.createRun(newRun(id, { source: run.source, input: new Json(exactText) }));
  for (const [number, { text, isLong }] of run.outcomes.entries()) {
    const step = `step-${number}`;
    await store.beginStep(id, step, number);
    const long = isLong ? text + 'long '.repeat(2_000) : text;
    if (number !== 3) await store.endStep(id, step, new Json(JSON.stringify({ value: long })), number + 1);
  }
  if (run.call !== null) {
    await store.addPending(newCall(`${id}-call`, id, { message: run.call }));
    const args = { by: 'ann', reason: run.call };
    if (run.ruling === 'rejected') await store.decide(`${id}-call`, { kind: 'rejected', ...args }, 5);
    if (run.ruling === 'approved')
      await store.decide(`${id}-call`, { kind: 'approved', args: new Json('{"b": 1.0}'), ...args }, 5);
  }
  await store.setRunStatus(id, { status: run.end, output: new Json(exactText), at: 9 });
}

async function answersOf(store: Store): Promise<unknown> {
  const runs = await store.listRuns();
  const told = await Promise.all(
    runs.map(async ({ id, build: _, ...run }) => [
      ...[id, plain(run), plain(await store.listSteps(id)), await store.listHistory(id)],
      plain(await store.listPendings({ runId: id }, 0)),
    ]),
  );
  return [told, await store.findPin('files'), await store.findPin('desk')];
}

function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, part: unknown) => (part instanceof Json ? { json: part.text } : part)),
  );
}

/** All rows of a file as JSON, under their Postgres table names. */
function rowsOf(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  // Each opened store writes the notification rules anew, and a file counts its own changes.
  const found = names.filter(({ name }) => name !== 'notify_rules' && name !== 'changes');
  const tables = found.map(({ name }) => {
    const rows = database.prepare(`SELECT * FROM ${String(name)}`).all();
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(name ?? null);
    const all = columns.map((column) => String(column['name']));
    return {
      table: file.endsWith('evals.db') && name === 'runs' ? 'result_runs' : String(name),
      columns: all,
      rows: rows.map((row) => JSON.stringify(all.map((column) => String(row[column] ?? null)))).toSorted(),
    };
  });
  database.close();
  return tables;
}

function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'copy-'));
  const [state, results] = [join(folder, 'state.db'), join(folder, 'evals.db')];
  const write = (name: string, store: string) => {
    const file = join(folder, name);
    writeFileSync(
      file,
      `apiVersion: signalbox/v1\nkind: RuntimeConfig\nmetadata: {name: x}\nspec:\n  state_store: ${store}\n`,
    );
    return file;
  };
  const config = write('runtime.yaml', '{type: sqlite, path: state.db}');
  const toPostgres = write('postgres.yaml', '{type: postgres, url_env: DATABASE_URL}');
  return { folder, state, results, config, toPostgres };
}

async function copy(file: string, to: string, url = '') {
  return await copyStore({
    file,
    to: { name: 'TARGET', text: to },
    env: { DATABASE_URL: url, PATH: process.env['PATH'] ?? '' },
    onProgress: () => {},
    signal: new AbortController().signal,
  });
}
