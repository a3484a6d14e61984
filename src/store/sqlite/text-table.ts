import { DamagedError, numberOf, type Row, textOf } from './row.ts';
import type { Preparing } from './statement.ts';

/** In place of the step, for the output of a run: no step is called so. */
export const OUTPUT = '/output';

export type TextTable = ReturnType<typeof createTextTable>;

/** A long text of a record, and its number there. */
export interface NewText {
  readonly number: number;
  readonly text: string;
}

/** What a record refers to: the references as JSON, and the texts that it is the first to have. */
export interface RecordParts {
  readonly refs: string;
  readonly texts: readonly NewText[];
}

/** The statements over long texts, each kept once, and over the references of records to them. Writing needs a write transaction. */
export function createTextTable({ prepare }: Preparing) {
  const insert = prepare(`
    INSERT INTO texts (run_id, step, number, sum, text)
    VALUES (:run_id, :step, :number, checksum(:step, :text), :text)
    ON CONFLICT (run_id, step, number) DO NOTHING`);
  const refer = prepare(`
    INSERT INTO parts (run_id, step, sum, refs) VALUES (:run_id, :step, checksum(:step, :refs), :refs)
    ON CONFLICT (run_id, step) DO UPDATE SET refs = excluded.refs, sum = excluded.sum`);
  const forget = prepare('DELETE FROM parts WHERE run_id = :run_id AND step = :step');
  const drop = prepare('DELETE FROM texts WHERE run_id = :run_id AND step = :step');
  const read = prepare(`
    SELECT text, sum, checksum(step, text) AS actual FROM texts
    WHERE run_id = :run_id AND step = :step AND number = :number`);
  const find = prepare(`
    SELECT refs, sum, checksum(step, refs) AS actual FROM parts WHERE run_id = :run_id AND step = :step`);
  const among = prepare(`
    SELECT step, refs, sum, checksum(step, refs) AS actual FROM parts
    WHERE run_id = :run_id AND step IN (SELECT value FROM json_each(:steps))`);
  const all = prepare(`
    SELECT step, refs, sum, checksum(step, refs) AS actual FROM parts WHERE run_id = :run_id`);
  return {
    keep: (runId: string, step: string, { refs, texts }: RecordParts): void => {
      for (const { number, text } of texts) insert.run({ run_id: runId, step, number, text });
      refer.run({ run_id: runId, step, refs });
    },
    /** The record refers to nothing any more; its own texts go too. */
    forget: (runId: string, step: string): void => {
      forget.run({ run_id: runId, step });
      drop.run({ run_id: runId, step });
    },
    /** Throws Damaged when there is none, or another than was kept. */
    read: (runId: string, step: string, number: number): string => {
      const row = read.get({ run_id: runId, step, number });
      if (row === undefined) throw new DamagedError(`a text of ${step} is gone`);
      return checked(row, step, 'text');
    },
    /** The references of one record. */
    refsOf: (runId: string, step: string): string | undefined => {
      const row = find.get({ run_id: runId, step });
      return row && checked(row, step, 'refs');
    },
    /** Those of all records of a run, by step. */
    allRefs: (runId: string) => refsIn(all.all({ run_id: runId })),
    /** Those of these steps. */
    refsAmong: (runId: string, steps: readonly string[]) =>
      refsIn(among.all({ run_id: runId, steps: JSON.stringify(steps) })),
  };
}

function refsIn(rows: readonly Row[]): ReadonlyMap<string, string> {
  return new Map(
    rows.map((row) => {
      const step = textOf(row, 'step');
      return [step, checked(row, step, 'refs')];
    }),
  );
}

/** The text in a column whose checksum is that of `sum`. Throws Damaged. */
export function checked(row: Readonly<Record<string, unknown>>, step: string, column: string): string {
  if (numberOf(row, 'sum') !== numberOf(row, 'actual'))
    throw new DamagedError(`what is kept of ${step} does not have its checksum`);
  return textOf(row, column);
}
