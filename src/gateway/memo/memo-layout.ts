import type { Layout } from '../../store/sqlite/layout.ts';

// Names are keyed hashes, values one word or a sealed text: nothing here says what anybody wrote.
const tables = `
CREATE TABLE marks (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_by_use ON marks (used_at);

CREATE TABLE kept_answers (
  name TEXT PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  sealed TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
`;

/** "SGBM": what a gateway remembers of earlier calls. */
export const memoLayout: Layout = { applicationId: 0x5347424d, version: 1, tables };
