import { endedInSql, errorBelow, statusBelow } from '../../store-rules.ts';

/**
 * Which runs are parts of others, and the texts of the pipelines that runs may begin. Runs below another are written with its claim,
 * whose epoch no other claim has. Workers go on with the outermost run only: it is ready when nothing below it waits any more, and
 * whoever changes that has its row locked.
 */
export const runParents = `
CREATE TABLE signalbox.run_parents (
  id text COLLATE "C" PRIMARY KEY REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  root text COLLATE "C" NOT NULL,
  parent text COLLATE "C" NOT NULL,
  step text COLLATE "C" NOT NULL
);
CREATE INDEX runs_below ON signalbox.run_parents (root);
CREATE INDEX runs_of_step ON signalbox.run_parents (parent, step);
CREATE TABLE signalbox.run_pipelines (
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  file text COLLATE "C" NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (run_id, file)
);
CREATE INDEX claims_by_epoch ON signalbox.claims (epoch);

CREATE FUNCTION signalbox.kin_of(the_run text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_object('id', parent, 'root', root, 'step', step)::text FROM signalbox.run_parents WHERE id = the_run;
$$;
CREATE FUNCTION signalbox.root_of(the_run text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT root FROM signalbox.run_parents WHERE id = the_run), the_run);
$$;
CREATE FUNCTION signalbox.has_call(the_root text, only_open boolean) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = the_root AND (ruling IS NULL OR NOT only_open))
    OR EXISTS (SELECT 1 FROM signalbox.run_parents AS k JOIN signalbox.pendings AS p ON p.run_id = k.id
      WHERE k.root = the_root AND (p.ruling IS NULL OR NOT only_open));
$$;

CREATE OR REPLACE FUNCTION signalbox.refusal(the_run text, the_epoch bigint, the_pid integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF the_epoch IS NULL THEN RETURN NULL; END IF;
  IF the_pid <> pg_backend_pid() THEN RETURN '{"refused":"OTHER_SESSION"}'; END IF;
  IF EXISTS (SELECT 1 FROM signalbox.claims WHERE epoch = the_epoch) THEN RETURN NULL; END IF;
  RETURN '{"refused":"CLAIM_LOST"}';
END $$;

DROP FUNCTION signalbox.create_run(
  text, bigint, integer, text, text, text, text, text, text, text, bigint, text, boolean, text);
CREATE FUNCTION signalbox.create_run(
  the_run text, the_epoch bigint, the_pid integer, the_token text,
  the_kind text, the_name text, the_file text, the_source text, the_config text, the_input text, the_at bigint,
  the_build text, is_dispatched boolean, the_labels text, the_kin text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  refused text := signalbox.refusal(the_run, the_epoch, the_pid);
  place bigint;
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  INSERT INTO signalbox.runs (id, kind, name, file, source, config, input, created_at, status, updated_at, token, build, dispatched)
    VALUES (the_run, the_kind, the_name, the_file, the_source, the_config, the_input, the_at,
      CASE WHEN is_dispatched THEN 'queued' ELSE 'running' END, the_at, the_token, the_build, is_dispatched)
    ON CONFLICT (id) DO NOTHING RETURNING seq INTO place;
  IF FOUND AND the_labels IS NOT NULL THEN
    INSERT INTO signalbox.run_labels (run, key, value)
      SELECT place, given.key, given.value FROM json_each_text(the_labels::json) AS given;
  END IF;
  IF place IS NOT NULL AND the_kin IS NOT NULL THEN
    INSERT INTO signalbox.run_parents (id, root, parent, step)
      SELECT the_run, the_kin::json ->> 'root', the_kin::json ->> 'id', the_kin::json ->> 'step'
        WHERE the_kin::json ->> 'id' IS NOT NULL;
    INSERT INTO signalbox.run_pipelines (run_id, file, text)
      SELECT the_run, given.key, given.value FROM json_each_text(the_kin::json -> 'pipelines') AS given;
  END IF;
  IF place IS NOT NULL OR EXISTS (SELECT 1 FROM signalbox.runs WHERE id = the_run AND token = the_token) THEN
    RETURN '{"is_new":1}';
  END IF;
  RETURN '{"is_new":0}';
END $$;

CREATE FUNCTION signalbox.end_below() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE signalbox.runs SET status = CASE NEW.status WHEN 'cancelled' THEN '${statusBelow('cancelled')}' ELSE '${statusBelow('failed')}' END,
      updated_at = NEW.updated_at, error = '${errorBelow}'
    WHERE id IN (SELECT id FROM signalbox.run_parents WHERE root = NEW.id) AND status IN ('running', 'pending');
  UPDATE signalbox.pendings SET ruling = 'cancelled', ruled_by = 'signalbox', ruling_reason = 'the run is ' || NEW.status,
      decided_at = NEW.updated_at
    WHERE run_id IN (SELECT id FROM signalbox.run_parents WHERE root = NEW.id) AND ruling IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER run_ends_below AFTER UPDATE OF status ON signalbox.runs
  FOR EACH ROW WHEN (NEW.status IN (${endedInSql}) AND OLD.status NOT IN (${endedInSql})) EXECUTE FUNCTION signalbox.end_below();

CREATE OR REPLACE FUNCTION signalbox.note_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.announced_at := NULL;
  -- A call that is stored behind its run has none here, and its run is not ready.
  NEW.ready := NEW.status = 'pending' AND NEW.build IS NOT NULL
    AND signalbox.has_call(NEW.id, false) AND NOT signalbox.has_call(NEW.id, true);
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION signalbox.note_decided() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  the_root text := signalbox.root_of(NEW.run_id);
  now_is text;
BEGIN
  SELECT status INTO now_is FROM signalbox.runs WHERE id = the_root FOR NO KEY UPDATE;
  IF now_is = 'pending' AND NOT signalbox.has_call(the_root, true) THEN
    UPDATE signalbox.runs SET ready = true, announced_at = NULL WHERE id = the_root AND build IS NOT NULL AND NOT ready;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION signalbox.note_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.notices (run_id, target, event, made_at)
    SELECT NEW.id, r.target, r.event, NEW.updated_at FROM signalbox.notify_rules AS r
      WHERE r.config = NEW.config AND r.event = CASE NEW.status WHEN 'completed' THEN 'completed' ELSE 'failed' END
        AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents WHERE id = NEW.id);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION signalbox.pending_row(the_id text) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(whole) FROM (
    SELECT p.*, signalbox.consents_of(p.id) AS consents, signalbox.kin_of(p.run_id) AS kin
      FROM signalbox.pendings AS p WHERE p.id = the_id) AS whole;
$$;

CREATE OR REPLACE FUNCTION signalbox.decide(
  the_id text, the_at bigint, the_token text, the_ruling text, the_by text, the_reason text, the_args text, the_result text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  accepted boolean;
  needed bigint;
BEGIN
  PERFORM signalbox.expire_due(the_at);
  PERFORM 1 FROM signalbox.runs
    WHERE id = (SELECT signalbox.root_of(run_id) FROM signalbox.pendings WHERE id = the_id) FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT p.quorum INTO needed FROM signalbox.pendings AS p WHERE id = the_id AND ruling IS NULL;
  IF the_ruling = 'approved' AND needed > 1 THEN
    INSERT INTO signalbox.consents (pending_id, name, reason, given_at) VALUES (the_id, the_by, the_reason, the_at)
      ON CONFLICT (pending_id, name) DO NOTHING;
    IF (SELECT count(*) FROM signalbox.consents WHERE pending_id = the_id) < needed THEN
      RETURN json_build_object('accepted', true, 'record', signalbox.pending_row(the_id));
    END IF;
  END IF;
  UPDATE signalbox.pendings SET ruling = the_ruling, ruled_by = the_by, ruling_reason = the_reason, edited_args = the_args,
    result = the_result, decided_at = the_at, token = the_token WHERE id = the_id AND ruling IS NULL;
  accepted := FOUND OR coalesce((SELECT token = the_token FROM signalbox.pendings WHERE id = the_id), false);
  RETURN json_build_object('accepted', accepted, 'record', signalbox.pending_row(the_id));
END $$;

CREATE OR REPLACE FUNCTION signalbox.prune(the_time bigint, behind bigint, own text[], OUT seen bigint, OUT removed bigint, OUT last bigint)
LANGUAGE plpgsql AS $$
DECLARE old record;
BEGIN
  seen := 0;
  removed := 0;
  last := behind;
  FOR old IN
    SELECT seq, id FROM signalbox.runs
      WHERE status IN (${endedInSql}) AND updated_at < the_time AND seq > behind
        AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = runs.id) ORDER BY seq LIMIT 100
  LOOP
    seen := seen + 1;
    last := old.seq;
    -- A lock of its own session would not keep it away.
    CONTINUE WHEN old.id = ANY (own) OR NOT pg_try_advisory_xact_lock(signalbox.lock_key(old.id));
    DELETE FROM signalbox.runs WHERE id IN (SELECT k.id FROM signalbox.run_parents AS k WHERE k.root = old.id);
    DELETE FROM signalbox.runs WHERE seq = old.seq;
    DELETE FROM signalbox.claims WHERE run_id = old.id;
    removed := removed + 1;
  END LOOP;
END $$;
`;
