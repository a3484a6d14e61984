/** Ratings of people; they go with their run. */
export const ratings = `
CREATE TABLE signalbox.ratings (
  run bigint NOT NULL REFERENCES signalbox.result_runs (seq) ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL,
  case_id text COLLATE "C" NOT NULL,
  eval text NOT NULL,
  rater text NOT NULL,
  rated_at bigint NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (run, key)
);
`;
