import { AGENT_SOURCE, endedInSql, errorBelow, statusBelow } from '../../store-rules.ts';
import { keyTables, resultTables, stateTables, toPostgresTables } from '../../tables.ts';

interface Area {
  readonly tables?: string;
  readonly functions: string;
}

/**
 * Runs with their journals, labels, suspensions and parents. A holder writes with the epoch of its claim, in the
 * session that holds the lock. A run below another is written with the claim of the outermost one, and workers resume
 * only outermost runs.
 */
const runs: Area = {
  functions: `
CREATE FUNCTION signalbox.tell_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.moments (run_id, what, subject)
    VALUES (NEW.run_id, CASE WHEN NEW.ended_at IS NULL THEN 'began' ELSE 'ended' END, NEW.step);
  RETURN NULL;
END $$;
CREATE TRIGGER step_is_there AFTER INSERT ON signalbox.steps
  FOR EACH ROW EXECUTE FUNCTION signalbox.tell_step();
CREATE TRIGGER step_ends AFTER UPDATE OF ended_at ON signalbox.steps
  FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION signalbox.tell_step();

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

CREATE FUNCTION signalbox.begin_step(
  the_run text, the_epoch bigint, the_pid integer, the_token text, the_step text, the_at bigint, unless_cancelled boolean
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  refused text := signalbox.refusal(the_run, the_epoch, the_pid);
  now_is text;
  count bigint;
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  SELECT status INTO now_is FROM signalbox.runs WHERE id = the_run;
  IF NOT FOUND THEN RETURN '{"refused":"RUN_UNKNOWN"}'; END IF;
  IF unless_cancelled AND now_is = 'cancelled' THEN RETURN '{"refused":"RUN_ENDED"}'; END IF;
  INSERT INTO signalbox.steps AS s (run_id, step, attempts, began_at, token)
    VALUES (the_run, the_step, 1, the_at, the_token)
    ON CONFLICT (run_id, step) DO UPDATE SET
      attempts = s.attempts + CASE WHEN s.token = excluded.token THEN 0 ELSE 1 END, token = excluded.token
    RETURNING s.attempts INTO count;
  RETURN '{"attempts":' || count || '}';
END $$;

CREATE FUNCTION signalbox.keep_texts(
  the_run text, the_step text, the_refs text, the_sum bigint, numbers bigint[], sums bigint[], the_texts text[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.texts (run_id, step, number, sum, text)
    SELECT the_run, the_step, n, s, t FROM unnest(numbers, sums, the_texts) AS each (n, s, t)
    ON CONFLICT (run_id, step, number) DO NOTHING;
  INSERT INTO signalbox.parts (run_id, step, sum, refs) VALUES (the_run, the_step, the_sum, the_refs)
    ON CONFLICT (run_id, step) DO UPDATE SET refs = excluded.refs, sum = excluded.sum;
END $$;

CREATE FUNCTION signalbox.end_step(
  the_run text, the_epoch bigint, the_pid integer, the_token text, the_step text, the_at bigint, the_outcome text, the_sum bigint,
  the_refs text, refs_sum bigint, numbers bigint[], sums bigint[], the_texts text[]
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE refused text := signalbox.refusal(the_run, the_epoch, the_pid);
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  IF NOT EXISTS (SELECT 1 FROM signalbox.runs WHERE id = the_run) THEN RETURN '{"refused":"RUN_UNKNOWN"}'; END IF;
  INSERT INTO signalbox.steps AS s (run_id, step, attempts, outcome, began_at, ended_at, sum, token)
    VALUES (the_run, the_step, 0, the_outcome, the_at, the_at, the_sum, the_token)
    ON CONFLICT (run_id, step) DO UPDATE SET outcome = excluded.outcome, ended_at = excluded.ended_at, sum = excluded.sum
    WHERE s.ended_at IS NULL;
  -- The first outcome stays, and its parts with it.
  IF FOUND AND the_refs IS NOT NULL THEN
    PERFORM signalbox.keep_texts(the_run, the_step, the_refs, refs_sum, numbers, sums, the_texts);
  END IF;
  RETURN '{}';
END $$;

-- Calls expire by the clock that all machines share, whatever theirs say; \`caller\` is for tests, which set the time.
CREATE FUNCTION signalbox.now_ms(of_caller bigint) RETURNS bigint LANGUAGE sql AS $$
  SELECT CASE WHEN current_setting('signalbox.clock', true) = 'caller' THEN of_caller
    ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END;
$$;

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

-- Removes up to a hundred old runs behind a place; says how many it looked at and removed, and the place of the last.
CREATE FUNCTION signalbox.prune(the_time bigint, behind bigint, own text[], OUT seen bigint, OUT removed bigint, OUT last bigint)
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

CREATE FUNCTION signalbox.note_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.announced_at := NULL;
  -- A call that is stored behind its run has none here, and its run is not ready.
  NEW.ready := NEW.status = 'pending' AND NEW.build IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM signalbox.suspensions WHERE run = NEW.seq AND calls = 0)
    AND signalbox.has_call(NEW.id, false) AND NOT signalbox.has_call(NEW.id, true);
  RETURN NEW;
END $$;
CREATE TRIGGER status_changes BEFORE UPDATE OF status ON signalbox.runs
  FOR EACH ROW EXECUTE FUNCTION signalbox.note_status();

CREATE FUNCTION signalbox.reopen(
  the_run text, the_epoch bigint, the_pid integer, the_token text, the_status text, the_at bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE refused text := signalbox.refusal(the_run, the_epoch, the_pid);
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  UPDATE signalbox.runs SET status = the_status, updated_at = the_at, token = the_token, output = NULL, error = NULL,
      dispatched = dispatched OR the_status = 'queued'
    WHERE id = the_run AND status IN ('failed', 'denied');
  IF FOUND OR EXISTS (SELECT 1 FROM signalbox.runs WHERE id = the_run AND token = the_token) THEN
    RETURN '{"stands":1}';
  END IF;
  RETURN '{"stands":0}';
END $$;

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
`,
};

