import { endedInSql } from '../../store-rules.ts';

/**
 * Beside a run that is pending: what else than a call it waits for, until when. It is `ready` when that is over, which a sweep finds by the clock of the
 * database, or, where it waits for calls too, when they are decided. Of runs below another only that one is gone on with, and told of.
 */
export const suspensions = `
CREATE TABLE signalbox.suspensions (
  run bigint PRIMARY KEY REFERENCES signalbox.runs (seq) ON DELETE CASCADE,
  why text NOT NULL CHECK (why IN ('fault', 'wait')),
  since bigint NOT NULL,
  due_at bigint NOT NULL,
  tries bigint NOT NULL,
  step text NOT NULL,
  error text,
  calls bigint NOT NULL
);
CREATE INDEX suspensions_due ON signalbox.suspensions (due_at);

ALTER TABLE signalbox.notify_rules DROP CONSTRAINT notify_rules_event_check,
  ADD CONSTRAINT notify_rules_event_check CHECK (event IN ('pending', 'decided', 'suspended', 'completed', 'failed'));
CREATE FUNCTION signalbox.note_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.notices (run_id, target, event, made_at)
    SELECT runs.id, r.target, r.event, NEW.since
      FROM signalbox.notify_rules AS r JOIN signalbox.runs ON runs.config = r.config
      WHERE runs.seq = NEW.run AND r.event = 'suspended'
        AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = runs.id);
  RETURN NULL;
END $$;
CREATE TRIGGER notice_suspended AFTER INSERT ON signalbox.suspensions
  FOR EACH ROW WHEN (NEW.why = 'fault' AND NEW.tries = 1) EXECUTE FUNCTION signalbox.note_suspended();

CREATE OR REPLACE FUNCTION signalbox.note_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.announced_at := NULL;
  -- A call that is stored behind its run has none here, and its run is not ready.
  NEW.ready := NEW.status = 'pending' AND NEW.build IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM signalbox.suspensions WHERE run = NEW.seq AND calls = 0)
    AND signalbox.has_call(NEW.id, false) AND NOT signalbox.has_call(NEW.id, true);
  RETURN NEW;
END $$;

DROP FUNCTION signalbox.set_status(text, bigint, integer, text, text, bigint, boolean, text, boolean, text, boolean, text, bigint,
  bigint[], bigint[], text[]);
CREATE FUNCTION signalbox.set_status(
  the_run text, the_epoch bigint, the_pid integer, the_token text, the_status text, the_at bigint,
  keep_output boolean, the_output text, keep_error boolean, the_error text, keep_parts boolean,
  the_refs text, refs_sum bigint, numbers bigint[], sums bigint[], the_texts text[],
  the_why text, the_since bigint, the_due bigint, the_tries bigint, the_step text, the_fault text, the_calls bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  refused text := signalbox.refusal(the_run, the_epoch, the_pid);
  the_seq bigint;
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  SELECT seq INTO the_seq FROM signalbox.runs WHERE id = the_run AND status NOT IN (${endedInSql}) FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    IF EXISTS (SELECT 1 FROM signalbox.runs WHERE id = the_run AND token = the_token) THEN RETURN '{"stands":1}'; END IF;
    RETURN '{"stands":0}';
  END IF;
  -- Before the status, by which it is told whether the run is ready.
  IF the_status <> 'running' AND NOT EXISTS (SELECT 1 FROM signalbox.runs WHERE seq = the_seq AND token = the_token) THEN
    DELETE FROM signalbox.suspensions WHERE run = the_seq;
    IF the_why IS NOT NULL THEN
      INSERT INTO signalbox.suspensions (run, why, since, due_at, tries, step, error, calls)
        VALUES (the_seq, the_why, the_since, the_due, the_tries, the_step, the_fault, the_calls);
    END IF;
  END IF;
  UPDATE signalbox.runs SET status = the_status, updated_at = the_at, token = the_token,
      output = CASE WHEN keep_output THEN output ELSE the_output END,
      error = CASE WHEN keep_error THEN error ELSE the_error END
    WHERE seq = the_seq;
  IF NOT keep_parts THEN
    DELETE FROM signalbox.parts WHERE run_id = the_run AND step = '/output';
    DELETE FROM signalbox.texts WHERE run_id = the_run AND step = '/output';
    IF the_refs IS NOT NULL THEN
      PERFORM signalbox.keep_texts(the_run, '/output', the_refs, refs_sum, numbers, sums, the_texts);
    END IF;
  END IF;
  IF the_status IN (${endedInSql}) THEN
    PERFORM signalbox.expire_due(the_at);
    UPDATE signalbox.pendings SET ruling = 'cancelled', ruled_by = 'signalbox', ruling_reason = 'the run is ' || the_status,
      decided_at = the_at WHERE run_id = the_run AND ruling IS NULL;
  END IF;
  RETURN '{"stands":1}';
END $$;

CREATE OR REPLACE FUNCTION signalbox.note_decided() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  the_root text := signalbox.root_of(NEW.run_id);
  now_is text;
BEGIN
  SELECT status INTO now_is FROM signalbox.runs WHERE id = the_root FOR NO KEY UPDATE;
  IF now_is = 'pending' AND NOT signalbox.has_call(the_root, true) THEN
    UPDATE signalbox.runs SET ready = true, announced_at = NULL WHERE id = the_root AND build IS NOT NULL AND NOT ready
      AND NOT EXISTS (SELECT 1 FROM signalbox.suspensions WHERE run = runs.seq AND calls = 0);
  END IF;
  RETURN NULL;
END $$;
`;
