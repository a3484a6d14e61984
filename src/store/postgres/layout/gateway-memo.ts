/**
 * What gateways remember of earlier calls: names are keyed hashes, values one word or a sealed text. Of the keys by which they
 * know texts again, and sign, there is one for all replicas.
 */
const tables = `
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
`;

const functions = `
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
`;

/** The memo of a gateway: tables and functions. */
export const gatewayMemo: string = tables + functions;
