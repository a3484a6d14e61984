import { endedInSql } from '../../store-rules.ts';

/** Notices, and the triggers that keep them with what they tell of. They are due by the clock of the database. */
export const outbox = `
CREATE TABLE signalbox.notify_rules (
  event text NOT NULL CHECK (event IN ('pending', 'decided', 'completed', 'failed')),
  config text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  PRIMARY KEY (event, config, target)
);
CREATE TABLE signalbox.notices (
  seq bigserial PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  target text COLLATE "C" NOT NULL,
  event text NOT NULL,
  pending_id text,
  made_at bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  due_at bigint NOT NULL DEFAULT 0
);
CREATE INDEX notices_due ON signalbox.notices (target, due_at);
CREATE INDEX notices_by_run ON signalbox.notices (run_id);

CREATE FUNCTION signalbox.note_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.notices (run_id, target, event, pending_id, made_at)
    SELECT NEW.run_id, r.target, r.event, NEW.id, coalesce(NEW.decided_at, NEW.created_at)
      FROM signalbox.notify_rules AS r JOIN signalbox.runs ON runs.config = r.config
      WHERE runs.id = NEW.run_id AND r.event = CASE WHEN NEW.decided_at IS NULL THEN 'pending' ELSE 'decided' END;
  RETURN NULL;
END $$;
CREATE TRIGGER notice_waits AFTER INSERT ON signalbox.pendings FOR EACH ROW EXECUTE FUNCTION signalbox.note_call();
CREATE TRIGGER notice_decided AFTER UPDATE OF decided_at ON signalbox.pendings
  FOR EACH ROW WHEN (OLD.decided_at IS NULL AND NEW.decided_at IS NOT NULL) EXECUTE FUNCTION signalbox.note_call();

CREATE FUNCTION signalbox.note_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.notices (run_id, target, event, made_at)
    SELECT NEW.id, r.target, r.event, NEW.updated_at FROM signalbox.notify_rules AS r
      WHERE r.config = NEW.config AND r.event = CASE NEW.status WHEN 'completed' THEN 'completed' ELSE 'failed' END;
  RETURN NULL;
END $$;
CREATE TRIGGER notice_ended AFTER UPDATE OF status ON signalbox.runs
  FOR EACH ROW WHEN (NEW.status IN (${endedInSql}) AND OLD.status NOT IN (${endedInSql}) AND NEW.source <> 'signalbox gateway')
  EXECUTE FUNCTION signalbox.note_end();
`;