/**
 * Pending calls, and approvals of calls that need several. Deciding locks the row of the outermost run, so that the
 * later of two decisions sees the earlier.
 */
const calls: Area = {
  functions: `
CREATE FUNCTION signalbox.tell_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.moments (run_id, what, subject)
    VALUES (NEW.run_id, CASE WHEN NEW.decided_at IS NULL THEN 'pending' ELSE 'decided' END, NEW.id);
  IF NEW.decided_at IS NOT NULL THEN PERFORM pg_notify('signalbox', 'decided'); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER call_waits AFTER INSERT ON signalbox.pendings
  FOR EACH ROW EXECUTE FUNCTION signalbox.tell_call();
CREATE TRIGGER call_is_decided AFTER UPDATE OF decided_at ON signalbox.pendings
  FOR EACH ROW WHEN (OLD.decided_at IS NULL AND NEW.decided_at IS NOT NULL) EXECUTE FUNCTION signalbox.tell_call();

CREATE FUNCTION signalbox.expire_due(the_at bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE now_is bigint := signalbox.now_ms(the_at);
BEGIN
  UPDATE signalbox.pendings SET ruling = 'expired', decided_at = expires_at WHERE ruling IS NULL AND expires_at <= now_is;
END $$;

CREATE FUNCTION signalbox.add_pending(
  the_run text, the_epoch bigint, the_pid integer, the_token text, the_id text, the_step text, the_call text, the_tool text,
  the_args text, the_origin text, the_hook text, the_reason text, the_message text, the_members text, the_previous text,
  the_at bigint, the_expiry bigint, the_quorum bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  refused text := signalbox.refusal(the_run, the_epoch, the_pid);
  now_is text;
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  IF EXISTS (SELECT 1 FROM signalbox.pendings WHERE id = the_id) THEN RETURN signalbox.pending_row(the_id); END IF;
  -- Locked, so that the run does not end before its end could see this call.
  SELECT status INTO now_is FROM signalbox.runs WHERE id = the_run FOR SHARE;
  IF NOT FOUND THEN RETURN '{"refused":"RUN_UNKNOWN"}'; END IF;
  INSERT INTO signalbox.pendings (id, run_id, step, call_id, tool, args, origin, hook, reason, message, members, previous,
      created_at, expires_at, quorum)
    VALUES (the_id, the_run, the_step, the_call, the_tool, the_args, the_origin, the_hook, the_reason, the_message,
      the_members, the_previous, the_at, the_expiry - the_at + signalbox.now_ms(the_at), the_quorum)
    ON CONFLICT (id) DO NOTHING;
  IF FOUND AND now_is IN (${endedInSql}) THEN
    UPDATE signalbox.pendings SET ruling = 'cancelled', ruled_by = 'signalbox', ruling_reason = 'the run is ' || now_is,
      decided_at = the_at WHERE id = the_id;
  END IF;
  RETURN signalbox.pending_row(the_id);
END $$;

-- Who decides has the row of the run: of two who approve at once the later one counts both.
CREATE FUNCTION signalbox.decide(
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

CREATE FUNCTION signalbox.note_decided() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER call_makes_ready AFTER UPDATE OF decided_at ON signalbox.pendings
  FOR EACH ROW WHEN (OLD.decided_at IS NULL AND NEW.decided_at IS NOT NULL) EXECUTE FUNCTION signalbox.note_decided();

CREATE FUNCTION signalbox.consents_of(the_id text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_agg(json_build_object('name', name, 'reason', reason, 'given_at', given_at) ORDER BY seq)::text
    FROM signalbox.consents WHERE pending_id = the_id;
$$;

CREATE FUNCTION signalbox.pending_row(the_id text) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(whole) FROM (
    SELECT p.*, signalbox.consents_of(p.id) AS consents, signalbox.kin_of(p.run_id) AS kin
      FROM signalbox.pendings AS p WHERE p.id = the_id) AS whole;
$$;
`,
};

/**
 * Claims: a session lock, which ends with the session, and an epoch greater than all before. Also the known workers.
 */
