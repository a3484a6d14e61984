import type { Link } from '../postgres/connection/client.ts';
import { fromKept, toKept, toKeptOrNull } from '../postgres/rows.ts';
import { missingRunError } from '../store-rules.ts';
import { inPages, keyOf, type RatingStore } from './rating.ts';
import { ratingFromRow } from './sqlite-ratings.ts';

interface RatingParts {
  readonly location: string;
  /** Does work on the connection after everything that was asked for before. Rejects with STORE_FAILED. */
  readonly run: <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;
}

/** Makes the methods over ratings. What is asked again after a lost connection comes to the same. */
export function postgresRatings({ location, run }: RatingParts): RatingStore {
  return {
    keepRating: async (runId, rating) => {
      const { caseId, eval: id, by, at, text } = rating;
      const texts = [toKept(caseId), toKept(id), toKept(by)];
      const values = [toKept(runId), keyOf(rating), ...texts, at, toKept(text)];
      const rows = await run((link) => link.query({ name: 'keep_rating', text: keep, values }));
      if (rows.length === 0) throw missingRunError(runId, location);
    },
    removeRating: async (runId, place) => {
      const values = [toKept(runId), keyOf(place)];
      return (await run((link) => link.query({ text: remove, values }))).length > 0;
    },
    ratings: (runId, { caseId } = {}) =>
      inPages(async (after) => {
        const values = [toKept(runId), after, toKeptOrNull(caseId ?? null)];
        const rows = await run((link) => link.query({ name: 'page_ratings', text: page, values }));
        return rows.map((row) => ratingFromRow(fromKept(row)));
      }),
  };
}

const ofRun = 'run = (SELECT seq FROM signalbox.result_runs WHERE id = $1)';

const keep = `
INSERT INTO signalbox.ratings (run, key, case_id, eval, rater, rated_at, text)
  SELECT seq, $2, $3, $4, $5, $6::bigint, $7 FROM signalbox.result_runs WHERE id = $1
  ON CONFLICT (run, key) DO UPDATE SET rated_at = excluded.rated_at, text = excluded.text
  RETURNING run`;

const remove = `DELETE FROM signalbox.ratings WHERE ${ofRun} AND key = $2 RETURNING run`;

const page = `SELECT key, case_id, eval, rater, rated_at, text FROM signalbox.ratings
  WHERE ${ofRun} AND key > $2 AND ($3::text IS NULL OR case_id = $3) ORDER BY key LIMIT 200`;
