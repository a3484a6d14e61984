/**
 * Results of suites, what hooks in shadow mode would have decided, and answers that may be used again. A result has no reference to
 * its run that the database would follow: those of a run that is removed go piece by piece, since there may be very many.
 */
export const results = `
CREATE TABLE signalbox.result_runs (
  seq bigserial PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('suite', 'shadow')),
  name text COLLATE "C" NOT NULL,
  file text NOT NULL,
  fingerprint text NOT NULL,
  created_at bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'passed', 'failed', 'error', 'interrupted')),
  header text NOT NULL,
  report text,
  token text NOT NULL
);
CREATE INDEX result_runs_by_time ON signalbox.result_runs (created_at, seq);

CREATE TABLE signalbox.results (
  run bigint NOT NULL,
  number bigint NOT NULL,
  epoch bigint NOT NULL,
  sum bigint NOT NULL,
  token uuid,
  case_id text NOT NULL,
  digest text NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (run, number, epoch)
);
CREATE UNIQUE INDEX results_appended ON signalbox.results (token) WHERE token IS NOT NULL;

-- Runs whose results are being removed.
CREATE TABLE signalbox.removed_results (run bigint PRIMARY KEY);

CREATE TABLE signalbox.answers (
  key text COLLATE "C" PRIMARY KEY,
  kept_at bigint NOT NULL,
  text text NOT NULL
);
CREATE INDEX answers_by_time ON signalbox.answers (kept_at);

-- True: it is there, made by the caller, now or when the answer was lost with the connection.
CREATE FUNCTION signalbox.create_result_run(
  the_run text, the_kind text, the_name text, the_file text, the_fingerprint text, the_at bigint, the_header text, the_token text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.result_runs (id, kind, name, file, fingerprint, created_at, status, header, token)
    VALUES (the_run, the_kind, the_name, the_file, the_fingerprint, the_at, 'running', the_header, the_token)
    ON CONFLICT (id) DO NOTHING;
  RETURN FOUND OR EXISTS (SELECT 1 FROM signalbox.result_runs WHERE id = the_run AND token = the_token);
END $$;

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
`;
