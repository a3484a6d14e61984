import type { NewResult, StoredResult } from '../new-result.ts';
import { numberOf, type Row, textOf, verifyChecksum } from './row.ts';
import type { Statement } from './statement.ts';

export type ResultTable = ReturnType<typeof createResultTable>;

export interface RecordPosition {
  readonly runId: string;
  readonly number: number;
  readonly epoch: number;
}

/** The statements over single results. */
export function createResultTable(prepare: (sql: string) => Statement) {
  const put = prepare(`
    INSERT INTO results (run, number, epoch, case_id, digest, text, sum)
    SELECT seq, :number, :epoch, :case_id, :digest, :text, checksum(:digest, :text) FROM runs WHERE id = :run
    ON CONFLICT (run, number, epoch)
    DO UPDATE SET case_id = excluded.case_id, digest = excluded.digest, text = excluded.text, sum = excluded.sum`);
  // One statement, which is a transaction by itself: no two processes take the same number.
  const append = prepare(`
    INSERT INTO results (run, number, epoch, case_id, digest, text, sum)
    SELECT seq, 1 + coalesce((SELECT max(number) FROM results WHERE results.run = runs.seq), 0),
      :epoch, :case_id, :digest, :text, checksum(:digest, :text) FROM runs WHERE id = :run`);
  const get = prepare(`${select} WHERE ${ofRun} AND number = :number AND epoch = :epoch`);
  const count = prepare(`SELECT count(*) AS count FROM results WHERE ${ofRun}`);
  const page = prepare(`${pageOf} ${inOrder}`);
  const pageOfCase = prepare(`${pageOf} AND case_id = :case_id ${inOrder}`);
  return {
    /** False when there is no such run. */
    put: ({ runId, caseId, ...record }: NewResult) =>
      put.run({ ...record, run: runId, case_id: caseId }) === 1,
    append: ({ runId, caseId, ...record }: Omit<NewResult, 'number'>) =>
      append.run({ ...record, run: runId, case_id: caseId }) === 1,
    get: (runId: string, number: number, epoch: number): StoredResult | undefined => {
      const row = get.get({ run: runId, number, epoch });
      return row && resultFromRow(row);
    },
    count: (runId: string) => numberOf(count.get({ run: runId }) ?? {}, 'count'),
    /** The next few records after that position, in order. */
    page: ({ runId, number, epoch }: RecordPosition, caseId: string | undefined): StoredResult[] => {
      const after = { run: runId, number, epoch };
      const rows = caseId === undefined ? page.all(after) : pageOfCase.all({ ...after, case_id: caseId });
      return rows.map(resultFromRow);
    },
  };
}

const ofRun = 'run = (SELECT seq FROM runs WHERE id = :run)';
const select = 'SELECT *, checksum(digest, text) AS actual FROM results';
const pageOf = `${select} WHERE ${ofRun} AND (number, epoch) > (:number, :epoch)`;
// Few, because a result may be large: what this saves is a transaction for each row.
const inOrder = 'ORDER BY number, epoch LIMIT 32';

/** The row, with the checksum that its text has now as `actual`. Throws Damaged. */
export function resultFromRow(row: Row): StoredResult {
  verifyChecksum(row, 'case_id');
  return {
    number: numberOf(row, 'number'),
    epoch: numberOf(row, 'epoch'),
    caseId: textOf(row, 'case_id'),
    digest: textOf(row, 'digest'),
    text: textOf(row, 'text'),
  };
}
