import { endedInSql } from '../../store-rules.ts';

/** How many people must approve a call, and who has. An approval that is not the last leaves the call open. */
export const quorum = `
ALTER TABLE signalbox.pendings ADD COLUMN quorum bigint;
CREATE TABLE signalbox.consents (
  seq bigserial PRIMARY KEY,
  pending_id text COLLATE "C" NOT NULL REFERENCES signalbox.pendings (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  given_at bigint NOT NULL,
  UNIQUE (pending_id, name)
);

CREATE FUNCTION signalbox.consents_of(the_id text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_agg(json_build_object('name', name, 'reason', reason, 'given_at', given_at) ORDER BY seq)::text
    FROM signalbox.consents WHERE pending_id = the_id;
$$;
CREATE FUNCTION signalbox.pending_row(the_id text) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(whole) FROM (
    SELECT p.*, signalbox.consents_of(p.id) AS consents FROM signalbox.pendings AS p WHERE p.id = the_id) AS whole;
$$;

DROP FUNCTION signalbox.add_pending(text, bigint, integer, text, text, text, text, text, text, text, text, text, text, text, text,
  bigint, bigint);
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
CREATE OR REPLACE FUNCTION signalbox.decide(
  the_id text, the_at bigint, the_token text, the_ruling text, the_by text, the_reason text, the_args text, the_result text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  accepted boolean;
  needed bigint;
BEGIN
  PERFORM signalbox.expire_due(the_at);
  PERFORM 1 FROM signalbox.runs WHERE id = (SELECT run_id FROM signalbox.pendings WHERE id = the_id) FOR NO KEY UPDATE;
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
`;
