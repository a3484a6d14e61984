import { all, type Driver, get, type Query, type Work } from '../driver.ts';
import {
  DamagedError,
  enumOf,
  jsonOrNull,
  numberOf,
  numberOrNull,
  type Row,
  textOf,
  textOrNull,
} from '../sqlite/row.ts';

/** Limits of a key; null means no limit. */
export interface KeyLimits {
  /** In any 60 seconds. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrent: number | null;
  /** Budgets of a UTC day, of a UTC month, and in total; in billionths of a US dollar. */
  readonly budgetDay: number | null;
  readonly budgetMonth: number | null;
  readonly budgetTotal: number | null;
}

/** A key; times in ms since 1970. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  /** The exact names of allowed models; null allows all, and an empty list none. */
  readonly models: readonly string[] | null;
  /** The name of a hook set of the config; null runs all hooks. */
  readonly hooks: string | null;
  readonly role: KeyRole | null;
  /** Patterns of the names of tools; null if the key lists none. */
  readonly tools: readonly string[] | null;
  readonly limits: KeyLimits;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export const keyRoles = ['viewer', 'approver', 'admin'] as const;
export type KeyRole = (typeof keyRoles)[number];

export interface SecretRecord {
  readonly keyId: string;
  /** SHA-256, in hex. */
  readonly hash: string;
  readonly hint: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

export interface UsageRecord {
  /** `2026-11-22`, `2026-11` or `total`. */
  readonly period: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar. */
  readonly cost: number;
  readonly estimated: number;
}

export interface KeyEntry {
  readonly key: KeyRecord;
  readonly secrets: readonly SecretRecord[];
}

export interface KeyChanges {
  readonly key?: KeyRecord;
  readonly revokedAt?: number;
  /** Secrets, by digest, that end at this time unless they end earlier. */
  readonly ended?: readonly { readonly hash: string; readonly at: number }[];
  readonly secret?: SecretRecord;
}

/** Resolved changes are on the disk. All methods reject with STORE_FAILED. */
export interface KeyBook {
  readonly location: string;
  list(): Promise<KeyEntry[]>;
  /** Finds a key by ID, or by name: the key that is not revoked, else the last revoked one. */
  find(which: string): Promise<KeyEntry | undefined>;
  /** The keys of secrets whose digests begin like this one. Compare the digests in constant time. */
  findSecrets(hash: string): Promise<{ readonly key: KeyRecord; readonly secret: SecretRecord }[]>;
  usageOf(
    id: string,
    periods: readonly string[],
  ): Promise<{ readonly calls: number; readonly usage: UsageRecord[] }>;
  /**
   * Makes the changes that `plan` returns for the found key, in one transaction, and resolves to the result. If `plan`
   * throws, nothing changes. `plan` may run twice; the last result counts.
   */
  change(which: string, plan: (found: KeyEntry | undefined) => KeyChanges): Promise<KeyEntry>;
  close(): Promise<void>;
}

export function createKeyBook(driver: Driver, close: () => Promise<void>): KeyBook {
  const { isShared } = driver;
  return {
    location: driver.location,
    list: () =>
      driver.read(function* () {
        const keys = (yield* all('SELECT * FROM signalbox.gateway_keys ORDER BY seq')).map(keyOfRow);
        const secrets = yield* all('SELECT * FROM signalbox.gateway_secrets ORDER BY seq');
        const byKey = Map.groupBy(secrets.map(secretOfRow), ({ keyId }) => keyId);
        return keys.map((key) => ({ key, secrets: byKey.get(key.id) ?? [] }));
      }),
    find: (which) => driver.read(() => findEntry(which)),
    findSecrets: (hash) =>
      driver.read(function* () {
        const rows = yield* all(
          `SELECT k.*, s.key, s.hash, s.hint, s.created_at AS secret_from, s.expires_at AS secret_until
            FROM signalbox.gateway_secrets AS s JOIN signalbox.gateway_keys AS k ON k.id = s.key
            WHERE s.prefix = :prefix`,
          { prefix: hash.slice(0, PREFIX_LENGTH) },
        );
        return rows.map((row) => {
          const secret = { ...row, created_at: row['secret_from'], expires_at: row['secret_until'] };
          return { key: keyOfRow(row), secret: secretOfRow(secret) };
        });
      }),
    usageOf: (id, periods) =>
      driver.read(function* () {
        const held = yield* get('SELECT calls FROM signalbox.gateway_held WHERE key = :id', { id });
        const rows = yield* all('SELECT * FROM signalbox.gateway_usage WHERE key = :id', { id });
        const used = new Map(rows.map((row) => [textOf(row, 'period'), usageOfRow(row)]));
        return {
          calls: held === undefined ? 0 : numberOf(held, 'calls'),
          usage: periods.map((period) => used.get(period) ?? { period, ...noUsage }),
        };
      }),
    change: async (which, plan) => {
      let made: { readonly id: string; readonly changes: KeyChanges } | undefined;
      return await driver.transact(function* () {
        // Serialized, so that no name is given twice.
        if (isShared) yield* all(`SELECT pg_advisory_xact_lock(${KEYS_LOCK})`);
        // The changes may exist already if their answer was lost with the connection.
        if (made === undefined || !(yield* isThere(made.changes))) {
          const found = yield* findEntry(which);
          const changes = plan(found);
          made = { changes, id: changes.key?.id ?? found?.key.id ?? '' };
          yield* makeChanges(made.id, changes, isShared);
        }
        const changed = yield* findEntry(made.id);
        if (changed === undefined) throw new DamagedError('a changed key is missing');
        return changed;
      });
    },
    close,
  };
}

/** "SGBK", as in a file of keys. */
const KEYS_LOCK = 0x5347424b;

function* findEntry(which: string): Work<KeyEntry | undefined> {
  const row = yield* get(
    `SELECT * FROM signalbox.gateway_keys WHERE id = :which OR name = :which
      ORDER BY id = :which DESC, revoked_at IS NULL DESC, seq DESC LIMIT 1`,
    { which },
  );
  if (row === undefined) return undefined;
  const key = keyOfRow(row);
  const secrets = yield* all('SELECT * FROM signalbox.gateway_secrets WHERE key = :id ORDER BY seq', {
    id: key.id,
  });
  return { key, secrets: secrets.map(secretOfRow) };
}

function* isThere({ secret }: KeyChanges): Work<boolean> {
  if (secret === undefined) return false;
  const { hash } = secret;
  return (
    (yield* get('SELECT 1 AS there FROM signalbox.gateway_secrets WHERE hash = :hash', { hash })) !==
    undefined
  );
}

function* makeChanges(
  id: string,
  { key, revokedAt, ended = [], secret }: KeyChanges,
  isShared: boolean,
): Work<void> {
  if (key !== undefined) {
    yield* insert('gateway_keys', rowOfKey(key));
    if (isShared) yield* insert('gateway_held', { key: key.id, calls: 0, cost: 0 });
  }
  const revoke = 'UPDATE signalbox.gateway_keys SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL';
  if (revokedAt !== undefined) yield* all(revoke, { id, at: revokedAt });
  const end =
    'UPDATE signalbox.gateway_secrets SET expires_at = :at WHERE hash = :hash AND (expires_at IS NULL OR expires_at > :at)';
  for (const { hash, at } of ended) yield* all(end, { hash, at });
  if (secret === undefined) return;
  const { keyId, hash, hint, createdAt, expiresAt } = secret;
  const row = { key: keyId, hash, hint, created_at: createdAt, expires_at: expiresAt };
  yield* insert('gateway_secrets', { ...row, prefix: hash.slice(0, PREFIX_LENGTH) });
}

function* insert(table: string, row: Query['values']): Work<void> {
  const names = Object.keys(row);
  const values = names.map((name) => `:${name}`).join(', ');
  yield* all(`INSERT INTO signalbox.${table} (${names.join(', ')}) VALUES (${values})`, row);
}

/** The length of the indexed prefix of a digest; the rest is compared. */
export const PREFIX_LENGTH = 16;

function rowOfKey({ models, tools, limits, createdAt, expiresAt, revokedAt, ...key }: KeyRecord) {
  return {
    ...{ ...key, created_at: createdAt, expires_at: expiresAt, revoked_at: revokedAt },
    models: models === null ? null : JSON.stringify(models),
    tools: tools === null ? null : JSON.stringify(tools),
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent: limits.concurrent,
    budget_day: limits.budgetDay,
    budget_month: limits.budgetMonth,
    budget_total: limits.budgetTotal,
  };
}

export function keyOfRow(row: Row): KeyRecord {
  return {
    id: textOf(row, 'id'),
    name: textOf(row, 'name'),
    models: namesOrNull(row, 'models'),
    hooks: textOrNull(row, 'hooks'),
    role: row['role'] === null ? null : enumOf(row, 'role', keyRoles),
    tools: namesOrNull(row, 'tools'),
    limits: {
      requestsPerMinute: numberOrNull(row, 'requests_per_minute'),
      tokensPerMinute: numberOrNull(row, 'tokens_per_minute'),
      concurrent: numberOrNull(row, 'concurrent'),
      budgetDay: numberOrNull(row, 'budget_day'),
      budgetMonth: numberOrNull(row, 'budget_month'),
      budgetTotal: numberOrNull(row, 'budget_total'),
    },
    createdAt: numberOf(row, 'created_at'),
    expiresAt: numberOrNull(row, 'expires_at'),
    revokedAt: numberOrNull(row, 'revoked_at'),
  };
}

function namesOrNull(row: Row, column: 'models' | 'tools'): string[] | null {
  const names = jsonOrNull(row, column)?.value ?? null;
  if (names === null) return null;
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  throw new DamagedError(`the ${column} of a key are not a list of names`);
}

export function secretOfRow(row: Row): SecretRecord {
  return {
    keyId: textOf(row, 'key'),
    hash: textOf(row, 'hash'),
    hint: textOf(row, 'hint'),
    createdAt: numberOf(row, 'created_at'),
    expiresAt: numberOrNull(row, 'expires_at'),
  };
}

const noUsage = { calls: 0, inputTokens: 0, outputTokens: 0, cost: 0, estimated: 0 };

function usageOfRow(row: Row): UsageRecord {
  return {
    period: textOf(row, 'period'),
    calls: numberOf(row, 'calls'),
    inputTokens: numberOf(row, 'input_tokens'),
    outputTokens: numberOf(row, 'output_tokens'),
    cost: numberOf(row, 'cost'),
    estimated: numberOf(row, 'estimated'),
  };
}

export interface HookSetUse {
  readonly hooks: string;
  readonly count: number;
  readonly name: string;
}

export function* readHookSets(): Work<HookSetUse[]> {
  const rows = yield* all(`SELECT hooks, count(*) AS count, min(name) AS name FROM signalbox.gateway_keys
    WHERE revoked_at IS NULL AND hooks IS NOT NULL GROUP BY hooks ORDER BY hooks`);
  return rows.map((row) => ({
    ...{ hooks: textOf(row, 'hooks'), count: numberOf(row, 'count'), name: textOf(row, 'name') },
  }));
}
