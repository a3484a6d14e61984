import type { Statement } from '../sqlite/statement.ts';
import { missingRunError } from '../store-rules.ts';
import { type ReopeningStore, reopeningFromRow, replacedFromRow, replacedInPages } from './reopening.ts';

/** How runs stood before they were judged again, and the records that were replaced; they go with their run. */
export const reopeningTables = `
CREATE TABLE reopenings (
  run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  scope TEXT NOT NULL,
  at INTEGER NOT NULL,
  status TEXT NOT NULL,
  report TEXT,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE replaced_results (
  seq INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  reopening INTEGER NOT NULL,
  number INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  case_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  sum INTEGER,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX replaced_results_in_order ON replaced_results (run, reopening, number, epoch);

-- No record is replaced without a trace, whoever replaces it.
CREATE TRIGGER results_replaced BEFORE UPDATE ON results WHEN new.text <> old.text BEGIN
  INSERT INTO replaced_results (run, reopening, number, epoch, case_id, digest, sum, text)
    VALUES (old.run, coalesce((SELECT max(number) FROM reopenings WHERE run = old.run), 0),
      old.number, old.epoch, old.case_id, old.digest, old.sum, old.text);
END;
`;

interface ReopeningParts {
  readonly location: string;
  readonly prepare: (sql: string) => Statement;
  /** Does work on the open store, without a transaction or as one. Throws STORE_FAILED. */
  readonly read: <Result>(work: () => Result) => Result;
  readonly write: <Result>(work: () => Result) => Result;
}

/** Makes the methods over reopenings. */
export function sqliteReopenings({ location, prepare, read, write }: ReopeningParts): ReopeningStore {
  const find = prepare('SELECT seq FROM runs WHERE id = :run');
  const reopen = prepare(`
    INSERT INTO reopenings (run, number, scope, at, status, report)
    SELECT seq, :number, :scope, :at, status, report FROM runs WHERE id = :run ON CONFLICT DO NOTHING`);
  const setAside = prepare(`
    INSERT INTO replaced_results (run, reopening, number, epoch, case_id, digest, sum, text)
    SELECT run, :reopening, number, epoch, case_id, digest, sum, text FROM results
    WHERE ${ofRun} AND number = :number ORDER BY epoch`);
  const remove = prepare(`DELETE FROM results WHERE ${ofRun} AND number = :number`);
  const goOn = prepare("UPDATE runs SET status = 'running', report = NULL WHERE id = :run");
  const list = prepare(`SELECT * FROM reopenings WHERE ${ofRun} ORDER BY number`);
  const page = prepare(`
    SELECT *, checksum(digest, text) AS actual FROM replaced_results
    WHERE ${ofRun} AND (reopening, number, epoch, seq) > (:reopening, :number, :epoch, :seq)
      AND (:only IS NULL OR case_id = :only) ORDER BY reopening, number, epoch, seq LIMIT 32`);
  return {
    reopenRun: async (run, reopening, numbers) =>
      write(() => {
        if (find.get({ run }) === undefined) throw missingRunError(run, location);
        if (reopen.run({ run, ...reopening }) === 0) return;
        for (const number of numbers) {
          setAside.run({ run, number, reopening: reopening.number });
          remove.run({ run, number });
        }
        goOn.run({ run });
      }),
    reopenings: async (run) => read(() => list.all({ run })).map(reopeningFromRow),
    replaced: (run, { caseId } = {}) =>
      replacedInPages(async ({ reopening, number, epoch, seq }) =>
        read(() => page.all({ run, reopening, number, epoch, seq, only: caseId ?? null })).map(
          replacedFromRow,
        ),
      ),
  };
}

const ofRun = 'run = (SELECT seq FROM runs WHERE id = :run)';
