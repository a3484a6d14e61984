/**
 * The audit of gateways: a chain for each replica, which takes one that nobody writes to any more. What is looked for follows from
 * the body, which is what the hashes are of.
 */
const tables = `
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
`;

const functions = `
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
`;

/** The audit of gateways: tables and functions. */
export const gatewayAudit: string = tables + functions;
