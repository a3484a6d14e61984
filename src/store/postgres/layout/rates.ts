/**
 * How much of the limits of providers there is at this moment. Whoever draws takes some ahead: one statement for many calls. What a
 * process that is gone has taken fills itself up again.
 */
export const rates = `
CREATE TABLE signalbox.rate_buckets (
  provider text COLLATE "C" PRIMARY KEY,
  requests double precision NOT NULL,
  tokens double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  held_until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);

-- Null for a limit that there is none of. What is more than a full bucket is given when it is full, and owed to it.
CREATE FUNCTION signalbox.draw_rate(
  the_provider text, requests_per_minute double precision, tokens_per_minute double precision,
  full_requests double precision, full_tokens double precision, need_requests double precision, need_tokens double precision,
  ahead_requests double precision, ahead_tokens double precision
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  b signalbox.rate_buckets;
  at timestamptz;
  minutes double precision;
  lack double precision;
BEGIN
  INSERT INTO signalbox.rate_buckets (provider, requests, tokens, filled_at)
    VALUES (the_provider, coalesce(full_requests, 0), coalesce(full_tokens, 0), clock_timestamp()) ON CONFLICT (provider) DO NOTHING;
  SELECT * INTO b FROM signalbox.rate_buckets WHERE provider = the_provider FOR UPDATE;
  at := clock_timestamp();
  IF b.held_until > at THEN
    RETURN json_build_object('limit', 'hold', 'wait', ceil(extract(epoch FROM b.held_until - at) * 1000));
  END IF;
  minutes := greatest(0, extract(epoch FROM at - b.filled_at)) / 60;
  IF requests_per_minute IS NOT NULL THEN
    b.requests := least(full_requests, b.requests + minutes * requests_per_minute);
    lack := least(need_requests, full_requests) - b.requests;
    IF need_requests > 0 AND lack > 0 THEN
      RETURN json_build_object('limit', 'requests', 'wait', ceil(lack * 60000 / requests_per_minute));
    END IF;
    need_requests := need_requests + least(ahead_requests, greatest(0, b.requests - need_requests));
    b.requests := b.requests - need_requests;
  END IF;
  IF tokens_per_minute IS NOT NULL THEN
    b.tokens := least(full_tokens, b.tokens + minutes * tokens_per_minute);
    lack := least(need_tokens, full_tokens) - b.tokens;
    IF need_tokens > 0 AND lack > 0 THEN
      RETURN json_build_object('limit', 'tokens', 'wait', ceil(lack * 60000 / tokens_per_minute));
    END IF;
    need_tokens := need_tokens + least(ahead_tokens, greatest(0, b.tokens - need_tokens));
    b.tokens := b.tokens - need_tokens;
  END IF;
  UPDATE signalbox.rate_buckets SET requests = b.requests, tokens = b.tokens, filled_at = at WHERE provider = the_provider;
  RETURN json_build_object('requests', need_requests, 'tokens', need_tokens);
END $$;
`;
