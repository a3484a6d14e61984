import type { Layout } from '../sqlite/layout.ts';

const tables = `
CREATE TABLE keys (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  models TEXT,
  hooks TEXT,
  requests_per_minute INTEGER,
  tokens_per_minute INTEGER,
  concurrent INTEGER,
  budget_day INTEGER,
  budget_month INTEGER,
  budget_total INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX keys_by_name ON keys (name);
CREATE UNIQUE INDEX keys_in_use ON keys (name) WHERE revoked_at IS NULL;

CREATE TABLE secrets (
  seq INTEGER PRIMARY KEY,
  key TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
  prefix TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE INDEX secrets_by_prefix ON secrets (prefix);
CREATE INDEX secrets_by_key ON secrets (key);

CREATE TABLE usage (
  key TEXT NOT NULL,
  period TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  PRIMARY KEY (key, period)
) STRICT, WITHOUT ROWID;

CREATE TABLE rates (
  key TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('requests', 'tokens')),
  second INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (key, kind, second)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
  owner TEXT NOT NULL,
  number INTEGER NOT NULL,
  key TEXT NOT NULL,
  second INTEGER NOT NULL,
  day TEXT NOT NULL,
  is_reserved INTEGER NOT NULL CHECK (is_reserved IN (0, 1)),
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL CHECK (cost >= 0),
  PRIMARY KEY (owner, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE held (
  key TEXT NOT NULL PRIMARY KEY,
  calls INTEGER NOT NULL,
  cost INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE generation (number INTEGER NOT NULL) STRICT;
INSERT INTO generation VALUES (1);
`;

/** What the open calls of a key hold together follows from the rows themselves, however they come and go. */
const heldTriggers = `
CREATE TRIGGER lease_begins AFTER INSERT ON leases BEGIN
  INSERT INTO held (key, calls, cost) VALUES (NEW.key, 1, NEW.cost)
  ON CONFLICT DO UPDATE SET calls = calls + 1, cost = cost + excluded.cost;
END;
CREATE TRIGGER lease_changes AFTER UPDATE OF cost ON leases BEGIN
  UPDATE held SET cost = cost + NEW.cost - OLD.cost WHERE key = NEW.key;
END;
CREATE TRIGGER lease_ends AFTER DELETE ON leases BEGIN
  UPDATE held SET calls = calls - 1, cost = cost - OLD.cost WHERE key = OLD.key;
END;
`;

/** Every change of a key is seen by every process, at its next look. */
const generationTriggers = ['keys', 'secrets']
  .flatMap((table) =>
    ['INSERT', 'UPDATE', 'DELETE'].map(
      (change) => `CREATE TRIGGER ${table}_${change.toLowerCase()} AFTER ${change} ON ${table} BEGIN
  UPDATE generation SET number = number + 1;
END;`,
    ),
  )
  .join('\n');

/** "SGBK": keys of the gateway, what they have used, and the calls that are under way. */
export const keysLayout: Layout = {
  applicationId: 0x5347424b,
  version: 1,
  tables: `${tables}${heldTriggers}${generationTriggers}`,
};
