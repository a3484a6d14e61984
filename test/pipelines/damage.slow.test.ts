import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { type Desk, openDesk, recording } from './desk.ts';

const spec = `
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  pay: {approval: required, exec: ${recording('answers', 'payments', '{"result": "paid"}')}}
providers:
  - {id: main, type: mock, model: scripted, additional_config: {responses: [{tool_calls: [{name: pay, args: {n: 2}}]}]}}
`;
const pipeline = `
steps:
  - {id: one, tool: note}
  - {id: answer, chat: {provider: main, messages: Hello., tools: [pay]}}
`;

const harms = ["'{\"status'", "'null'", "'json:\"'", '-1e17', 'NULL'];

async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    if (error.code === 'STORE_FAILED') expect(`${error.message} ${error.hint}`).not.toContain('has room');
    return error.code;
  }
}

/** Damages the store without constraints. Returns false where even that is impossible. */
function harm(file: string, table: string, column: string, value: string): boolean {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF');
    database.exec(`UPDATE ${table} SET ${column} = ${value}`);
    return true;
  } catch {
    return false;
  } finally {
    database.close();
  }
}

function columnsOf(file: string): { readonly table: string; readonly column: string }[] {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file);
  try {
    return ['runs', 'steps', 'pendings', 'moments'].flatMap((table) =>
      database
        .prepare('SELECT name FROM pragma_table_info(?)')
        .all(table)
        .map(({ name }) => ({ table, column: String(name) })),
    );
  } finally {
    database.close();
  }
}

async function useAll({ runtime: { runs, pending } }: Desk, run: string, call: string): Promise<string[]> {
  const doings = [
    () => runs.list(),
    () => runs.show(run),
    () => pending.list({ all: true }),
    () => pending.show(call),
    () => runs.resume(run),
    () => pending.reject(call, { by: 'mara' }),
    () => runs.resume(run),
    () => runs.cancel(run, { by: 'mara' }),
    () => runs.prune({ olderThanMs: 0 }),
  ];
  const outcomes: string[] = [];
  for (const doing of doings) outcomes.push(await outcomeOf(doing));
  return outcomes;
}

test('any damage to a column of the store is reported with a code, and counts as no approval', async () => {
  const desk = await openDesk(spec);
  const { run_id, pending } = await desk.run(pipeline);
  await desk.runtime.close();
  const file = join(desk.folder, '.signalbox/state.db');
  const kept = join(desk.folder, 'kept.db');
  copyFileSync(file, kept);
  const seen = new Map<string, Set<string>>();
  for (const { table, column } of columnsOf(file)) {
    for (const value of harms) {
      rmSync(join(desk.folder, '.signalbox'), { recursive: true });
      mkdirSync(join(desk.folder, '.signalbox'));
      copyFileSync(kept, file);
      if (!harm(file, table, column, value)) continue;
      const other = await desk.reopen();
      const outcomes = await useAll(other, run_id, pending[0]?.id ?? '');
      await other.runtime.close();
      const where = `${table}.${column}`;
      seen.set(where, (seen.get(where) ?? new Set()).union(new Set(outcomes)));
    }
  }
  const internal = [...seen].filter(([, codes]) => codes.has('INTERNAL')).map(([where]) => where);
  expect(internal).toEqual([]);
  for (const where of ['steps.outcome', 'runs.input', 'pendings.args', 'pendings.members', 'runs.status']) {
    expect([where, seen.get(where)?.has('STORE_FAILED')]).toEqual([where, true]);
  }
  expect(desk.lines('payments')).toEqual([]);
});
