import { endedInSql } from './store-rules.ts';

const open = ['queued', 'running', 'pending'].map((status) => `'${status}'`).join(', ');
/** Whether a run waits for a worker or is executed by one. The index on due runs requires exactly this text. */
export const isDue = "build IS NOT NULL AND (ready OR (dispatched AND status IN ('queued', 'running')))";

// The tables of both kinds of store, in the SQL of Postgres. Texts are `text`, never `jsonb`, which loses the order of
// members and digits of numbers. IDs compare byte for byte. `-- shared` marks lines for Postgres only, `-- file` lines
// for SQLite only.

export const stateTables = `
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
  status text NOT NULL CHECK (status IN (${open}, ${endedInSql})),
  output text,
  error text,
  updated_at bigint NOT NULL,
  token text NOT NULL, -- shared
  build text COLLATE "C", -- shared
  dispatched boolean NOT NULL DEFAULT false, -- shared
  ready boolean NOT NULL DEFAULT false, -- shared
  announced_at timestamptz -- shared
);
CREATE INDEX runs_by_status ON signalbox.runs (status, seq);
CREATE INDEX runs_due ON signalbox.runs (build, announced_at, seq) WHERE ${isDue}; -- shared
CREATE INDEX runs_by_name ON signalbox.runs (name, seq); -- shared
CREATE INDEX runs_by_begin ON signalbox.runs (created_at); -- shared

-- Labels of runs, by which they are found in their order.
CREATE TABLE signalbox.run_labels (
  run bigint NOT NULL REFERENCES signalbox.runs (seq) ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE INDEX runs_labelled ON signalbox.run_labels (key, value, run);

-- Which runs are parts of others, and the texts of the pipelines that runs may begin.
CREATE TABLE signalbox.run_parents (
  id text COLLATE "C" PRIMARY KEY REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  root text COLLATE "C" NOT NULL,
  parent text COLLATE "C" NOT NULL,
  step text COLLATE "C" NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_below ON signalbox.run_parents (root);
CREATE INDEX runs_of_step ON signalbox.run_parents (parent, step);

CREATE TABLE signalbox.run_pipelines (
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  file text COLLATE "C" NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (run_id, file)
) WITHOUT ROWID;

-- The sum is a checksum, by which damaged outcomes are detected.
CREATE TABLE signalbox.steps (
  seq bigserial PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  step text COLLATE "C" NOT NULL,
  attempts bigint NOT NULL,
  outcome text,
  sum bigint,
  began_at bigint NOT NULL,
  ended_at bigint,
  token text NOT NULL, -- shared
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
  token text, -- shared
  quorum bigint,
  CHECK ((ruling IS NULL) = (decided_at IS NULL))
);
CREATE INDEX pendings_by_run ON signalbox.pendings (run_id);
CREATE INDEX pendings_open ON signalbox.pendings (expires_at) WHERE ruling IS NULL;

-- Who has approved a call that needs several people.
CREATE TABLE signalbox.consents (
  seq bigserial PRIMARY KEY,
  pending_id text COLLATE "C" NOT NULL REFERENCES signalbox.pendings (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  given_at bigint NOT NULL,
  UNIQUE (pending_id, name)
);

-- Long texts, each kept once; and which records they are parts of.
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
) WITHOUT ROWID;

-- The history of a run in the order in which it was written, whatever the clock said. Written by triggers, so that no change is missing.
CREATE TABLE signalbox.moments (
  seq bigserial PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  what text NOT NULL CHECK (what IN ('began', 'ended', 'pending', 'decided')),
  subject text NOT NULL
);
CREATE INDEX moments_by_run ON signalbox.moments (run_id, seq);

-- Beside a run that is pending: what else than a call it waits for, until when.
CREATE TABLE signalbox.suspensions (
  run bigint PRIMARY KEY REFERENCES signalbox.runs (seq) ON DELETE CASCADE,
  why text NOT NULL CHECK (why IN ('fault', 'wait')),
  since bigint NOT NULL,
  due_at bigint NOT NULL,
  tries bigint NOT NULL,
  step text NOT NULL,
  error text,
  calls bigint NOT NULL
);
CREATE INDEX suspensions_due ON signalbox.suspensions (due_at);

-- Notices, kept with what they report by triggers, and the rules by which they are.
CREATE TABLE signalbox.notices (
  seq bigserial PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES signalbox.runs (id) ON DELETE CASCADE,
  target text COLLATE "C" NOT NULL,
  event text NOT NULL,
  pending_id text,
  made_at bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  due_at bigint NOT NULL DEFAULT 0
);
CREATE INDEX notices_due ON signalbox.notices (target, due_at);
CREATE INDEX notices_by_run ON signalbox.notices (run_id);
CREATE TABLE signalbox.notify_rules (
  event text NOT NULL CHECK (event IN ('pending', 'decided', 'suspended', 'completed', 'failed')),
  config text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  PRIMARY KEY (event, config, target)
) WITHOUT ROWID;
`;

