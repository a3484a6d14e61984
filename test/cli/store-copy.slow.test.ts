import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import {
  hasPostgres,
  password,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { config, fixture, run, runJson, start, workspace } from './command-line.ts';

const tools = `tools:\n  pay: {exec: {command: ${fixture('print-stdin')}}, approval: required}\n`;
const inPostgres = config(`state_store: {type: postgres, url_env: DATABASE_URL}\n${tools}`);

test('store copy needs one destination, and a store that can be copied', async () => {
  const cwd = workspace(tools);
  const codeOf = async (...args: string[]) => (await run(['store', 'copy', ...args], { cwd })).code;
  expect(await codeOf()).toBe(2);
  expect(await codeOf('--to', 'a.db', '--to-env', 'B')).toBe(2);
  expect(await codeOf('--to-env', 'NOT_SET')).toBe(2);
  expect(await codeOf('--to', 'a.db')).toBe(2);
  // Nothing was stored yet.
  expect(await codeOf('--to', 'postgres://me@localhost/x')).toBe(1);
});

describe.runIf(hasPostgres)(`store copy over a server${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('a call that waits in a file store is approved in Postgres, and its run ends there [DS-POSTGRES-18]', async () => {
    const cwd = workspace(tools, { 'postgres.yaml': inPostgres });
    expect((await run(`tool call pay --args '{"amount": 5}'`, { cwd })).code).toBe(3);
    const env = { DATABASE_URL: await server.newUrl('tcp') };
    const copied = await runJson('store copy --to-env DATABASE_URL', { cwd, env });
    expect(copied).toMatchObject({ code: 0, document: { status: 'copied' } });
    expect(JSON.stringify(copied)).not.toContain(password);
    const there = { cwd, env };
    const { document } = await runJson('pending list --config postgres.yaml', there);
    const { pending } = document as { pending: { id: string; run_id: string }[] };
    const approve = ['pending', 'approve', pending[0]?.id ?? '', '--resume', '--config', 'postgres.yaml'];
    expect((await run(approve, there)).code).toBe(0);
    const shown = await runJson(
      ['runs', 'show', pending[0]?.run_id ?? '', '--config', 'postgres.yaml'],
      there,
    );
    expect(shown.document).toMatchObject({ status: 'completed' });
  });

  test('a password on the command line works with a warning [DS-POSTGRES-02]', async () => {
    const cwd = workspace(tools);
    await run('tool call pay', { cwd });
    const { code, stdout, stderr } = await run(['store', 'copy', '--to', await server.newUrl('tcp')], {
      cwd,
    });
    expect([code, stderr]).toEqual([0, expect.stringContaining('--to-env')]);
    expect(stdout + stderr).not.toContain(encodeURIComponent(password));
  });

  test('a killed copy leaves nothing, and the same command completes it [DS-POSTGRES-18]', async () => {
    const cwd = workspace(tools);
    const state = join(cwd, '.signalbox', 'state.db');
    await fillWithRuns(state, Number(process.env['COPY_ROWS'] ?? 20_000));
    const url = await server.newUrl();
    const env = { DATABASE_URL: url };
    const { child, ran } = start(['store', 'copy', '--to-env', 'DATABASE_URL'], { cwd, env });
    const isWriting = async () => {
      const rows = await server.ask(
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO signalbox.steps%'",
      );
      return rows.length > 0;
    };
    await expect.poll(isWriting, { timeout: 60_000, interval: 5 }).toBe(true);
    child.kill('SIGKILL');
    await ran;
    const again = await runJson('store copy --to-env DATABASE_URL', { cwd, env });
    expect(again).toMatchObject({ code: 0, document: { status: 'copied' } });
    writeFileSync(join(cwd, 'postgres.yaml'), inPostgres);
    const listed = await runJson('runs list --limit 2 --config postgres.yaml', { cwd, env });
    expect((listed.document as { runs: unknown[] }).runs).toHaveLength(2);
  });
});

async function fillWithRuns(file: string, count: number): Promise<void> {
  await (await openSqliteStore(file)).close();
  const database = new DatabaseSync(file);
  database.exec(`BEGIN;
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${count})
      INSERT INTO runs (id, kind, name, source, config, input, created_at, status, output, updated_at)
      SELECT 'run-' || n, 'pipeline', 'refund', 'kind: Pipeline', '/x', '{"n": 1.50}', n, 'completed', '{}', n FROM n;
    INSERT INTO steps (run_id, step, attempts, began_at) SELECT id, 'first', 1, 1 FROM runs;
    INSERT INTO steps (run_id, step, attempts, began_at) SELECT id, 'second', 1, 1 FROM runs;
    COMMIT`);
  database.close();
}
