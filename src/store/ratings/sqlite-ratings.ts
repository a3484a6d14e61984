import { numberOf, type Row, textOf } from '../sqlite/row.ts';
import type { Statement } from '../sqlite/statement.ts';
import { missingRunError } from '../store-rules.ts';
import { inPages, type KeyedRating, keyOf, type RatingStore } from './rating.ts';

/** Ratings of people; they go with their run. */
export const ratingsTable = `
CREATE TABLE ratings (
  run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  key TEXT NOT NULL,
  case_id TEXT NOT NULL,
  eval TEXT NOT NULL,
  rater TEXT NOT NULL,
  rated_at INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
`;

interface RatingParts {
  readonly location: string;
  readonly prepare: (sql: string) => Statement;
  /** Does work on the open store. Throws STORE_FAILED. */
  readonly read: <Result>(work: () => Result) => Result;
}

/** Makes the methods over ratings. */
export function sqliteRatings({ location, prepare, read }: RatingParts): RatingStore {
  const keep = prepare(`
    INSERT INTO ratings (run, key, case_id, eval, rater, rated_at, text)
    SELECT seq, :key, :case_id, :eval, :rater, :rated_at, :text FROM runs WHERE id = :run
    ON CONFLICT (run, key) DO UPDATE SET rated_at = excluded.rated_at, text = excluded.text`);
  const remove = prepare(`DELETE FROM ratings WHERE ${ofRun} AND key = :key`);
  const page = prepare(`
    SELECT key, case_id, eval, rater, rated_at, text FROM ratings
    WHERE ${ofRun} AND key > :after AND (:only IS NULL OR case_id = :only) ORDER BY key LIMIT 200`);
  return {
    keepRating: async (runId, rating) => {
      const { caseId, eval: id, by, at, text } = rating;
      const values = { case_id: caseId, eval: id, rater: by, rated_at: at, text };
      const kept = read(() => keep.run({ run: runId, key: keyOf(rating), ...values }));
      if (kept === 0) throw missingRunError(runId, location);
    },
    removeRating: async (runId, place) => read(() => remove.run({ run: runId, key: keyOf(place) })) > 0,
    ratings: (runId, { caseId } = {}) =>
      inPages(async (after) =>
        read(() => page.all({ run: runId, after, only: caseId ?? null })).map(ratingFromRow),
      ),
  };
}

const ofRun = 'run = (SELECT seq FROM runs WHERE id = :run)';

/** Throws Damaged. */
export function ratingFromRow(row: Row): KeyedRating {
  const rating = {
    caseId: textOf(row, 'case_id'),
    eval: textOf(row, 'eval'),
    by: textOf(row, 'rater'),
    at: numberOf(row, 'rated_at'),
    text: textOf(row, 'text'),
  };
  return { key: textOf(row, 'key'), rating };
}
