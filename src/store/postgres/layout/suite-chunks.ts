/**
 * Runs of suites that workers share. A chunk is done when it has a tally, which is kept in the transaction that keeps its results; who
 * works on it has its claim, as with runs.
 */
export const suiteChunks = `
CREATE TABLE signalbox.shared_suites (
  run text COLLATE "C" PRIMARY KEY REFERENCES signalbox.result_runs (id) ON DELETE CASCADE,
  build text NOT NULL,
  work text NOT NULL
);

CREATE TABLE signalbox.suite_chunks (
  run text COLLATE "C" NOT NULL REFERENCES signalbox.shared_suites (run) ON DELETE CASCADE,
  number bigint NOT NULL,
  claim text NOT NULL,
  rows bigint NOT NULL,
  place text NOT NULL,
  tally text,
  failures bigint NOT NULL DEFAULT 0,
  failure text,
  announced_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run, number)
);
CREATE INDEX suite_chunks_open ON signalbox.suite_chunks (run, announced_at) WHERE tally IS NULL;
`;