const claims: Area = {
  tables: `
CREATE SEQUENCE signalbox.epochs;

CREATE TABLE signalbox.claims (
  run_id text COLLATE "C" PRIMARY KEY,
  epoch bigint NOT NULL,
  holder text NOT NULL
);

CREATE TABLE signalbox.holders (
  id text PRIMARY KEY,
  pid integer NOT NULL,
  backend_start timestamptz NOT NULL,
  machine text NOT NULL,
  seen_at timestamptz NOT NULL
);

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
CREATE INDEX claims_by_epoch ON signalbox.claims (epoch);
`,
  functions: `
-- Whoever holds a run writes with the epoch of the claim, in the session that holds its lock.
CREATE FUNCTION signalbox.refusal(the_run text, the_epoch bigint, the_pid integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF the_epoch IS NULL THEN RETURN NULL; END IF;
  IF the_pid <> pg_backend_pid() THEN RETURN '{"refused":"OTHER_SESSION"}'; END IF;
  IF EXISTS (SELECT 1 FROM signalbox.claims WHERE epoch = the_epoch) THEN RETURN NULL; END IF;
  RETURN '{"refused":"CLAIM_LOST"}';
END $$;

CREATE FUNCTION signalbox.lock_key(the_run text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT hashtextextended('signalbox run ' || the_run, 0);
$$;

CREATE FUNCTION signalbox.claim(the_run text, the_holder text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE given bigint;
BEGIN
  IF NOT pg_try_advisory_lock(signalbox.lock_key(the_run)) THEN RETURN NULL; END IF;
  INSERT INTO signalbox.claims AS c (run_id, epoch, holder) VALUES (the_run, nextval('signalbox.epochs'), the_holder)
    ON CONFLICT (run_id) DO UPDATE SET epoch = excluded.epoch, holder = excluded.holder
    RETURNING epoch INTO given;
  RETURN given;
END $$;

-- Has the run again after a lost connection, if nobody had it meanwhile.
CREATE FUNCTION signalbox.claim_again(the_run text, the_epoch bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM signalbox.claims WHERE run_id = the_run AND epoch = the_epoch) THEN RETURN false; END IF;
  IF NOT pg_try_advisory_lock(signalbox.lock_key(the_run)) THEN RETURN NULL; END IF;
  IF EXISTS (SELECT 1 FROM signalbox.claims WHERE run_id = the_run AND epoch = the_epoch) THEN RETURN true; END IF;
  PERFORM pg_advisory_unlock(signalbox.lock_key(the_run));
  RETURN false;
END $$;

CREATE FUNCTION signalbox.release(the_run text, the_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM signalbox.claims WHERE run_id = the_run AND epoch = the_epoch;
  PERFORM pg_advisory_unlock(signalbox.lock_key(the_run));
END $$;

-- Ends sessions of holders that have not been heard of for so long, of one run or (null) of all; says how many.
CREATE FUNCTION signalbox.end_hung(the_run text, after_ms bigint) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(pg_terminate_backend(a.pid)) FROM signalbox.holders AS h
    JOIN pg_stat_activity AS a ON a.pid = h.pid AND a.backend_start = h.backend_start
    WHERE h.seen_at < clock_timestamp() - after_ms * interval '1 millisecond'
      AND (the_run IS NULL OR h.id = (SELECT holder FROM signalbox.claims WHERE run_id = the_run));
$$;
`,
};

/** Notices, stored in the transaction of their event, and due by the clock of the database. */
const notices: Area = {
  functions: `
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
      WHERE r.config = NEW.config AND r.event = CASE NEW.status WHEN 'completed' THEN 'completed' ELSE 'failed' END
        AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents WHERE id = NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER notice_ended AFTER UPDATE OF status ON signalbox.runs
  FOR EACH ROW WHEN (NEW.status IN (${endedInSql}) AND OLD.status NOT IN (${endedInSql}) AND NEW.source <> '${AGENT_SOURCE}')
  EXECUTE FUNCTION signalbox.note_end();
`,
};

/**
 * Results of suites and of shadow hooks, cached answers, ratings, and chunks of suites for workers. A result has no
 * foreign key to its run, so that the many results of a removed run are deleted piece by piece.
 */
const results: Area = {
  tables: `
-- Runs whose results are being removed.
CREATE TABLE signalbox.removed_results (run bigint PRIMARY KEY);

CREATE TABLE signalbox.shared_suites (
  run text COLLATE "C" PRIMARY KEY REFERENCES signalbox.result_runs (id) ON DELETE CASCADE,
  build text NOT NULL,
  work text NOT NULL
);

CREATE TABLE signalbox.suite_chunks (
  run text COLLATE "C" NOT NULL REFERENCES signalbox.shared_suites (run) ON DELETE CASCADE,
  number bigint NOT NULL,
  claim text NOT NULL,
  rows bigint NOT NULL,
  place text NOT NULL,
  tally text,
  failures bigint NOT NULL DEFAULT 0,
  failure text,
  announced_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run, number)
);
CREATE INDEX suite_chunks_open ON signalbox.suite_chunks (run, announced_at) WHERE tally IS NULL;
`,
  functions: `
-- The id of a run that is not there, and then none of them is kept; null: all are.
CREATE FUNCTION signalbox.put_results(
  the_runs text[], numbers bigint[], epochs bigint[], sums bigint[], case_ids text[], digests text[], the_texts text[]
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE missing text;
BEGIN
  -- Locked, lest a run be removed in between and its results be nobody's.
  PERFORM 1 FROM signalbox.result_runs WHERE id = ANY (the_runs) ORDER BY seq FOR KEY SHARE;
  SELECT each INTO missing FROM unnest(the_runs) AS each
    WHERE NOT EXISTS (SELECT 1 FROM signalbox.result_runs WHERE id = each) LIMIT 1;
  IF FOUND THEN RETURN missing; END IF;
  INSERT INTO signalbox.results (run, number, epoch, sum, case_id, digest, text)
    SELECT r.seq, n, e, s, c, d, t
      FROM unnest(the_runs, numbers, epochs, sums, case_ids, digests, the_texts) AS each (id, n, e, s, c, d, t)
      JOIN signalbox.result_runs AS r USING (id)
    ON CONFLICT (run, number, epoch) DO UPDATE
      SET sum = excluded.sum, case_id = excluded.case_id, digest = excluded.digest, text = excluded.text;
  RETURN NULL;
END $$;

-- False: there is no such run.
CREATE FUNCTION signalbox.append_result(
  the_run text, the_epoch bigint, the_sum bigint, the_token uuid, the_case text, the_digest text, the_text text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE place bigint;
BEGIN
  -- Whoever appends to the run waits for the others.
  SELECT seq INTO place FROM signalbox.result_runs WHERE id = the_run FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  IF EXISTS (SELECT 1 FROM signalbox.results WHERE token = the_token) THEN RETURN true; END IF;
  INSERT INTO signalbox.results (run, number, epoch, sum, token, case_id, digest, text)
    SELECT place, 1 + coalesce(max(number), 0), the_epoch, the_sum, the_token, the_case, the_digest, the_text
      FROM signalbox.results WHERE run = place;
  RETURN true;
END $$;

-- Removes the runs of that list, each with the name of its claim, but for those that somebody works on; says how many.
CREATE FUNCTION signalbox.remove_result_runs(the_runs text[], claims text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  old record;
  place bigint;
  removed bigint := 0;
BEGIN
  FOR old IN SELECT * FROM unnest(the_runs, claims) AS each (id, claim) LOOP
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(signalbox.lock_key(old.claim));
    DELETE FROM signalbox.result_runs WHERE id = old.id RETURNING seq INTO place;
    CONTINUE WHEN NOT FOUND;
    INSERT INTO signalbox.removed_results (run) VALUES (place);
    DELETE FROM signalbox.claims WHERE run_id = old.claim;
    removed := removed + 1;
  END LOOP;
  RETURN removed;
END $$;

-- Removes up to so many results of runs that are removed; says how many, 0 when there are none.
CREATE FUNCTION signalbox.remove_results(most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  place bigint;
  removed bigint;
BEGIN
  SELECT run INTO place FROM signalbox.removed_results ORDER BY run LIMIT 1 FOR UPDATE;
  IF NOT FOUND THEN RETURN 0; END IF;
  DELETE FROM signalbox.results WHERE ctid = ANY (ARRAY(SELECT ctid FROM signalbox.results WHERE run = place LIMIT most));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed = 0 THEN
    DELETE FROM signalbox.removed_results WHERE run = place;
    RETURN 1;
  END IF;
  RETURN removed;
END $$;

-- No record is replaced without a trace, whoever replaces it.
CREATE FUNCTION signalbox.keep_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.replaced_results (run, reopening, number, epoch, case_id, digest, sum, text)
    VALUES (old.run, coalesce((SELECT max(number) FROM signalbox.reopenings WHERE run = old.run), 0),
      old.number, old.epoch, old.case_id, old.digest, old.sum, old.text);
  RETURN new;
END $$;
CREATE TRIGGER results_replaced BEFORE UPDATE ON signalbox.results
  FOR EACH ROW WHEN (new.text <> old.text) EXECUTE FUNCTION signalbox.keep_replaced();
`,
};

