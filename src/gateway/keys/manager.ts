import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { RuntimeError } from '../../base/errors.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import type { Scope } from '../../contract/caller.ts';
import { type HostEnv, hostEnv } from '../../process/env.ts';
import {
  createKeyBook,
  type KeyBook,
  type KeyChanges,
  type KeyEntry,
  type KeyLimits,
  type KeyRecord,
  type KeyRole,
  type SecretRecord,
  type UsageRecord,
} from '../../store/keys/key-book.ts';
import { openKeysDatabase } from '../../store/keys/keys-database.ts';
import { dayOf, dollarsOf, nanosOf } from './amounts.ts';
import { scopesOf } from './grants.ts';
import { createKeyText, digestOf, hintOf, keysFileOf } from './key-text.ts';

interface CreatedKey extends KeyDocument {
  readonly key: string;
}

export interface KeyDetails extends KeyDocument {
  readonly under_way: number;
  readonly usage: readonly UsageDocument[];
}

/** Creates and revokes keys. Changes are on disk when a method resolves. Methods reject with STORE_FAILED. */
export interface KeyManager {
  /** Rejects with USAGE if the name is taken or `key` has an invalid name or limit. */
  create(key: NewKey): Promise<CreatedKey>;
  list(): Promise<KeyDocument[]>;
  /** `which` is an ID or a name, here and below. Rejects with KEY_UNKNOWN. */
  show(which: string): Promise<KeyDetails>;
  /** Servers refuse the key from the next call on. Rejects with KEY_UNKNOWN. */
  revoke(which: string): Promise<KeyDocument>;
  /** The previous text expires after `graceMs`, older ones at once. Rejects with KEY_UNKNOWN and USAGE. */
  rotate(which: string, graceMs: number): Promise<CreatedKey>;
  close(): Promise<void>;
}

/** Opens the keys of a state store. `env` holds the database URL. Throws STORE_FAILED. */
export async function openKeyManager(
  store: StateStoreConfig,
  { env = hostEnv(), now = Date.now }: { readonly env?: HostEnv; readonly now?: () => number } = {},
): Promise<KeyManager> {
  const book = await openKeyBook(store, env);
  const find = async (which: string) => requireKey(await book.find(which), which, book);
  const documentNow = ({ key, secrets }: KeyEntry) => documentOf(key, secrets, now());
  const withText = async (which: string, plan: (found: KeyEntry | undefined, text: string) => KeyChanges) => {
    const key = createKeyText();
    const entry = await book.change(which, (found) => plan(found, key));
    return { ...documentNow(entry), key };
  };
  return {
    create: async (wanted) => {
      const at = now();
      checkNewKey(wanted, at);
      return await withText(wanted.name, (found, text) => planCreation(wanted, found, { text, at }));
    },
    list: async () => (await book.list()).map(documentNow),
    show: async (which) => {
      const entry = await find(which);
      const day = dayOf(now());
      const { calls, usage } = await book.usageOf(entry.key.id, [day, day.slice(0, 7), 'total']);
      return { ...documentNow(entry), under_way: calls, usage: usage.map(usageDocumentOf) };
    },
    revoke: async (which) => {
      const revoke = (found: KeyEntry | undefined) => {
        requireKey(found, which, book);
        return { revokedAt: now() };
      };
      return documentNow(await book.change(which, revoke));
    },
    rotate: (which, graceMs) =>
      withText(which, (found, text) =>
        planRotation(requireKey(found, which, book), { text, graceMs, at: now() }),
      ),
    close: book.close,
  };
}

/** False if there is certainly no key; costs nothing, unlike opening the book. */
export function mayHaveKeys(store: StateStoreConfig): boolean {
  return store.type === 'postgres' || existsSync(keysFileOf(store));
}

