/** A run that has failed or was denied goes on: at once by whoever holds it, or, where it is `queued`, by a worker. */
export const reopen = `
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
`;
