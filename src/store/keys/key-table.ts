import { DamagedError, numberOf, numberOrNull, type Row, textOf, textOrNull } from '../sqlite/row.ts';
import type { Preparing } from '../sqlite/statement.ts';
import type { KeyRecord, SecretRecord } from './key.ts';

/** Keys and the digests of their texts. */
export interface KeyTable {
  /** Grows with every change of a key, by any process. */
  generation(): number;
  /** Whether there is one that is not revoked. */
  hasAlive(): boolean;
  /** The hook sets of those that are not revoked: how many have it, and the name of one. */
  hookSets(): HookSetUse[];
  insert(key: KeyRecord): void;
  find(id: string): KeyRecord | undefined;
  /** The one of that name that is not revoked, else the last one that was. */
  findByName(name: string): KeyRecord | undefined;
  /** In the order in which they were made. */
  list(): KeyRecord[];
  revoke(id: string, at: number): void;
  insertSecret(secret: SecretRecord): void;
  /** Those whose digest begins so. */
  secretsByPrefix(prefix: string): SecretRecord[];
  /** In the order in which they were made. */
  secretsOf(keyId: string): SecretRecord[];
  /** Lets a text end at that time, if it would not end earlier. */
  endSecret(hash: string, at: number): void;
}

/** A hook set that keys have. */
export interface HookSetUse {
  readonly hooks: string;
  readonly count: number;
  readonly name: string;
}

/** How much of a digest is looked up; the rest is compared. */
export const PREFIX_LENGTH = 16;

/** The tables `keys` and `secrets`. */
export function createKeyTable({ prepare }: Preparing): KeyTable {
  const generation = prepare('SELECT number FROM generation');
  const alive = prepare('SELECT 1 FROM keys WHERE revoked_at IS NULL LIMIT 1');
  const hookSets = prepare(
    `SELECT hooks, COUNT(*) AS count, MIN(name) AS name FROM keys
    WHERE revoked_at IS NULL AND hooks IS NOT NULL GROUP BY hooks ORDER BY hooks`,
  );
  const insert = prepare(`INSERT INTO keys (${keyColumns}) VALUES (${keyColumns.replaceAll(/\w+/g, ':$&')})`);
  const byId = prepare(`SELECT ${keyColumns} FROM keys WHERE id = :id`);
  const byName = prepare(
    `SELECT ${keyColumns} FROM keys WHERE name = :name ORDER BY revoked_at IS NULL DESC, seq DESC LIMIT 1`,
  );
  const all = prepare(`SELECT ${keyColumns} FROM keys ORDER BY seq`);
  const revoke = prepare('UPDATE keys SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL');
  const insertSecret = prepare(
    `INSERT INTO secrets (${secretColumns}, prefix) VALUES (:key, :hash, :hint, :created_at, :expires_at, :prefix)`,
  );
  const byPrefix = prepare(`SELECT ${secretColumns} FROM secrets WHERE prefix = :prefix`);
  const ofKey = prepare(`SELECT ${secretColumns} FROM secrets WHERE key = :key ORDER BY seq`);
  const endSecret = prepare(
    'UPDATE secrets SET expires_at = :at WHERE hash = :hash AND (expires_at IS NULL OR expires_at > :at)',
  );
  return {
    generation: () => numberOf(generation.get() ?? {}, 'number'),
    hasAlive: () => alive.get() !== undefined,
    hookSets: () =>
      hookSets.all().map((row) => ({
        hooks: textOf(row, 'hooks'),
        count: numberOf(row, 'count'),
        name: textOf(row, 'name'),
      })),
    insert: (key) => void insert.run(rowOfKey(key)),
    find: (id) => mapRow(byId.get({ id }), keyOfRow),
    findByName: (name) => mapRow(byName.get({ name }), keyOfRow),
    list: () => all.all().map(keyOfRow),
    revoke: (id, at) => void revoke.run({ id, at }),
    insertSecret: ({ keyId, hash, hint, createdAt, expiresAt }) =>
      void insertSecret.run({
        ...{ key: keyId, hash, hint, created_at: createdAt, expires_at: expiresAt },
        prefix: hash.slice(0, PREFIX_LENGTH),
      }),
    secretsByPrefix: (prefix) => byPrefix.all({ prefix }).map(secretOfRow),
    secretsOf: (key) => ofKey.all({ key }).map(secretOfRow),
    endSecret: (hash, at) => void endSecret.run({ hash, at }),
  };
}

const limitColumns = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  concurrent: 'concurrent',
  budgetDay: 'budget_day',
  budgetMonth: 'budget_month',
  budgetTotal: 'budget_total',
} as const;

export const keyColumns = `id, name, models, hooks, ${Object.values(limitColumns).join(', ')}, created_at, expires_at, revoked_at`;
export const secretColumns = 'key, hash, hint, created_at, expires_at';

/** A key as its row. */
export function rowOfKey({ id, name, models, hooks, limits, createdAt, expiresAt, revokedAt }: KeyRecord) {
  return {
    ...{ id, name, hooks, created_at: createdAt, expires_at: expiresAt, revoked_at: revokedAt },
    models: models === null ? null : JSON.stringify(models),
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent: limits.concurrent,
    budget_day: limits.budgetDay,
    budget_month: limits.budgetMonth,
    budget_total: limits.budgetTotal,
  };
}

/** Throws Damaged, as `secretOfRow`. */
export function keyOfRow(row: Row): KeyRecord {
  return {
    id: textOf(row, 'id'),
    name: textOf(row, 'name'),
    models: modelsOf(row),
    hooks: textOrNull(row, 'hooks'),
    limits: {
      requestsPerMinute: numberOrNull(row, limitColumns.requestsPerMinute),
      tokensPerMinute: numberOrNull(row, limitColumns.tokensPerMinute),
      concurrent: numberOrNull(row, limitColumns.concurrent),
      budgetDay: numberOrNull(row, limitColumns.budgetDay),
      budgetMonth: numberOrNull(row, limitColumns.budgetMonth),
      budgetTotal: numberOrNull(row, limitColumns.budgetTotal),
    },
    createdAt: numberOf(row, 'created_at'),
    expiresAt: numberOrNull(row, 'expires_at'),
    revokedAt: numberOrNull(row, 'revoked_at'),
  };
}

function modelsOf(row: Row): string[] | null {
  const text = textOrNull(row, 'models');
  if (text === null) return null;
  const models = parse(text);
  if (Array.isArray(models) && models.every((model) => typeof model === 'string')) return models;
  throw new DamagedError('the models of a key are no list of names');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

function mapRow<Result>(row: Row | undefined, read: (row: Row) => Result): Result | undefined {
  return row && read(row);
}
