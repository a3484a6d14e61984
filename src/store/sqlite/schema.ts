import { counterTables } from '../changes.ts';
import { AGENT_SOURCE, endedInSql } from '../store-rules.ts';
import {
  decisionTables,
  identityTable,
  pinTable,
  resultTables,
  stateTables,
  toSqliteTables,
} from '../tables.ts';
import type { Layout } from './layout.ts';

// Indexes for lists of runs without long columns. The end of a run below another is not notified. A suspended run is
// notified once per failure, however often it is retried.
const ofState = `
CREATE INDEX runs_listed ON runs (seq, id, kind, name, file, created_at, status, updated_at);

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
WHEN NEW.status IN (${endedInSql}) AND NOT (OLD.status IN (${endedInSql})) AND NEW.source <> '${AGENT_SOURCE}'
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

const stateCounters = counterTables(['pendings', 'runs']);
const resultCounters = counterTables(['suites']);

/** "SGBX": runs, their steps and pending calls. */
export const stateLayout: Layout = {
  applicationId: 0x53474258,
  version: 5,
  tables: toSqliteTables(stateTables + identityTable + pinTable) + ofState + stateCounters,
  upgrades: [toSqliteTables(identityTable), stateCounters, toSqliteTables(pinTable)],
};

// Keeps every replaced record.
const ofResults = `
CREATE INDEX runs_by_name ON runs (name);
CREATE TRIGGER results_replaced BEFORE UPDATE ON results WHEN new.text <> old.text BEGIN
  INSERT INTO replaced_results (run, reopening, number, epoch, case_id, digest, sum, text)
    VALUES (old.run, coalesce((SELECT max(number) FROM reopenings WHERE run = old.run), 0),
      old.number, old.epoch, old.case_id, old.digest, old.sum, old.text);
END;
`;

/** "SGBE": results of suite runs, and cached answers. */
export const resultLayout: Layout = {
  applicationId: 0x53474245,
  version: 3,
  tables: toSqliteTables(resultTables) + ofResults + resultCounters,
  upgrades: [resultCounters],
};

/** "SGBD": what hooks decided, and the messages of model calls. */
export const decisionLayout: Layout = {
  applicationId: 0x53474244,
  version: 1,
  tables: toSqliteTables(decisionTables),
};