/** Which calls a run makes, each by a key; without a key, no other call can be the same. The run may be missing after a crash. */
export const identityTable = `
CREATE TABLE signalbox.call_identities (
  seq bigserial PRIMARY KEY,
  run text COLLATE "C" NOT NULL,
  key text COLLATE "C" UNIQUE,
  principal text NOT NULL,
  args text NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX call_identities_by_run ON signalbox.call_identities (run);
CREATE INDEX call_identities_by_time ON signalbox.call_identities (at);
`;

/** The definitions of MCP servers that count, as one text for each server, so that they change at once or not at all. */
export const pinTable = `
CREATE TABLE signalbox.pins (
  server text COLLATE "C" PRIMARY KEY,
  text text NOT NULL,
  digest text NOT NULL,
  pinned_at bigint NOT NULL,
  accepted_by text,
  accepted_at bigint,
  CHECK ((accepted_by IS NULL) = (accepted_at IS NULL))
);
`;

/**
 * Results of suites and of shadow hooks, cached answers, and ratings. In Postgres a result has no foreign key to its
 * run, so that the many results of a removed run are deleted piece by piece.
 */
export const resultTables = `
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
  token text NOT NULL -- shared
);
CREATE INDEX result_runs_by_time ON signalbox.result_runs (created_at, seq);

-- The text comes last: what looks for one by the other columns need not read through it. The sum is a checksum.
CREATE TABLE signalbox.results (
  run bigint NOT NULL, -- shared
  run bigint NOT NULL REFERENCES signalbox.result_runs (seq) ON DELETE CASCADE, -- file
  number bigint NOT NULL,
  epoch bigint NOT NULL,
  sum bigint NOT NULL,
  token uuid, -- shared
  case_id text NOT NULL,
  digest text NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (run, number, epoch)
);
CREATE UNIQUE INDEX results_appended ON signalbox.results (token) WHERE token IS NOT NULL; -- shared

CREATE TABLE signalbox.answers (
  key text COLLATE "C" PRIMARY KEY,
  kept_at bigint NOT NULL,
  text text NOT NULL
);
CREATE INDEX answers_by_time ON signalbox.answers (kept_at);

-- Ratings of people.
CREATE TABLE signalbox.ratings (
  run bigint NOT NULL REFERENCES signalbox.result_runs (seq) ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL,
  case_id text COLLATE "C" NOT NULL,
  eval text NOT NULL,
  rater text NOT NULL,
  rated_at bigint NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;

-- How runs stood before they were judged again, and the records that were replaced.
CREATE TABLE signalbox.reopenings (
  run bigint NOT NULL REFERENCES signalbox.result_runs (seq) ON DELETE CASCADE,
  number bigint NOT NULL,
  scope text NOT NULL,
  at bigint NOT NULL,
  status text NOT NULL,
  report text,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;

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
`;

/**
 * What hooks decided, and the messages of model calls. Hooks decide in few combinations, so each combination is a row
 * of its own: an index on them makes the pages of any filter cost the same.
 */
