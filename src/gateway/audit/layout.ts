import type { Layout } from '../../store/sqlite/layout.ts';

// `rows` is the chain; `chain` its one head; `contents` has the bodies of calls, where the config asks for them.
const tables = `
CREATE TABLE chain (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  key TEXT NOT NULL,
  signature TEXT NOT NULL
) STRICT;

CREATE TABLE rows (
  seq INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  hash TEXT NOT NULL,
  id TEXT AS (body ->> '$.id') VIRTUAL
) STRICT;
CREATE INDEX rows_by_id ON rows (id);

CREATE TABLE contents (
  seq INTEGER PRIMARY KEY REFERENCES rows (seq) ON DELETE CASCADE,
  text TEXT NOT NULL
) STRICT;
`;

/** "SGBA": the audit of a gateway. */
export const auditLayout: Layout = { applicationId: 0x53474241, version: 1, tables };