/**
 * The remaining rate limits of providers. A process draws an amount for many calls in one statement. What a dead
 * process has drawn refills with time.
 */
const rates: Area = {
  tables: `
CREATE TABLE signalbox.rate_buckets (
  provider text COLLATE "C" PRIMARY KEY,
  requests double precision NOT NULL,
  tokens double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  held_until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
`,
  functions: `
-- Null for a limit that there is none of. What is more than a full bucket is given when it is full, and owed to it.
CREATE FUNCTION signalbox.draw_rate(
  the_provider text, requests_per_minute double precision, tokens_per_minute double precision,
  full_requests double precision, full_tokens double precision, need_requests double precision, need_tokens double precision,
  ahead_requests double precision, ahead_tokens double precision
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  b signalbox.rate_buckets;
  at timestamptz;
  minutes double precision;
  lack double precision;
BEGIN
  INSERT INTO signalbox.rate_buckets (provider, requests, tokens, filled_at)
    VALUES (the_provider, coalesce(full_requests, 0), coalesce(full_tokens, 0), clock_timestamp()) ON CONFLICT (provider) DO NOTHING;
  SELECT * INTO b FROM signalbox.rate_buckets WHERE provider = the_provider FOR UPDATE;
  at := clock_timestamp();
  IF b.held_until > at THEN
    RETURN json_build_object('limit', 'hold', 'wait', ceil(extract(epoch FROM b.held_until - at) * 1000));
  END IF;
  minutes := greatest(0, extract(epoch FROM at - b.filled_at)) / 60;
  IF requests_per_minute IS NOT NULL THEN
    b.requests := least(full_requests, b.requests + minutes * requests_per_minute);
    lack := least(need_requests, full_requests) - b.requests;
    IF need_requests > 0 AND lack > 0 THEN
      RETURN json_build_object('limit', 'requests', 'wait', ceil(lack * 60000 / requests_per_minute));
    END IF;
    need_requests := need_requests + least(ahead_requests, greatest(0, b.requests - need_requests));
    b.requests := b.requests - need_requests;
  END IF;
  IF tokens_per_minute IS NOT NULL THEN
    b.tokens := least(full_tokens, b.tokens + minutes * tokens_per_minute);
    lack := least(need_tokens, full_tokens) - b.tokens;
    IF need_tokens > 0 AND lack > 0 THEN
      RETURN json_build_object('limit', 'tokens', 'wait', ceil(lack * 60000 / tokens_per_minute));
    END IF;
    need_tokens := need_tokens + least(ahead_tokens, greatest(0, b.tokens - need_tokens));
    b.tokens := b.tokens - need_tokens;
  END IF;
  UPDATE signalbox.rate_buckets SET requests = b.requests, tokens = b.tokens, filled_at = at WHERE provider = the_provider;
  RETURN json_build_object('requests', need_requests, 'tokens', need_tokens);
END $$;
`,
};

/**
 * Keys of a gateway, their usage, and active calls. Each counting function first locks the row of its key in
 * `gateway_held`, so that replicas decide about a key one after another. Answers are JSON: empty, or the refusal.
 */
