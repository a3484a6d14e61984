/** Labels of runs, which are kept with them, and what a list is selected by. */
export const runLabels = `
CREATE TABLE signalbox.run_labels (
  run bigint NOT NULL REFERENCES signalbox.runs (seq) ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (run, key)
);
CREATE INDEX runs_labelled ON signalbox.run_labels (key, value, run);
CREATE INDEX runs_by_name ON signalbox.runs (name, seq);
CREATE INDEX runs_by_begin ON signalbox.runs (created_at);

DROP FUNCTION signalbox.create_run(
  text, bigint, integer, text, text, text, text, text, text, text, bigint, text, boolean);
CREATE FUNCTION signalbox.create_run(
  the_run text, the_epoch bigint, the_pid integer, the_token text,
  the_kind text, the_name text, the_file text, the_source text, the_config text, the_input text, the_at bigint,
  the_build text, is_dispatched boolean, the_labels text
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
  IF place IS NOT NULL OR EXISTS (SELECT 1 FROM signalbox.runs WHERE id = the_run AND token = the_token) THEN
    RETURN '{"is_new":1}';
  END IF;
  RETURN '{"is_new":0}';
END $$;
`;
