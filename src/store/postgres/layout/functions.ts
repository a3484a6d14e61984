import { endedInSql } from '../../store-rules.ts';

/**
 * A change is one call of a function, so that all changes of a batch are one statement, one transaction and one way there and
 * back. They answer with JSON: the row of the change, or `refused` with nothing changed.
 */
export const changes = `
-- Whoever holds a run writes with the epoch of the claim, in the session that holds its lock.
CREATE FUNCTION signalbox.refusal(the_run text, the_epoch bigint, the_pid integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF the_epoch IS NULL THEN RETURN NULL; END IF;
  IF the_pid <> pg_backend_pid() THEN RETURN '{"refused":"OTHER_SESSION"}'; END IF;
  IF EXISTS (SELECT 1 FROM signalbox.claims WHERE run_id = the_run AND epoch = the_epoch) THEN RETURN NULL; END IF;
  RETURN '{"refused":"CLAIM_LOST"}';
END $$;

CREATE FUNCTION signalbox.create_run(
  the_run text, the_epoch bigint, the_pid integer, the_token text,
  the_kind text, the_name text, the_file text, the_source text, the_config text, the_input text, the_at bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE refused text := signalbox.refusal(the_run, the_epoch, the_pid);
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  INSERT INTO signalbox.runs (id, kind, name, file, source, config, input, created_at, status, updated_at, token)
    VALUES (the_run, the_kind, the_name, the_file, the_source, the_config, the_input, the_at, 'running', the_at, the_token)
    ON CONFLICT (id) DO NOTHING;
  IF FOUND OR EXISTS (SELECT 1 FROM signalbox.runs WHERE id = the_run AND token = the_token) THEN
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
`;

/** The changes that concern calls which wait for a person. */
export const decisions = `
-- Calls expire by the clock that all machines share, whatever theirs say; \`caller\` is for tests, which set the time.
CREATE FUNCTION signalbox.now_ms(of_caller bigint) RETURNS bigint LANGUAGE sql AS $$
  SELECT CASE WHEN current_setting('signalbox.clock', true) = 'caller' THEN of_caller
    ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END;
$$;

CREATE FUNCTION signalbox.expire_due(the_at bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE now_is bigint := signalbox.now_ms(the_at);
BEGIN
  UPDATE signalbox.pendings SET ruling = 'expired', decided_at = expires_at WHERE ruling IS NULL AND expires_at <= now_is;
END $$;

CREATE FUNCTION signalbox.add_pending(
  the_run text, the_epoch bigint, the_pid integer, the_token text, the_id text, the_step text, the_call text, the_tool text,
  the_args text, the_origin text, the_hook text, the_reason text, the_message text, the_members text, the_previous text,
  the_at bigint, the_expiry bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  refused text := signalbox.refusal(the_run, the_epoch, the_pid);
  now_is text;
  kept text;
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  SELECT row_to_json(p) INTO kept FROM signalbox.pendings AS p WHERE id = the_id;
  IF FOUND THEN RETURN kept; END IF;
  -- Locked, so that the run does not end before its end could see this call.
  SELECT status INTO now_is FROM signalbox.runs WHERE id = the_run FOR SHARE;
  IF NOT FOUND THEN RETURN '{"refused":"RUN_UNKNOWN"}'; END IF;
  INSERT INTO signalbox.pendings (id, run_id, step, call_id, tool, args, origin, hook, reason, message, members, previous,
      created_at, expires_at)
    VALUES (the_id, the_run, the_step, the_call, the_tool, the_args, the_origin, the_hook, the_reason, the_message,
      the_members, the_previous, the_at, the_expiry - the_at + signalbox.now_ms(the_at))
    ON CONFLICT (id) DO NOTHING;
  IF FOUND AND now_is IN (${endedInSql}) THEN
    UPDATE signalbox.pendings SET ruling = 'cancelled', ruled_by = 'signalbox', ruling_reason = 'the run is ' || now_is,
      decided_at = the_at WHERE id = the_id;
  END IF;
  SELECT row_to_json(p) INTO kept FROM signalbox.pendings AS p WHERE id = the_id;
  RETURN kept;
END $$;

CREATE FUNCTION signalbox.set_status(
  the_run text, the_epoch bigint, the_pid integer, the_token text, the_status text, the_at bigint,
  keep_output boolean, the_output text, keep_error boolean, the_error text, keep_parts boolean,
  the_refs text, refs_sum bigint, numbers bigint[], sums bigint[], the_texts text[]
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE refused text := signalbox.refusal(the_run, the_epoch, the_pid);
BEGIN
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  UPDATE signalbox.runs SET status = the_status, updated_at = the_at, token = the_token,
      output = CASE WHEN keep_output THEN output ELSE the_output END,
      error = CASE WHEN keep_error THEN error ELSE the_error END
    WHERE id = the_run AND status NOT IN (${endedInSql});
  IF NOT FOUND THEN
    IF EXISTS (SELECT 1 FROM signalbox.runs WHERE id = the_run AND token = the_token) THEN RETURN '{"stands":1}'; END IF;
    RETURN '{"stands":0}';
  END IF;
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

CREATE FUNCTION signalbox.decide(
  the_id text, the_at bigint, the_token text, the_ruling text, the_by text, the_reason text, the_args text, the_result text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  accepted boolean;
  kept json;
BEGIN
  PERFORM signalbox.expire_due(the_at);
  UPDATE signalbox.pendings SET ruling = the_ruling, ruled_by = the_by, ruling_reason = the_reason, edited_args = the_args,
    result = the_result, decided_at = the_at, token = the_token WHERE id = the_id AND ruling IS NULL;
  accepted := FOUND;
  SELECT row_to_json(p), accepted OR coalesce(p.token = the_token, false) INTO kept, accepted
    FROM signalbox.pendings AS p WHERE id = the_id;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN json_build_object('accepted', accepted, 'record', kept);
END $$;
`;

/** The right to execute a run is a lock of the session, which ends with it, and an epoch greater than all before. */
export const claims = `
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
      WHERE status IN (${endedInSql}) AND updated_at < the_time AND seq > behind ORDER BY seq LIMIT 100
  LOOP
    seen := seen + 1;
    last := old.seq;
    -- A lock of its own session would not keep it away.
    CONTINUE WHEN old.id = ANY (own) OR NOT pg_try_advisory_xact_lock(signalbox.lock_key(old.id));
    DELETE FROM signalbox.runs WHERE seq = old.seq;
    DELETE FROM signalbox.claims WHERE run_id = old.id;
    removed := removed + 1;
  END LOOP;
END $$;
`;