const keys: Area = {
  tables: `
CREATE TABLE signalbox.gateway_replicas (
  id text COLLATE "C" PRIMARY KEY,
  machine text NOT NULL,
  seen_at timestamptz NOT NULL
) WITH (fillfactor = 50);
`,
  functions: `
CREATE FUNCTION signalbox.gateway_find(the_prefix text) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(json_agg(json_build_object('key', row_to_json(k), 'secret', row_to_json(s))), '[]'::json)::text
    FROM signalbox.gateway_secrets AS s JOIN signalbox.gateway_keys AS k ON k.id = s.key WHERE s.prefix = the_prefix;
$$;

CREATE FUNCTION signalbox.gateway_has_keys() RETURNS boolean LANGUAGE sql AS $$
  SELECT EXISTS (SELECT 1 FROM signalbox.gateway_keys WHERE revoked_at IS NULL);
$$;

CREATE FUNCTION signalbox.gateway_add_rate(the_key text, the_kind text, the_second bigint, the_amount bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE signalbox.gateway_rates SET amount = amount + the_amount
    WHERE key = the_key AND kind = the_kind AND second = the_second;
  IF FOUND THEN RETURN; END IF;
  INSERT INTO signalbox.gateway_rates (key, kind, second, amount) VALUES (the_key, the_kind, the_second, the_amount);
  DELETE FROM signalbox.gateway_rates WHERE key = the_key AND kind = the_kind AND second <= the_second - 61;
END $$;

-- Seconds until the amount fits into the minute before it; 0: now.
CREATE FUNCTION signalbox.gateway_rate_wait(the_key text, the_kind text, the_amount bigint, the_limit bigint, at bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  this_second bigint := at / 1000;
  total bigint;
  latest bigint;
  future bigint;
  past record;
BEGIN
  SELECT coalesce(sum(amount), 0), max(second) INTO total, latest FROM signalbox.gateway_rates
    WHERE key = the_key AND kind = the_kind AND second > this_second - 61;
  -- The clock was set back: what is in the future now counts for one more minute, not until the clock gets there.
  IF latest > this_second + 10 THEN
    WITH gone AS (
      DELETE FROM signalbox.gateway_rates WHERE key = the_key AND kind = the_kind AND second > this_second RETURNING amount
    ) SELECT sum(amount) INTO future FROM gone;
    PERFORM signalbox.gateway_add_rate(the_key, the_kind, this_second, future);
  END IF;
  IF total + the_amount <= the_limit THEN RETURN 0; END IF;
  FOR past IN SELECT second, amount FROM signalbox.gateway_rates
    WHERE key = the_key AND kind = the_kind AND second > this_second - 61 ORDER BY second
  LOOP
    total := total - past.amount;
    IF total + the_amount <= the_limit THEN
      RETURN greatest(1, ceil(past.second + 61 - at / 1000.0));
    END IF;
  END LOOP;
  RETURN 61;
END $$;

CREATE FUNCTION signalbox.gateway_add_usage(the_key text, the_day text, input bigint, output bigint, the_cost bigint, is_estimated boolean)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO signalbox.gateway_usage AS u (key, period, calls, input_tokens, output_tokens, cost, estimated)
    SELECT the_key, period, 1, input, output, the_cost, is_estimated::integer
      FROM unnest(ARRAY[the_day, left(the_day, 7), 'total']) AS each (period)
    ON CONFLICT (key, period) DO UPDATE SET calls = u.calls + 1, estimated = u.estimated + excluded.estimated,
      input_tokens = least(8000000000000000, u.input_tokens + excluded.input_tokens),
      output_tokens = least(8000000000000000, u.output_tokens + excluded.output_tokens),
      cost = least(8000000000000000, u.cost + excluded.cost);
$$;

CREATE FUNCTION signalbox.gateway_cost_of(the_key text, the_period text) RETURNS bigint LANGUAGE sql AS $$
  SELECT coalesce((SELECT cost FROM signalbox.gateway_usage WHERE key = the_key AND period = the_period), 0);
$$;

CREATE FUNCTION signalbox.gateway_now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
$$;

CREATE FUNCTION signalbox.gateway_day_of(at bigint) RETURNS text LANGUAGE sql AS $$
  SELECT to_char(to_timestamp(at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD');
$$;

-- A null as cost: no price is known. A null as time: the server's own.
CREATE FUNCTION signalbox.gateway_admit(
  the_owner text, the_number bigint, the_key text, the_hash text, input bigint, output bigint, the_cost bigint, the_at bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  held signalbox.gateway_held;
  the signalbox.gateway_keys;
  at bigint;
  wait bigint;
  budget record;
BEGIN
  SELECT * INTO held FROM signalbox.gateway_held WHERE key = the_key FOR UPDATE;
  IF NOT FOUND THEN RETURN '{"refused":"revoked"}'; END IF;
  -- It was admitted, and the answer was lost.
  IF EXISTS (SELECT 1 FROM signalbox.gateway_leases WHERE owner = the_owner AND number = the_number) THEN RETURN '{}'; END IF;
  at := coalesce(the_at, signalbox.gateway_now_ms());
  SELECT * INTO the FROM signalbox.gateway_keys WHERE id = the_key;
  IF the.revoked_at IS NOT NULL THEN RETURN '{"refused":"revoked"}'; END IF;
  IF the.expires_at <= at OR NOT EXISTS (
    SELECT 1 FROM signalbox.gateway_secrets WHERE hash = the_hash AND key = the_key AND (expires_at IS NULL OR expires_at > at)
  ) THEN RETURN '{"refused":"expired"}'; END IF;
  IF held.calls >= the.concurrent THEN RETURN json_build_object('refused', 'calls', 'limit', the.concurrent); END IF;
  IF the.requests_per_minute IS NOT NULL THEN
    wait := signalbox.gateway_rate_wait(the_key, 'requests', 1, the.requests_per_minute, at);
    IF wait > 0 THEN
      RETURN json_build_object('refused', 'rate', 'kind', 'requests', 'limit', the.requests_per_minute, 'wait', wait);
    END IF;
    PERFORM signalbox.gateway_add_rate(the_key, 'requests', at / 1000, 1);
  END IF;
  FOR budget IN SELECT period, amount, name FROM (VALUES
    ('total', the.budget_total, 'total'), ('month', the.budget_month, left(signalbox.gateway_day_of(at), 7)),
    ('day', the.budget_day, signalbox.gateway_day_of(at))) AS each (period, amount, name) WHERE amount IS NOT NULL
  LOOP
    IF the_cost IS NULL THEN RETURN '{"refused":"price"}'; END IF;
    budget.amount := budget.amount - signalbox.gateway_cost_of(the_key, budget.name);
    -- A budget that is spent is spent for what costs nothing, too.
    IF budget.amount <= 0 OR the_cost > budget.amount THEN
      RETURN json_build_object('refused', 'spent', 'period', budget.period, 'at', at);
    END IF;
    IF the_cost + held.cost > budget.amount THEN
      RETURN json_build_object('refused', 'held', 'period', budget.period);
    END IF;
  END LOOP;
  IF the.tokens_per_minute IS NOT NULL THEN
    IF input + output > the.tokens_per_minute THEN
      RETURN json_build_object('refused', 'large', 'limit', the.tokens_per_minute);
    END IF;
    wait := signalbox.gateway_rate_wait(the_key, 'tokens', input + output, the.tokens_per_minute, at);
    IF wait > 0 THEN
      RETURN json_build_object('refused', 'rate', 'kind', 'tokens', 'limit', the.tokens_per_minute, 'wait', wait);
    END IF;
    PERFORM signalbox.gateway_add_rate(the_key, 'tokens', at / 1000, input + output);
  END IF;
  INSERT INTO signalbox.gateway_leases (owner, number, key, second, day, input_tokens, output_tokens, cost)
    VALUES (the_owner, the_number, the_key, at / 1000, signalbox.gateway_day_of(at), input, output, coalesce(the_cost, 0));
  UPDATE signalbox.gateway_held AS h SET calls = h.calls + 1, cost = h.cost + coalesce(the_cost, 0) WHERE key = the_key;
  RETURN '{}';
END $$;

-- Counts what a call has used, in place of what was set aside for it. Without its lease it was counted already. A null among
-- the amounts: nobody told, and what was set aside counts.
CREATE FUNCTION signalbox.gateway_settle(
  the_owner text, the_number bigint, the_key text, was_sent boolean, input bigint, output bigint, the_cost bigint, the_at bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  lease signalbox.gateway_leases;
  more bigint;
BEGIN
  PERFORM 1 FROM signalbox.gateway_held WHERE key = the_key FOR UPDATE;
  DELETE FROM signalbox.gateway_leases WHERE owner = the_owner AND number = the_number RETURNING * INTO lease;
  IF NOT FOUND THEN RETURN '{}'; END IF;
  UPDATE signalbox.gateway_held SET calls = calls - 1, cost = cost - lease.cost WHERE key = the_key;
  more := - lease.input_tokens - lease.output_tokens;
  IF was_sent THEN
    PERFORM signalbox.gateway_add_usage(the_key, lease.day, coalesce(input, lease.input_tokens), coalesce(output, lease.output_tokens),
      coalesce(the_cost, lease.cost), input IS NULL);
    more := more + coalesce(input, lease.input_tokens) + coalesce(output, lease.output_tokens);
  END IF;
  IF more = 0 OR NOT EXISTS (SELECT 1 FROM signalbox.gateway_keys WHERE id = the_key AND tokens_per_minute IS NOT NULL) THEN
    RETURN '{}';
  END IF;
  -- What is less was never used then; what is more has come to light only now.
  IF more < 0 THEN
    UPDATE signalbox.gateway_rates SET amount = greatest(0, amount + more)
      WHERE key = the_key AND kind = 'tokens' AND second = lease.second;
  ELSE
    PERFORM signalbox.gateway_add_rate(the_key, 'tokens', coalesce(the_at, signalbox.gateway_now_ms()) / 1000, more);
  END IF;
  RETURN '{}';
END $$;

CREATE FUNCTION signalbox.gateway_see(the_owner text, the_machine text) RETURNS text LANGUAGE sql AS $$
  INSERT INTO signalbox.gateway_replicas (id, machine, seen_at) VALUES (the_owner, the_machine, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at RETURNING '{}';
$$;

CREATE FUNCTION signalbox.gateway_end_calls(the_owner text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  each record;
  lease signalbox.gateway_leases;
  ended bigint := 0;
BEGIN
  FOR each IN SELECT number, key FROM signalbox.gateway_leases WHERE owner = the_owner ORDER BY key, number LOOP
    PERFORM 1 FROM signalbox.gateway_held WHERE key = each.key FOR UPDATE;
    DELETE FROM signalbox.gateway_leases WHERE owner = the_owner AND number = each.number RETURNING * INTO lease;
    CONTINUE WHEN NOT FOUND;
    UPDATE signalbox.gateway_held SET calls = calls - 1, cost = cost - lease.cost WHERE key = each.key;
    PERFORM signalbox.gateway_add_usage(lease.key, lease.day, lease.input_tokens, lease.output_tokens, lease.cost, true);
    ended := ended + 1;
  END LOOP;
  RETURN ended;
END $$;

-- Whoever has just connected cannot know who is gone and who has merely lost the connection at the same time.
CREATE FUNCTION signalbox.gateway_sweep(own text, hung_ms bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  before timestamptz := clock_timestamp() - hung_ms * interval '1 ms';
  gone record;
  ended bigint := 0;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = pg_backend_pid() AND backend_start < before) THEN RETURN 0; END IF;
  FOR gone IN SELECT id FROM signalbox.gateway_replicas WHERE seen_at < before AND id <> own ORDER BY id FOR UPDATE SKIP LOCKED
  LOOP
    ended := ended + signalbox.gateway_end_calls(gone.id);
    DELETE FROM signalbox.gateway_replicas WHERE id = gone.id;
  END LOOP;
  RETURN ended;
END $$;

CREATE FUNCTION signalbox.gateway_leave(the_owner text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM signalbox.gateway_end_calls(the_owner);
  DELETE FROM signalbox.gateway_replicas WHERE id = the_owner;
  RETURN '{}';
END $$;
`,
};