/** Rejects with STORE_FAILED. */
export async function openKeyBook(store: StateStoreConfig, env: HostEnv): Promise<KeyBook> {
  if (store.type !== 'postgres') {
    const { driver, close } = await openKeysDatabase(keysFileOf(store), { commitWaitsFor: 'disk' });
    return createKeyBook(driver, close);
  }
  const { readAddress } = await import('../../store/postgres/connection/address.ts');
  const { openFunctionCaller } = await import('../../store/postgres/function-caller.ts');
  const { createDriver } = await import('../../store/postgres/driver.ts');
  const { location, run, close } = await openFunctionCaller(readAddress(store.urlEnv, env));
  return createKeyBook(createDriver(location, run), close);
}

interface NewText {
  readonly text: string;
  readonly at: number;
}

function planCreation(wanted: NewKey, found: KeyEntry | undefined, { text, at }: NewText): KeyChanges {
  const { name } = wanted;
  if (found !== undefined && found.key.revokedAt === null) {
    throw new RuntimeError('USAGE', `there is already a key "${name}"`, {
      hint: 'Choose another name, or replace its text with `signalbox keys rotate`.',
    });
  }
  const key: KeyRecord = {
    id: `key_${randomBytes(6).toString('hex')}`,
    ...{ name, role: wanted.role ?? null, tools: wanted.tools ?? null, hooks: wanted.hooks ?? null },
    models: wanted.models ?? (isForModels(wanted) ? null : []),
    limits: limitsOf(wanted),
    ...{ createdAt: at, expiresAt: wanted.expiresAt ?? null, revokedAt: null },
  };
  return { key, secret: secretOf(key.id, { text, at }) };
}

/** A key for tools or pending calls is no key for models, unless it names some. */
function isForModels({ models, role, tools }: NewKey): boolean {
  return models !== undefined || (role === undefined && tools === undefined);
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

function planRotation(
  { key, secrets }: KeyEntry,
  { text, graceMs, at }: NewText & { readonly graceMs: number },
): KeyChanges {
  if (key.revokedAt !== null) {
    throw new RuntimeError('USAGE', `the key "${key.name}" was revoked`, { hint: 'Create a new one.' });
  }
  const alive = secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > at);
  const ended = alive.map(({ hash }, index) => ({
    hash,
    at: index === alive.length - 1 ? at + graceMs : at,
  }));
  return { ended, secret: secretOf(key.id, { text, at }) };
}

function secretOf(keyId: string, { text, at }: NewText): SecretRecord {
  return { keyId, hash: digestOf(text), hint: hintOf(text), createdAt: at, expiresAt: null };
}

function requireKey(found: KeyEntry | undefined, which: string, { location }: KeyBook): KeyEntry {
  if (found !== undefined) return found;
  // The text may be a real key, so it is never shown.
  const named = which.startsWith('sbx_') ? 'that begins like that text' : `"${which}"`;
  throw new RuntimeError('KEY_UNKNOWN', `there is no key ${named} in ${location}`);
}

/** Absent limits are unlimited. Without `models`, a key with `role` or `tools` may call no model, any other key all. */
export interface NewKey {
  readonly name: string;
  /** Exact names. */
  readonly models?: readonly string[] | undefined;
  readonly hooks?: string | undefined;
  readonly role?: KeyRole | undefined;
  /** Patterns of the names of tools. */
  readonly tools?: readonly string[] | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrent?: number | undefined;
  /** US dollars. */
  readonly budget?: Partial<Readonly<Record<'day' | 'month' | 'total', number | undefined>>> | undefined;
}

