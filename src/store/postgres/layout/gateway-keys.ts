import { calls, replicas } from './gateway-calls.ts';

/**
 * Keys of a gateway, what they have used, and their calls that are under way. Every function that counts first locks the row of
 * its key in `gateway_held`, so that all replicas decide one after another about one key.
 */
const tables = `
CREATE TABLE signalbox.gateway_keys (
  seq bigserial PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  name text COLLATE "C" NOT NULL,
  models text,
  hooks text,
  requests_per_minute bigint,
  tokens_per_minute bigint,
  concurrent bigint,
  budget_day bigint,
  budget_month bigint,
  budget_total bigint,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint
);
CREATE INDEX gateway_keys_by_name ON signalbox.gateway_keys (name);
CREATE UNIQUE INDEX gateway_keys_in_use ON signalbox.gateway_keys (name) WHERE revoked_at IS NULL;

CREATE TABLE signalbox.gateway_secrets (
  seq bigserial PRIMARY KEY,
  key text COLLATE "C" NOT NULL REFERENCES signalbox.gateway_keys (id) ON DELETE CASCADE,
  prefix text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE,
  hint text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint
);
CREATE INDEX gateway_secrets_by_prefix ON signalbox.gateway_secrets (prefix);
CREATE INDEX gateway_secrets_by_key ON signalbox.gateway_secrets (key);

CREATE TABLE signalbox.gateway_usage (
  key text COLLATE "C" NOT NULL,
  period text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost bigint NOT NULL,
  estimated bigint NOT NULL,
  PRIMARY KEY (key, period)
) WITH (fillfactor = 50);

CREATE TABLE signalbox.gateway_rates (
  key text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('requests', 'tokens')),
  second bigint NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (key, kind, second)
) WITH (fillfactor = 50);

CREATE TABLE signalbox.gateway_leases (
  owner text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  second bigint NOT NULL,
  day text NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost bigint NOT NULL CHECK (cost >= 0),
  PRIMARY KEY (owner, number)
);

CREATE TABLE signalbox.gateway_held (
  key text COLLATE "C" PRIMARY KEY REFERENCES signalbox.gateway_keys (id) ON DELETE CASCADE,
  calls bigint NOT NULL,
  cost bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE signalbox.gateway_replicas (
  id text COLLATE "C" PRIMARY KEY,
  machine text NOT NULL,
  seen_at timestamptz NOT NULL
) WITH (fillfactor = 50);
`;

/** The windows of a minute, by seconds: one more than 60 has a part in the 60 seconds before now. */
const rates = `
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
`;

/** 8e15 is the largest sum that is kept. */
const usage = `
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
`;

/** What a text presents, and whether there is any key that is not revoked. */
const lookups = `
CREATE FUNCTION signalbox.gateway_find(the_prefix text) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(json_agg(json_build_object('key', row_to_json(k), 'secret', row_to_json(s))), '[]'::json)::text
    FROM signalbox.gateway_secrets AS s JOIN signalbox.gateway_keys AS k ON k.id = s.key WHERE s.prefix = the_prefix;
$$;

CREATE FUNCTION signalbox.gateway_has_keys() RETURNS boolean LANGUAGE sql AS $$
  SELECT EXISTS (SELECT 1 FROM signalbox.gateway_keys WHERE revoked_at IS NULL);
$$;
`;

/** The keys of a gateway: tables and functions. */
export const gatewayKeys: string = tables + lookups + rates + usage + calls + replicas;
