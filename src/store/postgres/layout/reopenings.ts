/** How runs of suites stood before they were judged again, and the records that were replaced; they go with their run. */
export const reopenings = `
CREATE TABLE signalbox.reopenings (
  run bigint NOT NULL REFERENCES signalbox.result_runs (seq) ON DELETE CASCADE,
  number bigint NOT NULL,
  scope text NOT NULL,
  at bigint NOT NULL,
  status text NOT NULL,
  report text,
  PRIMARY KEY (run, number)
);

CREATE TABLE signalbox.replaced_results (
  seq bigserial PRIMARY KEY,
  run bigint NOT NULL REFERENCES signalbox.result_runs (seq) ON DELETE CASCADE,
  reopening bigint NOT NULL,
  number bigint NOT NULL,
  epoch bigint NOT NULL,
  case_id text NOT NULL,
  digest text NOT NULL,
  sum bigint NOT NULL,
  text text NOT NULL
);
CREATE INDEX replaced_results_in_order ON signalbox.replaced_results (run, reopening, number, epoch, seq);

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

-- False: there is no such run. True: it is reopened, now or when the answer was lost with the connection.
CREATE FUNCTION signalbox.reopen_result_run(
  the_run text, the_number bigint, the_scope text, the_at bigint, numbers bigint[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE place bigint;
BEGIN
  SELECT seq INTO place FROM signalbox.result_runs WHERE id = the_run FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO signalbox.reopenings (run, number, scope, at, status, report)
    SELECT seq, the_number, the_scope, the_at, status, report FROM signalbox.result_runs WHERE seq = place
    ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN true; END IF;
  WITH gone AS (DELETE FROM signalbox.results WHERE run = place AND number = ANY (numbers) RETURNING *)
    INSERT INTO signalbox.replaced_results (run, reopening, number, epoch, case_id, digest, sum, text)
      SELECT run, the_number, number, epoch, case_id, digest, sum, text FROM gone ORDER BY number, epoch;
  -- Workers judge what is missing in the parts, and add up each of them anew.
  UPDATE signalbox.suite_chunks SET tally = NULL, failures = 0, failure = NULL WHERE run = the_run;
  UPDATE signalbox.result_runs SET status = 'running', report = NULL WHERE seq = place;
  RETURN true;
END $$;
`;
