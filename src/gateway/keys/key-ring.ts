import { timingSafeEqual } from 'node:crypto';
import type { KeyRecord, SecretRecord } from '../../store/keys/key.ts';
import { type HookSetUse, type KeyTable, PREFIX_LENGTH } from '../../store/keys/key-table.ts';
import type { Estimate, Lease } from '../ports.ts';
import { digestOf } from './key-text.ts';

/** Keys as they are kept, with those that were asked for lately at hand. */
export interface KeyRing {
  /** The key that a text presents. Throws what the database does. */
  find(text: string): PresentedKey | undefined;
  findById(id: string): KeyRecord | undefined;
  /** Whether there is any key that is not revoked. */
  hasKeys(): boolean;
}

/** Each look first asks whether any process has changed a key, so that a revocation counts at once. */
export function createKeyRing(table: KeyTable): KeyRing {
  let generation = -1;
  let byPrefix = new Map<string, readonly PresentedKey[]>();
  let byId = new Map<string, KeyRecord | undefined>();
  let hasKeys: boolean | undefined;
  const refresh = () => {
    const current = table.generation();
    if (current === generation && byPrefix.size < MAX_KEPT && byId.size < MAX_KEPT) return;
    generation = current;
    byPrefix = new Map();
    byId = new Map();
    hasKeys = undefined;
  };
  const keyOf = (id: string) => {
    if (!byId.has(id)) byId.set(id, table.find(id));
    return byId.get(id);
  };
  const candidatesOf = (prefix: string) => {
    const kept = byPrefix.get(prefix);
    if (kept !== undefined) return kept;
    const found = readCandidates(table, prefix, keyOf);
    // What nobody has is not remembered, lest strangers fill the memory.
    if (found.length > 0) byPrefix.set(prefix, found);
    return found;
  };
  return {
    find: (text) => {
      refresh();
      const digest = digestOf(text);
      return findPresented(candidatesOf(digest.slice(0, PREFIX_LENGTH)), digest);
    },
    findById: (id) => {
      refresh();
      return keyOf(id);
    },
    hasKeys: () => {
      refresh();
      hasKeys ??= table.hasAlive();
      return hasKeys;
    },
  };
}

const MAX_KEPT = 20_000;

/** The one with this digest, compared in constant time. */
export function findPresented<Key extends PresentedKey>(
  candidates: readonly Key[],
  digest: string,
): Key | undefined {
  const presented = Buffer.from(digest);
  return candidates.find(({ hash }) => timingSafeEqual(Buffer.from(hash), presented));
}

function readCandidates(
  table: KeyTable,
  prefix: string,
  keyOf: (id: string) => KeyRecord | undefined,
): PresentedKey[] {
  return table.secretsByPrefix(prefix).flatMap((secret) => {
    const key = keyOf(secret.keyId);
    return key === undefined ? [] : [presentedKeyOf(key, secret)];
  });
}

/** A key, as that text presents it. */
export function presentedKeyOf(key: KeyRecord, { hash, expiresAt }: SecretRecord): PresentedKey {
  return { key, hash, expiresAt: earlier(key.expiresAt, expiresAt) };
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** A key, and the text that presents it. */
export interface PresentedKey {
  readonly key: KeyRecord;
  /** The digest of the text. */
  readonly hash: string;
  /** When the text ends; milliseconds since 1970, null: never. */
  readonly expiresAt: number | null;
}

/** Keys, what they have used, and their calls that are under way. Methods reject with STORE_FAILED. */
export interface KeyLedger {
  /** The key that a text presents. */
  find(text: string): Promise<PresentedKey | undefined>;
  /** Whether there is any key that is not revoked. */
  hasKeys(): Promise<boolean>;
  /** The hook sets of those that are not revoked. */
  hookSets(): Promise<readonly HookSetUse[]>;
  /** Counts a call, and sets aside what it may use. Rejects with RefusedCall too. */
  enter(presented: PresentedKey, estimate: Estimate): Promise<Lease>;
  /** Counts what has ended. Never rejects. */
  close(): Promise<void>;
}