/**
 * The memory of gateways: names are keyed hashes, values are one word or an encrypted text. Replicas share the keys for
 * recognizing texts and for signing.
 */
const memo: Area = {
  tables: `
CREATE TABLE signalbox.gateway_marks (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL,
  used_at bigint NOT NULL
);
CREATE INDEX gateway_marks_by_use ON signalbox.gateway_marks (used_at);

CREATE TABLE signalbox.gateway_answers (
  name text COLLATE "C" PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL UNIQUE,
  sealed text NOT NULL,
  kept_at bigint NOT NULL,
  ended_at bigint
);

CREATE TABLE signalbox.gateway_own_keys (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);
`,
  functions: `
-- The key of that name; where there is none, the given one is it from now on.
CREATE FUNCTION signalbox.gateway_own_key(the_name text, the_value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE kept text;
BEGIN
  INSERT INTO signalbox.gateway_own_keys (name, value) VALUES (the_name, the_value) ON CONFLICT (name) DO NOTHING;
  SELECT value INTO kept FROM signalbox.gateway_own_keys WHERE name = the_name;
  RETURN kept;
END $$;

-- A use is written at most once an hour.
CREATE FUNCTION signalbox.gateway_find_marks(names text[], idle_ms bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  at bigint := signalbox.gateway_now_ms();
  found text;
BEGIN
  UPDATE signalbox.gateway_marks SET used_at = at WHERE name IN (
    SELECT m.name FROM signalbox.gateway_marks AS m
      WHERE m.name = ANY (names) AND m.used_at >= at - idle_ms AND m.used_at < at - 3600000
      ORDER BY m.name FOR UPDATE SKIP LOCKED);
  SELECT json_object_agg(name, value) INTO found FROM signalbox.gateway_marks
    WHERE name = ANY (names) AND used_at >= at - idle_ms;
  RETURN coalesce(found, '{}');
END $$;

CREATE FUNCTION signalbox.gateway_keep_marks(names text[], the_values text[]) RETURNS text LANGUAGE sql AS $$
  INSERT INTO signalbox.gateway_marks (name, value, used_at)
    SELECT DISTINCT ON (n) n, v, signalbox.gateway_now_ms() FROM unnest(names, the_values) AS each (n, v) ORDER BY n
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, used_at = excluded.used_at;
  SELECT '{}';
$$;

-- Those that were used least recently go first.
CREATE FUNCTION signalbox.gateway_sweep_marks(idle_ms bigint, most bigint) RETURNS text LANGUAGE sql AS $$
  DELETE FROM signalbox.gateway_marks WHERE name IN (
    SELECT name FROM signalbox.gateway_marks WHERE used_at < signalbox.gateway_now_ms() - idle_ms
      ORDER BY name FOR UPDATE SKIP LOCKED);
  DELETE FROM signalbox.gateway_marks WHERE name IN (
    SELECT name FROM signalbox.gateway_marks ORDER BY used_at
      LIMIT greatest(0, (SELECT count(*) FROM signalbox.gateway_marks) - most) FOR UPDATE SKIP LOCKED);
  SELECT '{}';
$$;

CREATE FUNCTION signalbox.gateway_find_answer(the_name text) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce((SELECT row_to_json(a)::text FROM signalbox.gateway_answers AS a WHERE name = the_name), '{}');
$$;

-- The answer that is kept under the name; where there is none, the given one is it from now on.
CREATE FUNCTION signalbox.gateway_keep_answer(the_name text, the_run text, the_text text, given_ms bigint, kept_ms bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE at bigint := signalbox.gateway_now_ms();
BEGIN
  DELETE FROM signalbox.gateway_answers WHERE name IN (
    SELECT name FROM signalbox.gateway_answers WHERE ended_at < at - given_ms OR kept_at < at - kept_ms
      ORDER BY name FOR UPDATE SKIP LOCKED);
  INSERT INTO signalbox.gateway_answers (name, run_id, sealed, kept_at) VALUES (the_name, the_run, the_text, at)
    ON CONFLICT (name) DO NOTHING;
  RETURN signalbox.gateway_find_answer(the_name);
END $$;

-- The first time counts.
CREATE FUNCTION signalbox.gateway_end_answer(the_name text) RETURNS text LANGUAGE sql AS $$
  UPDATE signalbox.gateway_answers SET ended_at = signalbox.gateway_now_ms() WHERE name = the_name AND ended_at IS NULL;
  SELECT '{}';
$$;

CREATE FUNCTION signalbox.gateway_remove_answer(the_name text) RETURNS text LANGUAGE sql AS $$
  DELETE FROM signalbox.gateway_answers WHERE name = the_name;
  SELECT '{}';
$$;
`,
};

