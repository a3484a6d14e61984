import { randomBytes } from 'node:crypto';
import type { StateStoreConfig } from '../../config/config.ts';
import { RuntimeError } from '../../errors.ts';
import type { KeyLimits, KeyRecord } from '../../store/keys/key.ts';
import { type KeysDatabase, openKeysDatabase } from '../../store/keys/keys-database.ts';
import { documentOf, type KeyDocument, type UsageDocument, usageDocumentOf } from './document.ts';
import { createKeyText, digestOf, hintOf } from './key-text.ts';
import { keysFileOf } from './keys-file.ts';
import { nanosOf } from './money.ts';
import type { NewKey } from './new-key.ts';
import { checkNewKey } from './new-key.ts';
import { dayOf } from './period.ts';

/** A key, with the text that presents it, which is not kept. */
interface CreatedKey extends KeyDocument {
  readonly key: string;
}

/** A key, and what it has used today, this month and in all. */
export interface KeyDetails extends KeyDocument {
  /** Calls that hold one of its places. */
  readonly under_way: number;
  readonly usage: readonly UsageDocument[];
}

/** Makes keys and takes them back. What it resolves is on the disk. Methods reject with STORE_FAILED. */
export interface KeyManager {
  /** Rejects with USAGE when a key of that name is in use, and what `checkNewKey` throws. */
  create(key: NewKey): Promise<CreatedKey>;
  list(): Promise<KeyDocument[]>;
  /** By id or name, as below. Rejects with KEY_UNKNOWN. */
  show(which: string): Promise<KeyDetails>;
  /** Servers refuse it from their next call on. Rejects with KEY_UNKNOWN. */
  revoke(which: string): Promise<KeyDocument>;
  /** Makes a second text for a key; earlier ones end after `graceMs`, all but the last of them at once. Rejects with KEY_UNKNOWN and USAGE. */
  rotate(which: string, graceMs: number): Promise<CreatedKey>;
  close(): Promise<void>;
}

/** Opens the keys beside a state store. Throws STORE_FAILED. */
export async function openKeyManager(
  store: StateStoreConfig,
  now: () => number = Date.now,
): Promise<KeyManager> {
  const database = await openKeysDatabase(keysFileOf(store), { commitWaitsFor: 'disk' });
  const { keys } = database.tables;
  const documentNow = (key: KeyRecord) => documentOf(key, keys.secretsOf(key.id), now());
  return {
    create: (wanted) => database.change(() => create(database, wanted, now())),
    list: () => database.read(() => keys.list().map(documentNow)),
    show: (which) =>
      database.read(() => ({
        ...documentNow(find(database, which)),
        ...usageOf(database, find(database, which), now()),
      })),
    revoke: (which) =>
      database.change(() => {
        const { id } = find(database, which);
        keys.revoke(id, now());
        return documentNow(find(database, id));
      }),
    rotate: (which, graceMs) =>
      database.change(() => rotate(database, find(database, which), { graceMs, at: now() })),
    close: () => database.close(),
  };
}

function create(database: KeysDatabase, wanted: NewKey, at: number): CreatedKey {
  const { keys } = database.tables;
  const { name } = wanted;
  checkNewKey(wanted, at);
  if (keys.findByName(name)?.revokedAt === null) {
    throw new RuntimeError('USAGE', `there is a key "${name}" already`, {
      hint: 'Choose another name, or give it a new text with `signalbox keys rotate`.',
    });
  }
  const key: KeyRecord = {
    id: `key_${randomBytes(6).toString('hex')}`,
    ...{ name, models: wanted.models ?? null, hooks: wanted.hooks ?? null },
    limits: limitsOf(wanted),
    ...{ createdAt: at, expiresAt: wanted.expiresAt ?? null, revokedAt: null },
  };
  keys.insert(key);
  return addSecret(database, key, at);
}

function limitsOf({ requestsPerMinute, tokensPerMinute, concurrent, budget = {} }: NewKey): KeyLimits {
  return {
    requestsPerMinute: requestsPerMinute ?? null,
    tokensPerMinute: tokensPerMinute ?? null,
    concurrent: concurrent ?? null,
    budgetDay: nanosOrNull(budget.day),
    budgetMonth: nanosOrNull(budget.month),
    budgetTotal: nanosOrNull(budget.total),
  };
}

function nanosOrNull(dollars: number | undefined): number | null {
  return dollars === undefined ? null : nanosOf(dollars);
}

function rotate(
  database: KeysDatabase,
  key: KeyRecord,
  { graceMs, at }: { readonly graceMs: number; readonly at: number },
): CreatedKey {
  const { keys } = database.tables;
  if (key.revokedAt !== null) {
    throw new RuntimeError('USAGE', `the key "${key.name}" was revoked`, { hint: 'Create a new one.' });
  }
  const alive = keys.secretsOf(key.id).filter(({ expiresAt }) => expiresAt === null || expiresAt > at);
  for (const { hash } of alive.slice(0, -1)) keys.endSecret(hash, at);
  for (const { hash } of alive.slice(-1)) keys.endSecret(hash, at + graceMs);
  return addSecret(database, key, at);
}

function addSecret({ tables: { keys } }: KeysDatabase, key: KeyRecord, at: number): CreatedKey {
  const text = createKeyText();
  keys.insertSecret({
    ...{ keyId: key.id, hash: digestOf(text), hint: hintOf(text), createdAt: at, expiresAt: null },
  });
  return { ...documentOf(key, keys.secretsOf(key.id), at), key: text };
}

/** Throws KEY_UNKNOWN. */
function find({ tables: { keys }, location }: KeysDatabase, which: string): KeyRecord {
  const key = keys.find(which) ?? keys.findByName(which);
  if (key !== undefined) return key;
  // Somebody may have given the key itself, which is to be seen nowhere.
  const named = which.startsWith('sbx_') ? 'which begins like that text' : `"${which}"`;
  throw new RuntimeError('KEY_UNKNOWN', `there is no key ${named} in ${location}`);
}

function usageOf(
  { tables: { usage, leases } }: KeysDatabase,
  { id }: KeyRecord,
  at: number,
): Pick<KeyDetails, 'under_way' | 'usage'> {
  const day = dayOf(at);
  const periods = [day, day.slice(0, 7), 'total'];
  return {
    under_way: leases.heldBy(id).calls,
    usage: periods.map((period) => usageDocumentOf(usage.find(id, period))),
  };
}
