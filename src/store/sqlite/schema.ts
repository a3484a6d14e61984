import { addOutbox, addSuspendedNotices, noticeEnded } from '../outbox/sqlite-tables.ts';
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

/** Checksums, by which damaged outcomes are detected. */
const addChecksums = `
ALTER TABLE steps ADD COLUMN sum INTEGER;
UPDATE steps SET sum = checksum(step, outcome) WHERE outcome IS NOT NULL;
`;

/**
 * The history of a run in the order in which it was written, whatever the clock said. Written by triggers, so
 * that no change is missing.
 */
const addHistory = `
CREATE TABLE moments (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  what TEXT NOT NULL CHECK (what IN ('began', 'ended', 'pending', 'decided')),
  subject TEXT NOT NULL
) STRICT;
CREATE INDEX moments_by_run ON moments (run_id);
INSERT INTO moments (run_id, what, subject) SELECT run_id, what, subject FROM (
  SELECT run_id, 'began' AS what, step AS subject, began_at AS at, 1 AS place, seq FROM steps WHERE attempts > 0
  UNION ALL SELECT run_id, 'ended', step, ended_at, 2, seq FROM steps WHERE ended_at IS NOT NULL
  UNION ALL SELECT run_id, 'pending', id, created_at, 3, seq FROM pendings
  UNION ALL SELECT run_id, 'decided', id, decided_at, 4, seq FROM pendings WHERE decided_at IS NOT NULL
) ORDER BY at, place, seq;
CREATE TRIGGER step_begins AFTER INSERT ON steps WHEN NEW.ended_at IS NULL BEGIN
  INSERT INTO moments (run_id, what, subject) VALUES (NEW.run_id, 'began', NEW.step);
END;
CREATE TRIGGER step_is_there AFTER INSERT ON steps WHEN NEW.ended_at IS NOT NULL BEGIN
  INSERT INTO moments (run_id, what, subject) VALUES (NEW.run_id, 'ended', NEW.step);
END;
CREATE TRIGGER step_ends AFTER UPDATE OF ended_at ON steps WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL BEGIN
  INSERT INTO moments (run_id, what, subject) VALUES (NEW.run_id, 'ended', NEW.step);
END;
CREATE TRIGGER call_waits AFTER INSERT ON pendings BEGIN
  INSERT INTO moments (run_id, what, subject) VALUES (NEW.run_id, 'pending', NEW.id);
END;
CREATE TRIGGER call_is_decided AFTER UPDATE OF decided_at ON pendings
WHEN OLD.decided_at IS NULL AND NEW.decided_at IS NOT NULL BEGIN
  INSERT INTO moments (run_id, what, subject) VALUES (NEW.run_id, 'decided', NEW.id);
END;
`;

/**
 * Long texts, each kept once; which records they are parts of; and what a list of runs needs, without what is
 * long in them.
 */
const addTexts = `
CREATE TABLE texts (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  number INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (run_id, step, number)
) STRICT;
CREATE TABLE parts (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  sum INTEGER NOT NULL,
  refs TEXT NOT NULL,
  PRIMARY KEY (run_id, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_listed ON runs (seq, id, kind, name, file, created_at, status, updated_at);
`;

/** Labels of runs, by which they are found in their order. */
const addLabels = `
CREATE TABLE run_labels (
  run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_labelled ON run_labels (key, value, run);
`;

/** How many people must approve a call, and who has. */
const addQuorum = `
ALTER TABLE pendings ADD COLUMN quorum INTEGER;
CREATE TABLE consents (
  seq INTEGER PRIMARY KEY,
  pending_id TEXT NOT NULL REFERENCES pendings (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  reason TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  UNIQUE (pending_id, name)
) STRICT;
`;

/** Which runs are parts of others, and the texts of the pipelines that runs may begin. Of such a part nobody is told that it ended. */
const addParents = `
CREATE TABLE run_parents (
  id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  parent TEXT NOT NULL,
  step TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_below ON run_parents (root);
CREATE INDEX runs_of_step ON run_parents (parent, step);
CREATE TABLE run_pipelines (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run_id, file)
) STRICT, WITHOUT ROWID;
DROP TRIGGER notice_ended;
${noticeEnded('AND NOT EXISTS (SELECT 1 FROM run_parents WHERE id = NEW.id)')}
`;
/** Beside a run that is pending: what else than a call it waits for, until when. A run of none is as it was before there were any. */
const addSuspensions = `
CREATE TABLE suspensions (
  run INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
  why TEXT NOT NULL CHECK (why IN ('fault', 'wait')),
  since INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  step TEXT NOT NULL,
  error TEXT,
  calls INTEGER NOT NULL
) STRICT;
CREATE INDEX suspensions_due ON suspensions (due_at);
${addSuspendedNotices}`;

/** "SGBX": runs, their steps and the calls that wait for a person. */
export const stateLayout: Layout = {
  applicationId: 0x53474258,
  version: 1,
  tables,
  additions: [
    { table: 'steps', column: 'sum', statements: addChecksums },
    { table: 'moments', column: 'seq', statements: addHistory },
    { table: 'texts', column: 'seq', statements: addTexts },
    { table: 'run_labels', column: 'run', statements: addLabels },
    { table: 'pendings', column: 'quorum', statements: addQuorum },
    { table: 'notices', column: 'seq', statements: addOutbox },
    { table: 'run_parents', column: 'id', statements: addParents },
    { table: 'suspensions', column: 'run', statements: addSuspensions },
  ],
};