/**
 * The audit log of gateways, with a chain for each replica. A replica takes over a chain without a writer. Searched
 * columns are generated from the body, which the hashes cover.
 */
const audit: Area = {
  tables: `
CREATE TABLE signalbox.gateway_chains (
  id text COLLATE "C" PRIMARY KEY,
  number bigserial NOT NULL,
  seq bigint NOT NULL,
  hash text NOT NULL,
  at bigint NOT NULL,
  key text NOT NULL,
  signature text NOT NULL,
  writer text,
  pid integer,
  backend_start timestamptz,
  seen_at timestamptz
) WITH (fillfactor = 50);

CREATE TABLE signalbox.gateway_audit_rows (
  chain text COLLATE "C" NOT NULL REFERENCES signalbox.gateway_chains (id),
  seq bigint NOT NULL,
  body text NOT NULL,
  hash text NOT NULL,
  id text COLLATE "C" GENERATED ALWAYS AS (body::json ->> 'id') STORED,
  kind text GENERATED ALWAYS AS (body::json ->> 'kind') STORED,
  at bigint GENERATED ALWAYS AS ((body::json ->> 'at')::bigint) STORED,
  PRIMARY KEY (chain, seq)
);
CREATE INDEX gateway_audit_rows_by_id ON signalbox.gateway_audit_rows (id);
CREATE INDEX gateway_audit_rows_by_time ON signalbox.gateway_audit_rows (at);

CREATE TABLE signalbox.gateway_audit_contents (
  chain text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (chain, seq),
  FOREIGN KEY (chain, seq) REFERENCES signalbox.gateway_audit_rows (chain, seq) ON DELETE CASCADE
);
`,
  functions: `
-- The chain of a writer: its own, else one whose writer's session is gone or was not heard of for long, else a new one.
CREATE FUNCTION signalbox.gateway_claim_chain(the_writer text, new_id text, hung_ms bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  chosen text;
  kept text;
BEGIN
  SELECT id INTO chosen FROM signalbox.gateway_chains WHERE writer = the_writer FOR UPDATE;
  IF NOT FOUND THEN
    SELECT id INTO chosen FROM signalbox.gateway_chains AS c
      WHERE writer IS NULL OR seen_at < clock_timestamp() - hung_ms * interval '1 ms' OR NOT EXISTS (
        SELECT 1 FROM pg_stat_activity AS a WHERE a.pid = c.pid AND a.backend_start = c.backend_start)
      ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED;
  END IF;
  IF chosen IS NULL THEN
    INSERT INTO signalbox.gateway_chains (id, seq, hash, at, key, signature) VALUES (new_id, 0, repeat('0', 64), 0, '', '');
    chosen := new_id;
  END IF;
  UPDATE signalbox.gateway_chains SET writer = the_writer, pid = pg_backend_pid(), seen_at = clock_timestamp(),
      backend_start = (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid())
    WHERE id = chosen;
  SELECT row_to_json(c) INTO kept FROM signalbox.gateway_chains AS c WHERE id = chosen;
  RETURN kept;
END $$;

-- Puts rows behind that of before_seq, if it is the last one still; what was put there already, and whose answer was lost, is done.
CREATE FUNCTION signalbox.gateway_append(
  the_chain text, before_seq bigint, before_hash text, bodies text[], hashes text[], content_seqs bigint[], contents text[],
  head_at bigint, head_key text, head_signature text, removed_through bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE count integer := cardinality(hashes);
BEGIN
  UPDATE signalbox.gateway_chains SET seq = before_seq + count, hash = coalesce(hashes[count], before_hash), at = head_at,
      key = head_key, signature = head_signature, seen_at = clock_timestamp()
    WHERE id = the_chain AND seq = before_seq AND hash = before_hash;
  IF NOT FOUND THEN
    RETURN EXISTS (SELECT 1 FROM signalbox.gateway_audit_rows
      WHERE chain = the_chain AND seq = before_seq + count AND hash = hashes[count]);
  END IF;
  INSERT INTO signalbox.gateway_audit_rows (chain, seq, body, hash)
    SELECT the_chain, before_seq + place, body, hash
      FROM unnest(bodies, hashes) WITH ORDINALITY AS each (body, hash, place);
  INSERT INTO signalbox.gateway_audit_contents (chain, seq, text)
    SELECT the_chain, seq, content FROM unnest(content_seqs, contents) AS each (seq, content);
  DELETE FROM signalbox.gateway_audit_rows WHERE chain = the_chain AND seq <= removed_through;
  RETURN true;
END $$;

CREATE FUNCTION signalbox.gateway_see_chain(the_writer text) RETURNS text LANGUAGE sql AS $$
  UPDATE signalbox.gateway_chains SET seen_at = clock_timestamp() WHERE writer = the_writer;
  SELECT '{}';
$$;

CREATE FUNCTION signalbox.gateway_leave_chain(the_writer text) RETURNS text LANGUAGE sql AS $$
  UPDATE signalbox.gateway_chains SET writer = NULL WHERE writer = the_writer;
  SELECT '{}';
$$;
`,
};

const areas: readonly Area[] = [runs, calls, claims, notices, results, rates, keys, memo, audit];

/**
 * Creates the schema `signalbox`. Each change is one function call, so that a batch is one statement, one transaction
 * and one round trip. The answer is JSON: the row of the change, or `refused` with nothing changed. `token` names the
 * last change, so that a change whose answer was lost can be repeated safely.
 */
export const layout: string = [
  `CREATE SCHEMA IF NOT EXISTS signalbox;
CREATE TABLE signalbox.layout (version integer NOT NULL);
INSERT INTO signalbox.layout (version) VALUES (0);
`,
  ...[stateTables, resultTables, keyTables].map(toPostgresTables),
  ...areas.map(({ tables = '' }) => tables),
  ...areas.map(({ functions }) => functions),
].join('');
