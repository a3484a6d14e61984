import { endedInSql } from '../../store-rules.ts';

const open = ['queued', 'running', 'pending'].map((status) => `'${status}'`).join(', ');
/** Whether a run waits for a worker, or one works on it: as the index over them has it, word for word. */
export const isDue = "build IS NOT NULL AND (ready OR (dispatched AND status IN ('queued', 'running')))";

/**
 * Which runs are to be worked on, and who works. A run is `ready` when the last of the calls that it was
 * suspended for has been decided. Whoever changes that has the row of the run locked, so that of two decisions at once the later one
 * sees the earlier.
 */
export const work = `
ALTER TABLE signalbox.runs
  ADD COLUMN build text COLLATE "C",
  ADD COLUMN dispatched boolean NOT NULL DEFAULT false,
  ADD COLUMN ready boolean NOT NULL DEFAULT false,
  ADD COLUMN announced_at timestamptz,
  DROP CONSTRAINT runs_status_check,
  ADD CONSTRAINT runs_status_check CHECK (status IN (${open}, ${endedInSql}));
CREATE INDEX runs_due ON signalbox.runs (build, announced_at, seq) WHERE ${isDue};

CREATE TABLE signalbox.workers (
  id text PRIMARY KEY,
  machine text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  concurrency integer NOT NULL,
  busy integer NOT NULL,
  builds text[] NOT NULL,
  draining boolean NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL
);

-- One row: when workers last looked for what is to be done.
CREATE TABLE signalbox.sweeps (swept_at timestamptz NOT NULL);
INSERT INTO signalbox.sweeps (swept_at) VALUES ('-infinity');

CREATE FUNCTION signalbox.note_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.announced_at := NULL;
  -- A call that is stored behind its run has none here, and its run is not ready.
  NEW.ready := NEW.status = 'pending' AND NEW.build IS NOT NULL
    AND EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = NEW.id)
    AND NOT EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = NEW.id AND ruling IS NULL);
  RETURN NEW;
END $$;
CREATE TRIGGER status_changes BEFORE UPDATE OF status ON signalbox.runs
  FOR EACH ROW EXECUTE FUNCTION signalbox.note_status();

CREATE FUNCTION signalbox.note_decided() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE now_is text;
BEGIN
  SELECT status INTO now_is FROM signalbox.runs WHERE id = NEW.run_id FOR NO KEY UPDATE;
  IF now_is = 'pending' AND NOT EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = NEW.run_id AND ruling IS NULL) THEN
    UPDATE signalbox.runs SET ready = true, announced_at = NULL WHERE id = NEW.run_id AND build IS NOT NULL AND NOT ready;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER call_makes_ready AFTER UPDATE OF decided_at ON signalbox.pendings
  FOR EACH ROW WHEN (OLD.decided_at IS NULL AND NEW.decided_at IS NOT NULL) EXECUTE FUNCTION signalbox.note_decided();

DROP FUNCTION signalbox.create_run(text, bigint, integer, text, text, text, text, text, text, text, bigint);
CREATE FUNCTION signalbox.create_run(
  the_run text, the_epoch bigint, the_pid integer, the_token text,
  the_kind text, the_name text, the_file text, the_source text, the_config text, the_input text, the_at bigint,
  the_build text, is_dispatched boolean
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE refused text := signalbox.refusal(the_run, the_epoch, the_pid);
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  INSERT INTO signalbox.runs (id, kind, name, file, source, config, input, created_at, status, updated_at, token, build, dispatched)
    VALUES (the_run, the_kind, the_name, the_file, the_source, the_config, the_input, the_at,
      CASE WHEN is_dispatched THEN 'queued' ELSE 'running' END, the_at, the_token, the_build, is_dispatched)
    ON CONFLICT (id) DO NOTHING;
  IF FOUND OR EXISTS (SELECT 1 FROM signalbox.runs WHERE id = the_run AND token = the_token) THEN
    RETURN '{"is_new":1}';
  END IF;
  RETURN '{"is_new":0}';
END $$;

-- The run first, as whoever ends it does: otherwise the two would wait for each other.
CREATE OR REPLACE FUNCTION signalbox.decide(
  the_id text, the_at bigint, the_token text, the_ruling text, the_by text, the_reason text, the_args text, the_result text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  accepted boolean;
  kept json;
BEGIN
  PERFORM signalbox.expire_due(the_at);
  PERFORM 1 FROM signalbox.runs WHERE id = (SELECT run_id FROM signalbox.pendings WHERE id = the_id) FOR NO KEY UPDATE;
  UPDATE signalbox.pendings SET ruling = the_ruling, ruled_by = the_by, ruling_reason = the_reason, edited_args = the_args,
    result = the_result, decided_at = the_at, token = the_token WHERE id = the_id AND ruling IS NULL;
  accepted := FOUND;
  SELECT row_to_json(p), accepted OR coalesce(p.token = the_token, false) INTO kept, accepted
    FROM signalbox.pendings AS p WHERE id = the_id;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN json_build_object('accepted', accepted, 'record', kept);
END $$;
`;
