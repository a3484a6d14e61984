import type { ResultStore, StoredResult } from './results.ts';
import { checkRunId, runExists, runGone, storeClosed } from './rules.ts';
import { type AnswerTable, createAnswerTable } from './sqlite/answers.ts';
import { type Connection, createStatement, openConnection, quietly, transact } from './sqlite/connection.ts';
import { toStoreError } from './sqlite/failure.ts';
import { createRunLocks, type RunLocks } from './sqlite/locks.ts';
import { createResultTable, type ResultTable } from './sqlite/result-records.ts';
import { createResultRunTable, type ResultRunTable } from './sqlite/result-runs.ts';
import { resultLayout } from './sqlite/results-schema.ts';

/**
 * Results in a database file, which many processes may use at once. Each write is a transaction of its own: it is
 * the system's when the method returns. Throws STORE_FAILED unless it can be written.
 */
export async function openSqliteResults(
  file: string,
  { waitMs = 30_000 }: { readonly waitMs?: number } = {},
): Promise<ResultStore> {
  try {
    const connection = await openConnection({ file, layout: resultLayout, waitsFor: 'nothing', waitMs });
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

interface Opened {
  readonly connection: Connection;
  readonly file: string;
  readonly waitMs: number;
}

function createStore(opened: Opened): ResultStore {
  const { connection, file, waitMs } = opened;
  const { database } = connection;
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  // Who is in the way is so for a moment only: nobody keeps a transaction open across turns of the event loop.
  database.exec(`PRAGMA busy_timeout = ${waitMs}`);
  const gate = createGate(opened);
  const parts: Parts = {
    ...gate,
    file,
    runs: createResultRunTable(prepare),
    results: createResultTable(prepare),
    answers: createAnswerTable(prepare),
    locks: createRunLocks({
      file,
      write: async (work) => gate.write(work),
      tidy: async (work) => quietly(() => gate.write(work)),
    }),
  };
  return {
    place: file,
    ...runMethods(parts),
    ...resultMethods(parts),
    findAnswer: (key) => gate.read(() => parts.answers.find(key)),
    keepAnswer: (key, text) => gate.read(() => parts.answers.keep(key, text)),
    close: () => {
      // Its work is done by the time that the call returns.
      void parts.locks.releaseAll();
      gate.close();
    },
  };
}

interface Gate {
  /** Also for what is one statement: that is a transaction by itself. Throws STORE_FAILED. */
  read<Result>(work: () => Result): Result;
  /** Several statements as one transaction. Throws STORE_FAILED. */
  write<Result>(work: () => Result): Result;
  /** Empties the journal beside the file, which still holds what was removed from it. Never throws. */
  checkpoint(): void;
  close(): void;
}

function createGate({ connection: { database, requireInPlace }, file, waitMs }: Opened): Gate {
  let isOpen = true;
  const read = <Result>(work: () => Result): Result => {
    if (!isOpen) throw storeClosed(file);
    try {
      requireInPlace();
      return work();
    } catch (error) {
      throw toStoreError(error, file);
    }
  };
  return {
    read,
    write: (work) => read(() => transact(database, work)),
    checkpoint: () => {
      // Whoever reads at this moment is not waited for.
      quietly(() => database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)'));
      quietly(() => database.exec(`PRAGMA busy_timeout = ${waitMs}`));
    },
    close: () => {
      if (isOpen) quietly(() => database.close());
      isOpen = false;
    },
  };
}

interface Parts extends Gate {
  readonly file: string;
  readonly runs: ResultRunTable;
  readonly results: ResultTable;
  readonly answers: AnswerTable;
  readonly locks: RunLocks;
}

function runMethods({ read, write, checkpoint, runs, answers, locks, file }: Parts) {
  return {
    createRun: (run) => {
      checkRunId(run.id);
      if (!read(() => runs.insert(run))) throw runExists(run.id, file);
    },
    findRun: (id) => read(() => runs.find(id)),
    listRuns: (filter) => read(() => runs.list(filter)),
    setRunEnd: (id, end) => {
      if (!read(() => runs.setEnd(id, end))) throw runGone(id, file);
    },
    claimRun: (id) => locks.claim(id),
    prune: (before) => {
      const pruned = write(() => {
        const held = locks.sweep();
        const old = runs.begunBefore(before).filter((id) => !held.has(id));
        for (const id of old) runs.remove(id);
        answers.removeBefore(before);
        return old.length;
      });
      if (pruned > 0) checkpoint();
      return pruned;
    },
  } satisfies Partial<ResultStore>;
}

function resultMethods({ read, write, results, file }: Parts) {
  return {
    put: (record) => {
      if (!read(() => results.put(record))) throw runGone(record.runId, file);
    },
    putAll: (records) =>
      write(() => {
        for (const record of records) if (!results.put(record)) throw runGone(record.runId, file);
      }),
    append: (record) => read(() => results.append(record)),
    get: (runId, number, epoch) => read(() => results.get(runId, number, epoch)),
    countRecords: (runId) => read(() => results.count(runId)),
    records: function* (runId, { caseId } = {}): Iterable<StoredResult> {
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
