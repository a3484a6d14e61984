import type { Layout } from './layout.ts';

const tables = `
CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('pipeline', 'tool')),
  name TEXT NOT NULL,
  file TEXT,
  source TEXT NOT NULL,
  config TEXT NOT NULL,
  input TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL
    CHECK (status IN ('running', 'pending', 'completed', 'failed', 'denied', 'cancelled')),
  output TEXT,
  error TEXT,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_status ON runs (status);

CREATE TABLE steps (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  outcome TEXT,
  began_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (run_id, step),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
) STRICT;

CREATE TABLE pendings (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  args TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('tool', 'hook', 'approval', 'interrupted')),
  hook TEXT,
  reason TEXT NOT NULL,
  message TEXT NOT NULL,
  members TEXT NOT NULL,
  previous TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  ruling TEXT CHECK (ruling IN ('approved', 'rejected', 'responded', 'expired', 'cancelled')),
  ruled_by TEXT,
  ruling_reason TEXT,
  edited_args TEXT,
  result TEXT,
  decided_at INTEGER,
  CHECK ((ruling IS NULL) = (decided_at IS NULL))
) STRICT;
CREATE INDEX pendings_by_run ON pendings (run_id);
CREATE INDEX pendings_open ON pendings (expires_at) WHERE ruling IS NULL;
`;

/** "SGBX": runs, their steps and the calls that wait for a person. */
export const stateLayout: Layout = { applicationId: 0x53474258, version: 1, tables };
