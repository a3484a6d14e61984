import type { Link } from '../postgres/connection/client.ts';
import { checksumOf, fromKept, toKept, toKeptOrNull } from '../postgres/rows.ts';
import { missingRunError } from '../store-rules.ts';
import { type ReopeningStore, reopeningFromRow, replacedFromRow, replacedInPages } from './reopening.ts';

interface ReopeningParts {
  readonly location: string;
  /** Does work on the connection after everything that was asked for before. Rejects with STORE_FAILED. */
  readonly run: <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;
}

/** Makes the methods over reopenings. What is asked again after a lost connection comes to the same. */
export function postgresReopenings({ location, run }: ReopeningParts): ReopeningStore {
  return {
    reopenRun: async (runId, { number, scope, at }, numbers) => {
      const values = [toKept(runId), number, scope, at, numbers];
      const text = 'SELECT signalbox.reopen_result_run($1, $2, $3, $4, $5) AS found';
      const [row] = await run((link) => link.query({ text, values }));
      if (row?.['found'] !== true) throw missingRunError(runId, location);
    },
    reopenings: async (runId) => {
      const text = `SELECT * FROM signalbox.reopenings WHERE ${ofRun} ORDER BY number`;
      const rows = await run((link) => link.query({ text, values: [toKept(runId)] }));
      return rows.map((row) => reopeningFromRow(fromKept(row)));
    },
    replaced: (runId, { caseId } = {}) =>
      replacedInPages(async ({ reopening, number, epoch, seq }) => {
        const values = [toKept(runId), reopening, number, epoch, seq, toKeptOrNull(caseId ?? null)];
        const rows = await run((link) => link.query({ name: 'page_replaced', text: page, values }));
        return rows.map((row) => {
          const { digest, text } = row;
          const actual =
            typeof digest === 'string' && typeof text === 'string' ? checksumOf(digest, text) : null;
          return replacedFromRow(fromKept({ ...row, actual }));
        });
      }),
  };
}

const ofRun = 'run = (SELECT seq FROM signalbox.result_runs WHERE id = $1)';
const page = `SELECT seq, reopening, number, epoch, sum, case_id, digest, text FROM signalbox.replaced_results
  WHERE ${ofRun} AND (reopening, number, epoch, seq) > ($2, $3, $4, $5) AND ($6::text IS NULL OR case_id = $6)
  ORDER BY reopening, number, epoch, seq LIMIT 64`;
