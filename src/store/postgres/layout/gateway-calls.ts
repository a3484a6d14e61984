/** A call begins, ends, or is ended for a replica that is gone. Answers are JSON: empty, or what refuses the call. */
export const calls = `
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
`;

/** Replicas say that they are there; what those have left that did not say so for long is counted as it was set aside. */
export const replicas = `
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
`;
