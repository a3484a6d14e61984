import { ratingsTable } from './ratings/sqlite-ratings.ts';
import { reopeningTables } from './reopenings/sqlite-reopenings.ts';
import type { Layout } from './sqlite/layout.ts';

// The text of a result comes last: what looks for one by the other columns need not read through it.
const tables = `
CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('suite', 'shadow')),
  name TEXT NOT NULL,
  file TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'passed', 'failed', 'error', 'interrupted')),
  header TEXT NOT NULL,
  report TEXT
) STRICT;
CREATE INDEX runs_by_name ON runs (name);

CREATE TABLE results (
  seq INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  case_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  sum INTEGER,
  text TEXT NOT NULL,
  UNIQUE (run, number, epoch)
) STRICT;

CREATE TABLE answers (
  seq INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  kept_at INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
`;

/** "SGBE": results of suite runs, and answers that may be used again. `results.sum` is a checksum, by which damaged texts are detected. */
export const resultLayout: Layout = {
  applicationId: 0x53474245,
  version: 2,
  tables: tables + ratingsTable + reopeningTables,
};
