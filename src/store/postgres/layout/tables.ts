/**
 * Version 1 of the tables. Texts are `text`, which keeps every character, and never `jsonb`, which keeps no order and no digits;
 * ids are compared byte for byte. `token` names who made the last change, so that one whose answer was lost with its connection
 * can be asked for again without being made twice.
 */
export const tables = `
CREATE SCHEMA IF NOT EXISTS signalbox;
CREATE TABLE signalbox.layout (version integer NOT NULL);
INSERT INTO signalbox.layout (version) VALUES (0);

CREATE TABLE signalbox.runs (
  seq bigserial PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('pipeline', 'tool')),
  name text NOT NULL,
  file text,
  source text NOT NULL,
  config text NOT NULL,
  input text NOT NULL,
  created_at bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'pending', 'completed', 'failed', 'denied', 'cancelled')),
  output text,
  error text,
  updated_at bigint NOT NULL,
  token text NOT NULL
);
CREATE INDEX runs_by_status ON signalbox.runs (status, seq);

CREATE TABLE signalbox.steps (
  seq bigserial PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  step text COLLATE "C" NOT NULL,
  attempts bigint NOT NULL,
  outcome text,
  sum bigint,
  began_at bigint NOT NULL,
  ended_at bigint,
  token text NOT NULL,
  UNIQUE (run_id, step),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
);

CREATE TABLE signalbox.pendings (
  seq bigserial PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  step text NOT NULL,
  call_id text NOT NULL,
  tool text NOT NULL,
  args text NOT NULL,
  origin text NOT NULL CHECK (origin IN ('tool', 'hook', 'approval', 'interrupted')),
  hook text,
  reason text NOT NULL,
  message text NOT NULL,
  members text NOT NULL,
  previous text,
  created_at bigint NOT NULL,
  expires_at bigint,
  ruling text CHECK (ruling IN ('approved', 'rejected', 'responded', 'expired', 'cancelled')),
  ruled_by text,
  ruling_reason text,
  edited_args text,
  result text,
  decided_at bigint,
  token text,
  CHECK ((ruling IS NULL) = (decided_at IS NULL))
);
CREATE INDEX pendings_by_run ON signalbox.pendings (run_id);
CREATE INDEX pendings_open ON signalbox.pendings (expires_at) WHERE ruling IS NULL;

CREATE TABLE signalbox.texts (
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  step text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  sum bigint NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (run_id, step, number)
);
CREATE TABLE signalbox.parts (
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  step text COLLATE "C" NOT NULL,
  sum bigint NOT NULL,
  refs text NOT NULL,
  PRIMARY KEY (run_id, step)
);

CREATE TABLE signalbox.moments (
  seq bigserial PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  what text NOT NULL CHECK (what IN ('began', 'ended', 'pending', 'decided')),
  subject text NOT NULL
);
CREATE INDEX moments_by_run ON signalbox.moments (run_id, seq);

CREATE SEQUENCE signalbox.epochs;
CREATE TABLE signalbox.claims (
  run_id text COLLATE "C" PRIMARY KEY,
  epoch bigint NOT NULL,
  holder text NOT NULL
);
CREATE TABLE signalbox.holders (
  id text PRIMARY KEY,
  pid integer NOT NULL,
  backend_start timestamptz NOT NULL,
  machine text NOT NULL,
  seen_at timestamptz NOT NULL
);
`;

/** What happens with each change: the history of a run, and word to those who wait for a decision. */
export const triggers = `
CREATE FUNCTION signalbox.tell_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.moments (run_id, what, subject)
    VALUES (NEW.run_id, CASE WHEN NEW.ended_at IS NULL THEN 'began' ELSE 'ended' END, NEW.step);
  RETURN NULL;
END $$;
CREATE TRIGGER step_is_there AFTER INSERT ON signalbox.steps
  FOR EACH ROW EXECUTE FUNCTION signalbox.tell_step();
CREATE TRIGGER step_ends AFTER UPDATE OF ended_at ON signalbox.steps
  FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION signalbox.tell_step();

CREATE FUNCTION signalbox.tell_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signalbox.moments (run_id, what, subject)
    VALUES (NEW.run_id, CASE WHEN NEW.decided_at IS NULL THEN 'pending' ELSE 'decided' END, NEW.id);
  IF NEW.decided_at IS NOT NULL THEN PERFORM pg_notify('signalbox', 'decided'); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER call_waits AFTER INSERT ON signalbox.pendings
  FOR EACH ROW EXECUTE FUNCTION signalbox.tell_call();
CREATE TRIGGER call_is_decided AFTER UPDATE OF decided_at ON signalbox.pendings
  FOR EACH ROW WHEN (OLD.decided_at IS NULL AND NEW.decided_at IS NOT NULL) EXECUTE FUNCTION signalbox.tell_call();
`;
