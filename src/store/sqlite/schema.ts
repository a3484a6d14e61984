import { endedInSql } from '../store-rules.ts';
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
  sum INTEGER,
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
  quorum INTEGER,
  CHECK ((ruling IS NULL) = (decided_at IS NULL))
) STRICT;
CREATE INDEX pendings_by_run ON pendings (run_id);
CREATE INDEX pendings_open ON pendings (expires_at) WHERE ruling IS NULL;

-- Labels of runs, by which they are found in their order.
CREATE TABLE run_labels (
  run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_labelled ON run_labels (key, value, run);

-- Who has approved a call that needs several people.
CREATE TABLE consents (
  seq INTEGER PRIMARY KEY,
  pending_id TEXT NOT NULL REFERENCES pendings (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  reason TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  UNIQUE (pending_id, name)
) STRICT;

-- Which runs are parts of others, and the texts of the pipelines that runs may begin.
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

-- Beside a run that is pending: what else than a call it waits for, until when.
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

-- Long texts, each kept once; which records they are parts of; and what a list of runs needs, without what is long in them.
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

-- The history of a run in the order in which it was written, whatever the clock said. Written by triggers, so that no change is missing.
CREATE TABLE moments (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  what TEXT NOT NULL CHECK (what IN ('began', 'ended', 'pending', 'decided')),
  subject TEXT NOT NULL
) STRICT;
CREATE INDEX moments_by_run ON moments (run_id);
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

-- Notices, and the triggers that keep them with what they report. Nobody is notified of the end of a run that is a part of another; a suspended
-- run is reported once for each fault, however often it is tried again.
CREATE TABLE notify_rules (
  event TEXT NOT NULL CHECK (event IN ('pending', 'decided', 'suspended', 'completed', 'failed')),
  config TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (event, config, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE notices (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  target TEXT NOT NULL,
  event TEXT NOT NULL,
  pending_id TEXT,
  made_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX notices_due ON notices (target, due_at);
CREATE INDEX notices_by_run ON notices (run_id);
CREATE TRIGGER notice_waits AFTER INSERT ON pendings
WHEN EXISTS (SELECT 1 FROM notify_rules) BEGIN
  INSERT INTO notices (run_id, target, event, pending_id, made_at)
    SELECT NEW.run_id, target, event, NEW.id, NEW.created_at FROM notify_rules
      WHERE event = 'pending' AND config = (SELECT config FROM runs WHERE id = NEW.run_id);
END;
CREATE TRIGGER notice_decided AFTER UPDATE OF decided_at ON pendings
WHEN OLD.decided_at IS NULL AND NEW.decided_at IS NOT NULL AND EXISTS (SELECT 1 FROM notify_rules) BEGIN
  INSERT INTO notices (run_id, target, event, pending_id, made_at)
    SELECT NEW.run_id, target, event, NEW.id, NEW.decided_at FROM notify_rules
      WHERE event = 'decided' AND config = (SELECT config FROM runs WHERE id = NEW.run_id);
END;
CREATE TRIGGER notice_ended AFTER UPDATE OF status ON runs
WHEN NEW.status IN (${endedInSql}) AND NOT (OLD.status IN (${endedInSql})) AND NEW.source <> 'signalbox gateway'
  AND NOT EXISTS (SELECT 1 FROM run_parents WHERE id = NEW.id) AND EXISTS (SELECT 1 FROM notify_rules) BEGIN
  INSERT INTO notices (run_id, target, event, made_at)
    SELECT NEW.id, target, event, NEW.updated_at FROM notify_rules
      WHERE event = CASE NEW.status WHEN 'completed' THEN 'completed' ELSE 'failed' END AND config = NEW.config;
END;
CREATE TRIGGER notice_suspended AFTER INSERT ON suspensions
WHEN NEW.why = 'fault' AND NEW.tries = 1 AND EXISTS (SELECT 1 FROM notify_rules) BEGIN
  INSERT INTO notices (run_id, target, event, made_at)
    SELECT runs.id, target, event, NEW.since FROM notify_rules, runs
      WHERE event = 'suspended' AND runs.seq = NEW.run AND notify_rules.config = runs.config
        AND NOT EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id);
END;
`;

/** "SGBX": runs, their steps and the calls that wait for a person. `steps.sum` is a checksum, by which damaged outcomes are detected. */
export const stateLayout: Layout = { applicationId: 0x53474258, version: 2, tables };