function checkNewKey(wanted: NewKey, at: number): void {
  const { name, models, tools, expiresAt, budget = {} } = wanted;
  if (!nameForm.test(name)) {
    // The text may be a real key, so it is not quoted.
    throw new RuntimeError('USAGE', 'the name of the key is not valid', {
      hint: 'A name has up to 64 letters, digits, spaces and . _ @ + -, and begins with neither key_ nor sbx_.',
    });
  }
  if (models?.length === 0)
    throw new RuntimeError('USAGE', 'a key needs at least one model that it may call');
  if (tools?.length === 0) throw new RuntimeError('USAGE', 'a key needs at least one tool that it may call');
  const counted = [wanted.hooks, ...Object.values(limitsOf(wanted))];
  if (!isForModels(wanted) && counted.some((each) => (each ?? null) !== null)) {
    throw new RuntimeError('USAGE', 'a key that may call no models has neither hooks nor limits', {
      hint: 'They apply to calls of models: name the models too, or leave the hooks and limits out.',
    });
  }
  if (expiresAt !== undefined && !(expiresAt > at)) {
    throw new RuntimeError('USAGE', 'the key would have expired already');
  }
  for (const limit of ['requestsPerMinute', 'tokensPerMinute', 'concurrent'] as const) {
    const count = wanted[limit];
    if (count === undefined || (Number.isInteger(count) && count >= 1 && count <= MOST)) continue;
    throw new RuntimeError('USAGE', `${count} cannot be a limit (${limit})`, {
      hint: 'A limit is a whole number of at least 1.',
    });
  }
  for (const [period, dollars] of Object.entries(budget)) {
    if (dollars === undefined || (dollars > 0 && dollars <= MOST_DOLLARS)) continue;
    throw new RuntimeError('USAGE', `${dollars} cannot be a budget (${period})`, {
      hint: `A budget is a number of US dollars above 0, up to ${MOST_DOLLARS}.`,
    });
  }
}

const nameForm = /^(?!key_|sbx_)[A-Za-z0-9](?:[A-Za-z0-9 ._@+-]{0,62}[A-Za-z0-9._@+-])?$/;
const MOST = 1e12;
const MOST_DOLLARS = 1e6;

/** A key's public data without its text. Times are in ISO 8601, money in US dollars. */
export interface KeyDocument {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'expired' | 'revoked';
  /** Null allows all models, and an empty list none. */
  readonly models: readonly string[] | null;
  /** A hook set's name; null runs all hooks. */
  readonly hooks: string | null;
  readonly role: KeyRole | null;
  /** Patterns of the names of tools; null if the key lists none. */
  readonly tools: readonly string[] | null;
  readonly scopes: readonly Scope[];
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent: number | null;
  readonly budget: {
    readonly day: number | null;
    readonly month: number | null;
    readonly total: number | null;
  };
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** The start and the expiry of each valid text. */
  readonly secrets: readonly {
    readonly begins: string;
    readonly created_at: string;
    readonly expires_at: string | null;
  }[];
}

/** US dollars. */
export interface UsageDocument {
  readonly period: string;
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  /** Calls counted by their reservation. */
  readonly estimated: number;
}

function documentOf(key: KeyRecord, secrets: readonly SecretRecord[], at: number): KeyDocument {
  const { limits } = key;
  return {
    ...{ id: key.id, name: key.name, status: statusOf(key, at), models: key.models, hooks: key.hooks },
    ...{ role: key.role, tools: key.tools, scopes: [...scopesOf(key)] },
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent: limits.concurrent,
    budget: {
      day: dollarsOrNull(limits.budgetDay),
      month: dollarsOrNull(limits.budgetMonth),
      total: dollarsOrNull(limits.budgetTotal),
    },
    created_at: timeOf(key.createdAt),
    expires_at: timeOrNull(key.expiresAt),
    revoked_at: timeOrNull(key.revokedAt),
    secrets: secrets
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
      .map(({ hint, createdAt, expiresAt }) => ({
        begins: hint,
        created_at: timeOf(createdAt),
        expires_at: timeOrNull(expiresAt),
      })),
  };
}

function usageDocumentOf(usage: UsageRecord): UsageDocument {
  const { period, calls, inputTokens, outputTokens, cost, estimated } = usage;
  return {
    ...{ period, calls, input_tokens: inputTokens, output_tokens: outputTokens },
    ...{ cost: dollarsOf(cost), estimated },
  };
}

function statusOf({ revokedAt, expiresAt }: KeyRecord, at: number): KeyDocument['status'] {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && at >= expiresAt ? 'expired' : 'active';
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : timeOf(at);
}

function dollarsOrNull(nanos: number | null): number | null {
  return nanos === null ? null : dollarsOf(nanos);
}
