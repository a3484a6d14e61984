import { endedInSql } from '../store-rules.ts';

/** The trigger that keeps the notice of the end of a run, for runs of which that is said beside. */
export const noticeEnded = (
  only: string,
): string => `CREATE TRIGGER notice_ended AFTER UPDATE OF status ON runs
WHEN NEW.status IN (${endedInSql}) AND NOT (OLD.status IN (${endedInSql})) AND NEW.source <> 'signalbox gateway'
  ${only} AND EXISTS (SELECT 1 FROM notify_rules) BEGIN
  INSERT INTO notices (run_id, target, event, made_at)
    SELECT NEW.id, target, event, NEW.updated_at FROM notify_rules
      WHERE event = CASE NEW.status WHEN 'completed' THEN 'completed' ELSE 'failed' END AND config = NEW.config;
END;`;
/** Rules of the event `suspended`, which the table did not take; a run is told of once for each fault, however often it is tried again. */
export const addSuspendedNotices = `
CREATE TEMP TABLE earlier_rules AS SELECT * FROM notify_rules;
DROP TABLE notify_rules;
CREATE TABLE notify_rules (
  event TEXT NOT NULL CHECK (event IN ('pending', 'decided', 'suspended', 'completed', 'failed')),
  config TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (event, config, target)
) STRICT, WITHOUT ROWID;
INSERT INTO notify_rules SELECT * FROM earlier_rules;
DROP TABLE earlier_rules;
CREATE TRIGGER notice_suspended AFTER INSERT ON suspensions
WHEN NEW.why = 'fault' AND NEW.tries = 1 AND EXISTS (SELECT 1 FROM notify_rules) BEGIN
  INSERT INTO notices (run_id, target, event, made_at)
    SELECT runs.id, target, event, NEW.since FROM notify_rules, runs
      WHERE event = 'suspended' AND runs.seq = NEW.run AND notify_rules.config = runs.config
        AND NOT EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id);
END;
`;

/** Notices, and the triggers that keep them with what they tell of. */
export const addOutbox = `
CREATE TABLE notify_rules (
  event TEXT NOT NULL CHECK (event IN ('pending', 'decided', 'completed', 'failed')),
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
${noticeEnded('')}
`;
