import type { StateStoreConfig } from '../../config/config.ts';
import { type KeysDatabase, openKeysDatabase } from '../../store/keys/keys-database.ts';
import type { Admission, Caller } from '../call/ports.ts';
import { anonymous, freeLease } from './anonymous.ts';
import { createKeyRing, type KeyRing } from './key-ring.ts';
import { isKeyText } from './key-text.ts';
import { keysFileOf } from './keys-file.ts';
import { createLeases, type Leases } from './leases.ts';
import { orRefuse } from './or-refuse.ts';
import { expiredKey, forbiddenModel, invalidKey, unguardedKey } from './refusals.ts';

export interface AdmissionOptions {
  /** `spec.state_store`: the keys stand in `keys.db` beside the state. */
  readonly store: StateStoreConfig;
  /** `spec.gateway.hooks`: the names of hooks by that of their set. */
  readonly hookSets: ReadonlyMap<string, readonly string[]>;
  /** Whether every call needs a key; undefined: as soon as there is one. */
  readonly isKeyRequired: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Keys that are open for calls. */
export interface OpenAdmission extends Admission {
  /** What is wrong with keys, for people, such as a hook set that the config does not have. */
  readonly warnings: readonly string[];
  /** Whether there is any key that is not revoked. Rejects with STORE_FAILED. */
  hasKeys(): Promise<boolean>;
}

/** Opens the keys beside a state store. Throws STORE_FAILED. */
export async function openAdmission(options: AdmissionOptions): Promise<OpenAdmission> {
  const { hookSets, isKeyRequired, now = Date.now } = options;
  const database = await openKeysDatabase(keysFileOf(options.store), { commitWaitsFor: 'nothing' });
  try {
    const ring = createKeyRing(database.tables.keys);
    const warnings = await database.read(() => findUnguarded(database, hookSets));
    const leases = await createLeases(database, ring, now);
    const parts = { database, ring, leases, now, hookSets, isKeyRequired };
    return {
      warnings,
      hasKeys: () => database.read(ring.hasKeys),
      authenticate: (text) => orRefuse(() => authenticate(parts, text)),
      enter: (caller, model) => orRefuse(() => enter(parts, caller, model)),
      close: async () => {
        await leases.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Parts {
  readonly database: KeysDatabase;
  readonly ring: KeyRing;
  readonly leases: Leases;
  readonly now: () => number;
  readonly hookSets: ReadonlyMap<string, readonly string[]>;
  readonly isKeyRequired: boolean | undefined;
}

async function authenticate(parts: Parts, text: string | undefined): Promise<Caller> {
  const { database, ring, now, hookSets } = parts;
  // Clients want some text for a key, also where none is asked for.
  if (text === undefined || !text.startsWith('sbx_')) {
    const isRequired = parts.isKeyRequired ?? (await database.read(ring.hasKeys));
    if (isRequired) throw invalidKey(text === undefined || text === '');
    return anonymous;
  }
  if (!isKeyText(text)) throw invalidKey(false);
  const presented = await database.read(() => ring.find(text));
  if (presented === undefined || presented.key.revokedAt !== null) throw invalidKey(false);
  const { key, expiresAt } = presented;
  if (expiresAt !== null && now() >= expiresAt) throw expiredKey();
  const hooks = key.hooks === null ? undefined : hookSets.get(key.hooks);
  if (key.hooks !== null && hooks === undefined) throw unguardedKey();
  return { keyId: key.id, name: key.name, models: key.models ?? undefined, hooks };
}

async function enter({ leases }: Parts, caller: Caller, model: string) {
  if (caller.models !== undefined && !caller.models.includes(model)) throw forbiddenModel();
  return caller.keyId === null ? freeLease : await leases.enter(caller.keyId);
}

/** Bounded by the number of sets, however many keys there are. */
function findUnguarded({ tables }: KeysDatabase, hookSets: AdmissionOptions['hookSets']): string[] {
  return tables.keys
    .hookSets()
    .filter(({ hooks }) => !hookSets.has(hooks))
    .map(({ hooks, count, name }) => {
      const whose = count === 1 ? `the key "${name}" is` : `${count} keys, such as "${name}", are`;
      return `spec.gateway.hooks has no set "${hooks}": ${whose} refused`;
    });
}
