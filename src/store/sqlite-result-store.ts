import type { StoredResult } from './new-result.ts';
import { sqliteRatings } from './ratings/sqlite-ratings.ts';
import { sqliteReopenings } from './reopenings/sqlite-reopenings.ts';
import type { ResultStore } from './result-store.ts';
import { resultLayout } from './results-schema.ts';
import { type Connection, ignoreErrors, openConnection, transact } from './sqlite/connection.ts';
import { guardWork } from './sqlite/guard-work.ts';
import { createResultRunTable, type ResultRunTable } from './sqlite/result-run-table.ts';
import { createResultTable, type ResultTable } from './sqlite/result-table.ts';
import { textOf } from './sqlite/row.ts';
import { createRunLocks, type RunLocks } from './sqlite/run-locks.ts';
import { createStatement, type Statement } from './sqlite/statement.ts';
import { toStoreError } from './sqlite/store-error.ts';
import { checkRunId, duplicateRunError, missingRunError } from './store-rules.ts';

/**
 * Results in a database file, which many processes may use at once, or in `memoryFile`. Each write is a transaction of its own: it is
 * the system's when the method returns. Throws STORE_FAILED unless it can be written.
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

interface OpenedStore {
  readonly connection: Connection;
  readonly file: string;
  readonly waitMs: number;
}

function createStore(opened: OpenedStore): ResultStore {
  const { connection, file, waitMs } = opened;
  const { database, location } = connection;
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  // Another writer blocks only briefly: no transaction stays open across turns of the event loop.
  database.exec(`PRAGMA busy_timeout = ${waitMs}`);
  const access = createAccess(opened);
  const parts: StoreParts = {
    ...access,
    location,
    runs: createResultRunTable(prepare),
    results: createResultTable(prepare),
    answers: createAnswerTable(prepare),
    locks: createRunLocks(
      {
        file,
        read: async (work) => access.read(work),
        write: async (work) => access.write(work),
        tryWrite: async (work) => ignoreErrors(() => access.write(work)),
      },
      (id) => {
        if (parts.runs.find(id) === undefined) throw missingRunError(id, location);
      },
    ),
  };
  return {
    location,
    ...runMethods(parts),
    ...resultMethods(parts),
    ...sqliteRatings({ location, prepare, read: access.read }),
    ...sqliteReopenings({ location, prepare, read: access.read, write: access.write }),
    findAnswer: async (key) => access.read(() => parts.answers.find(key)),
    keepAnswer: async (key, text) => access.read(() => parts.answers.store(key, text)),
    close: async () => {
      // Its work is done by the time that the call returns.
      void parts.locks.releaseAll();
      access.close();
    },
  };
}

interface StoreAccess {
  /** Runs work without an explicit transaction; a single statement is one by itself. Throws STORE_FAILED. */
  read<Result>(work: () => Result): Result;
  /** Several statements as one transaction. Throws STORE_FAILED. */
  write<Result>(work: () => Result): Result;
  /** Empties the journal beside the file, which still holds what was removed from it. Never throws. */
  checkpoint(): void;
  close(): void;
}

function createAccess({ connection, waitMs }: OpenedStore): StoreAccess {
  const { database, location, requireSameFile } = connection;
  let isOpen = true;
  const guard = guardWork(location, () => !isOpen);
  const read = <Result>(work: () => Result): Result =>
    guard.now(() => {
      requireSameFile();
      return work();
    });
  return {
    read,
    write: (work) => read(() => transact(database, work)),
    checkpoint: () => {
      // Whoever reads at this moment is not waited for.
      ignoreErrors(() => database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)'));
      ignoreErrors(() => database.exec(`PRAGMA busy_timeout = ${waitMs}`));
    },
    close: () => {
      if (isOpen) ignoreErrors(() => database.close());
      isOpen = false;
    },
  };
}

interface StoreParts extends StoreAccess {
  readonly location: string;
  readonly runs: ResultRunTable;
  readonly results: ResultTable;
  readonly answers: AnswerTable;
  readonly locks: RunLocks;
}

function runMethods({ read, write, checkpoint, runs, answers, locks, location }: StoreParts) {
  return {
    createRun: async (run) => {
      checkRunId(run.id);
      if (!read(() => runs.insert(run))) throw duplicateRunError(run.id, location);
    },
    findRun: async (id) => read(() => runs.find(id)),
    listRuns: async (filter) => read(() => runs.list(filter)),
    setRunEnd: async (id, end) => {
      if (!read(() => runs.setEnd(id, end))) throw missingRunError(id, location);
    },
    claimRun: (id) => locks.claim(id),
    prune: async (before) => {
      const pruned = write(() => {
        const heldRuns = locks.sweep();
        const old = runs.begunBefore(before).filter((id) => !heldRuns.has(id));
        for (const id of old) runs.remove(id);
        answers.removeBefore(before);
        return old.length;
      });
      if (pruned > 0) checkpoint();
      return pruned;
    },
  } satisfies Partial<ResultStore>;
}

function resultMethods({ read, write, results, location }: StoreParts) {
  return {
    put: async (record) => {
      if (!read(() => results.put(record))) throw missingRunError(record.runId, location);
    },
    putAll: async (records) =>
      write(() => {
        for (const record of records) if (!results.put(record)) throw missingRunError(record.runId, location);
      }),
    append: async (record) => read(() => results.append(record)),
    get: async (runId, number, epoch) => read(() => results.get(runId, number, epoch)),
    countRecords: async (runId) => read(() => results.count(runId)),
    records: async function* (runId, { caseId } = {}): AsyncIterable<StoredResult> {
      // No statement stays open between two records, so whoever reads slowly is in nobody's way.
      for (let after = { runId, number: 0, epoch: 0 }; ; ) {
        const page = read(() => results.page(after, caseId));
        yield* page;
        const last = page.at(-1);
        if (last === undefined) return;
        after = { runId, number: last.number, epoch: last.epoch };
      }
    },
  } satisfies Partial<ResultStore>;
}

type AnswerTable = ReturnType<typeof createAnswerTable>;

/** The statements over answers that may be used again. */
function createAnswerTable(prepare: (sql: string) => Statement) {
  const find = prepare('SELECT text FROM answers WHERE key = :key');
  const keep = prepare(`
    INSERT INTO answers (key, kept_at, text) VALUES (:key, :at, :text)
    ON CONFLICT (key) DO UPDATE SET kept_at = excluded.kept_at, text = excluded.text`);
  const remove = prepare('DELETE FROM answers WHERE kept_at < :before');
  return {
    find: (key: string): string | undefined => {
      const row = find.get({ key });
      return row && textOf(row, 'text');
    },
    store: (key: string, text: string) => void keep.run({ key, text, at: Date.now() }),
    removeBefore: (before: number) => void remove.run({ before }),
  };
}