export const decisionTables = `
CREATE TABLE signalbox.decision_groups (
  id bigserial PRIMARY KEY,
  hook text COLLATE "C" NOT NULL,
  dialect text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  phase text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  verdict text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  UNIQUE (hook, dialect, kind, phase, mode, verdict, operation)
);

-- A row of the group without a hook is a gap: so many decisions were dropped there.
CREATE TABLE signalbox.decisions (
  seq bigserial PRIMARY KEY,
  in_group bigint NOT NULL REFERENCES signalbox.decision_groups (id),
  at bigint NOT NULL,
  dropped bigint NOT NULL,
  duration_ms bigint NOT NULL,
  event text NOT NULL,
  operation_id text COLLATE "C",
  run text COLLATE "C",
  step text COLLATE "C",
  error text,
  reason text NOT NULL,
  token text -- shared
);
CREATE INDEX decisions_in_group ON signalbox.decisions (in_group, seq, at);
CREATE INDEX decisions_of_run ON signalbox.decisions (run, in_group, seq) WHERE run IS NOT NULL;
CREATE INDEX decisions_by_time ON signalbox.decisions (at);
CREATE UNIQUE INDEX decisions_added ON signalbox.decisions (token) WHERE token IS NOT NULL; -- shared

-- Model calls, and their messages, each kept once by the hash of its text. The answers come last.
CREATE TABLE signalbox.model_calls (
  seq bigserial PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  at bigint NOT NULL,
  operation text NOT NULL,
  operation_id text COLLATE "C",
  run text COLLATE "C",
  step text COLLATE "C",
  provider text NOT NULL,
  model text NOT NULL,
  answers bigint NOT NULL
);
CREATE INDEX model_calls_of_run ON signalbox.model_calls (run, seq) WHERE run IS NOT NULL;
CREATE INDEX model_calls_of_operation ON signalbox.model_calls (operation_id, seq) WHERE operation_id IS NOT NULL;
CREATE INDEX model_calls_by_time ON signalbox.model_calls (at);

CREATE TABLE signalbox.messages (
  id bigserial PRIMARY KEY,
  hash text COLLATE "C" NOT NULL UNIQUE,
  text text NOT NULL
);

CREATE TABLE signalbox.call_messages (
  call bigint NOT NULL REFERENCES signalbox.model_calls (seq) ON DELETE CASCADE,
  place bigint NOT NULL,
  message bigint NOT NULL REFERENCES signalbox.messages (id),
  PRIMARY KEY (call, place)
) WITHOUT ROWID;
CREATE INDEX calls_of_message ON signalbox.call_messages (message);
`;

export const keyTables = `
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
  revoked_at bigint,
  role text,
  tools text
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
) WITHOUT ROWID WITH (fillfactor = 50);

CREATE TABLE signalbox.gateway_rates (
  key text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('requests', 'tokens')),
  second bigint NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (key, kind, second)
) WITHOUT ROWID WITH (fillfactor = 50);

CREATE TABLE signalbox.gateway_leases (
  owner text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  second bigint NOT NULL,
  day text NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost bigint NOT NULL CHECK (cost >= 0),
  is_reserved bigint NOT NULL CHECK (is_reserved IN (0, 1)), -- file
  PRIMARY KEY (owner, number)
) WITHOUT ROWID;

CREATE TABLE signalbox.gateway_held (
  key text COLLATE "C" PRIMARY KEY REFERENCES signalbox.gateway_keys (id) ON DELETE CASCADE, -- shared
  key text COLLATE "C" PRIMARY KEY, -- file
  calls bigint NOT NULL,
  cost bigint NOT NULL
) WITHOUT ROWID WITH (fillfactor = 50);
`;

export function toPostgresTables(tables: string): string {
  return tables.replaceAll(/^.* -- file\n/gm, '').replaceAll(' WITHOUT ROWID', '');
}

export function toSqliteTables(tables: string): string {
  const own = tables.replaceAll(/^.* -- shared\n/gm, '').replaceAll(/ -- file$/gm, '');
  return toSqliteNames(own)
    .replaceAll(' COLLATE "C"', '')
    .replaceAll(/\b(bigserial|bigint)\b/g, 'INTEGER')
    .replaceAll(/,(?=\n\))/g, '')
    .replaceAll(
      /^\)( WITHOUT ROWID)?.*;$/gm,
      (_, rowid) => `) STRICT${rowid === undefined ? '' : ', WITHOUT ROWID'};`,
    );
}

export function toSqliteNames(sql: string): string {
  return sql
    .replaceAll('signalbox.result_runs', 'runs')
    .replaceAll(/\b(signalbox\.)?gateway_/g, '')
    .replaceAll('signalbox.', '');
}

export function columnsOf(
  tables: string,
  name: string,
): { readonly name: string; readonly isNumber: boolean }[] {
  const [, body = ''] = tables.split(`CREATE TABLE signalbox.${name} (\n`);
  const lines = body.slice(0, body.indexOf('\n)')).split('\n');
  return lines.flatMap((line) => {
    const [, column, type] = /^ {2}([a-z_]+) (bigserial|bigint|text)\b(?!.* -- shared$)/.exec(line) ?? [];
    return column === undefined ? [] : [{ name: column, isNumber: type !== 'text' }];
  });
}
