import { countedChanges } from './changes.ts';
import { type Driver, doNow } from './driver.ts';
import type { NewResult, ResultStore } from './result-store.ts';
import { type ResultWriter, resultMethods } from './results.ts';
import { type Connection, ignoreErrors, openConnection, transact } from './sqlite/connection.ts';
import { watchDatabase } from './sqlite/database.ts';
import { checksumOf, textOf } from './sqlite/row.ts';
import { createRunLocks } from './sqlite/run-locks.ts';
import { resultLayout } from './sqlite/schema.ts';
import { createAsk, createStatement, type Statement } from './sqlite/statement.ts';
import { guardWork, toStoreError } from './sqlite/store-error.ts';
import { missingRunError } from './store-rules.ts';

/**
 * Opens results in a database file, which processes share, or in `memoryFile`. Each write is a transaction, and
 * survives the end of this process once the method returns. Throws STORE_FAILED unless it is writable.
 */
export async function openSqliteResults(
  file: string,
  { waitMs = 30_000 }: { readonly waitMs?: number } = {},
): Promise<ResultStore> {
  try {
    const connection = await openConnection({
      file,
      layout: resultLayout,
      commitWaitsFor: 'nothing',
      waitMs,
    });
    try {
      return createStore({ connection, file, waitMs });
    } catch (error) {
      connection.database.close();
      throw error;
    }
  } catch (error) {
    throw toStoreError(error, file);
  }
}

function createStore({
  connection,
  file,
  waitMs,
}: {
  readonly connection: Connection;
  readonly file: string;
  readonly waitMs: number;
}): ResultStore {
  const { database, location, requireSameFile } = connection;
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  // Other writers block only briefly, because no transaction spans turns of the event loop.
  database.exec(`PRAGMA busy_timeout = ${waitMs}`);
  let isOpen = true;
  const guard = guardWork(location, () => !isOpen);
  const read = <Result>(work: () => Result): Result =>
    guard.now(() => {
      requireSameFile();
      return work();
    });
  const write = <Result>(work: () => Result): Result => read(() => transact(database, work));
  const ask = createAsk(prepare);
  const findRun = prepare('SELECT id FROM runs WHERE id = :id');
  const locks = createRunLocks(
    {
      file,
      read: async (work) => read(work),
      write: async (work) => write(work),
      tryWrite: async (work) => ignoreErrors(() => write(work)),
    },
    (id) => {
      if (findRun.get({ id }) === undefined) throw missingRunError(id, location);
    },
  );
  const old = prepare('SELECT id FROM runs WHERE created_at < :before');
  const remove = prepare('DELETE FROM runs WHERE id = :id');
  const removeAnswers = prepare('DELETE FROM answers WHERE kept_at < :before');
  const driver = {
    ...{ location, isShared: false },
    read: async (work) => read(() => doNow(work(), ask)),
    transact: async (work) => write(() => doNow(work(), ask)),
  } satisfies Driver;
  return {
    location,
    changes: countedChanges(['suites'], driver, (tell) => watchDatabase(file, tell)),
    ...resultMethods(driver, createWriter(prepare, { location, read, write })),
    claimRun: (id) => locks.claim(id),
    prune: async (before) => {
      const pruned = write(() => {
        const held = locks.sweep();
        const ids = old.all({ before }).map((row) => textOf(row, 'id'));
        const free = ids.filter((id) => !held.has(id));
        for (const id of free) remove.run({ id });
        removeAnswers.run({ before });
        return free.length;
      });
      if (pruned > 0) {
        // The journal still contains removed data. Does not wait for readers.
        ignoreErrors(() => database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)'));
        ignoreErrors(() => database.exec(`PRAGMA busy_timeout = ${waitMs}`));
      }
      return pruned;
    },
    close: async () => {
      void locks.releaseAll();
      if (isOpen) ignoreErrors(() => database.close());
      isOpen = false;
    },
  };
}

interface Access {
  readonly location: string;
  read<Result>(work: () => Result): Result;
  write<Result>(work: () => Result): Result;
}

function createWriter(prepare: (sql: string) => Statement, { location, read, write }: Access): ResultWriter {
  const put = prepare(`
    INSERT INTO results (run, number, epoch, case_id, digest, text, sum)
    SELECT seq, :number, :epoch, :case_id, :digest, :text, :sum FROM runs WHERE id = :run
    ON CONFLICT (run, number, epoch)
    DO UPDATE SET case_id = excluded.case_id, digest = excluded.digest, text = excluded.text, sum = excluded.sum`);
  // One statement, so that no two processes take the same number.
  const append = prepare(`
    INSERT INTO results (run, number, epoch, case_id, digest, text, sum)
    SELECT seq, 1 + coalesce((SELECT max(number) FROM results WHERE results.run = runs.seq), 0),
      :epoch, :case_id, :digest, :text, :sum FROM runs WHERE id = :run`);
  const toRow = <Record extends Omit<NewResult, 'number'>>({ runId, caseId, ...record }: Record) => {
    const { digest, text } = record;
    return { ...record, run: runId, case_id: caseId, sum: checksumOf(digest, text) };
  };
  const putOne = (record: NewResult) => {
    if (put.run(toRow(record)) === 0) throw missingRunError(record.runId, location);
  };
  return {
    putAll: async (records) =>
      (records.length === 1 ? read : write)(() => {
        for (const record of records) putOne(record);
      }),
    append: async (record) => read(() => append.run(toRow(record))) === 1,
  };
}
