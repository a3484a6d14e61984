import { once } from '../../base/time/once.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import type { HostEnv } from '../../process/env.ts';
import type { HookSetUse } from '../../store/keys/key-table.ts';
import { type KeysDatabase, openKeysDatabase } from '../../store/keys/keys-database.ts';
import type { Admission, Caller, Estimate, Lease } from '../ports.ts';
import { RefusedCall } from '../wire/refusal.ts';
import { anonymous, freeLease } from './anonymous.ts';
import { createBacklog } from './backlog.ts';
import type { KeyLedger, PresentedKey } from './key-ring.ts';
import { createKeyRing } from './key-ring.ts';
import { isKeyText } from './key-text.ts';
import { keysFileOf } from './keys-file.ts';
import { enterCall } from './lease.ts';
import { expiredKey, forbiddenModel, invalidKey, uncountable, unguardedKey } from './refusals.ts';
import { settleDead } from './settle.ts';
import type { SharedLedgerOptions } from './shared-ledger.ts';

export interface AdmissionOptions {
  /** `spec.state_store`: the keys stand in the same database, or in `keys.db` beside the file of the state. */
  readonly store: StateStoreConfig;
  /** Has the address of a database. */
  readonly env: HostEnv;
  /** `spec.gateway.hooks`: the names of hooks by that of their set. */
  readonly hookSets: ReadonlyMap<string, readonly string[]>;
  /** Whether every call needs a key; undefined: as soon as there is one. */
  readonly isKeyRequired: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Of a database that replicas share. */
  readonly replica?: Omit<SharedLedgerOptions, 'now'>;
}

/** Keys that are open for calls. */
export interface OpenAdmission extends Admission {
  /** What is wrong with keys, for people, such as a hook set that the config does not have. */
  readonly warnings: readonly string[];
  /** Whether there is any key that is not revoked. Rejects with STORE_FAILED. */
  hasKeys(): Promise<boolean>;
}

/** Opens the keys that belong to a state store. Throws STORE_FAILED. */
export async function openAdmission(options: AdmissionOptions): Promise<OpenAdmission> {
  const { hookSets, isKeyRequired, now = Date.now } = options;
  const ledger = await openLedger(options);
  const presented = new WeakMap<Caller, PresentedKey>();
  const parts = { ledger, now, hookSets, isKeyRequired, presented };
  try {
    return {
      warnings: findUnguarded(await ledger.hookSets(), hookSets),
      hasKeys: ledger.hasKeys,
      authenticate: (text) => orRefuse(() => authenticate(parts, text)),
      enter: (caller, model, estimate) => orRefuse(() => enter(parts, { caller, model, estimate })),
      close: ledger.close,
    };
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

async function openLedger({ store, env, now, replica }: AdmissionOptions): Promise<KeyLedger> {
  if (store.type !== 'postgres') return await openLocalLedger(keysFileOf(store), now ?? Date.now);
  // Nothing of it is loaded for other stores.
  const { readAddress } = await import('../../store/postgres/connection/address.ts');
  const { openSharedLedger } = await import('./shared-ledger.ts');
  return await openSharedLedger(readAddress(store.urlEnv, env), { ...replica, now });
}

interface Parts {
  readonly ledger: KeyLedger;
  readonly now: () => number;
  readonly hookSets: ReadonlyMap<string, readonly string[]>;
  readonly isKeyRequired: boolean | undefined;
  /** The key of each caller. */
  readonly presented: WeakMap<Caller, PresentedKey>;
}

async function authenticate(parts: Parts, text: string | undefined): Promise<Caller> {
  const { ledger, now, hookSets } = parts;
  // Clients want some text for a key, also where none is asked for.
  if (text === undefined || !text.startsWith('sbx_')) {
    const isRequired = parts.isKeyRequired ?? (await ledger.hasKeys());
    if (isRequired) throw invalidKey(text === undefined || text === '');
    return anonymous;
  }
  if (!isKeyText(text)) throw invalidKey(false);
  const presented = await ledger.find(text);
  if (presented === undefined || presented.key.revokedAt !== null) throw invalidKey(false);
  const { key, expiresAt } = presented;
  if (expiresAt !== null && now() >= expiresAt) throw expiredKey();
  const hooks = key.hooks === null ? undefined : hookSets.get(key.hooks);
  if (key.hooks !== null && hooks === undefined) throw unguardedKey();
  const { tokensPerMinute, budgetDay, budgetMonth, budgetTotal } = key.limits;
  const hasBudget = [tokensPerMinute, budgetDay, budgetMonth, budgetTotal].some((limit) => limit !== null);
  const caller: Caller = {
    ...{ keyId: key.id, name: key.name, models: key.models ?? undefined, hooks, hasBudget },
  };
  parts.presented.set(caller, presented);
  return caller;
}

interface Entering {
  readonly caller: Caller;
  readonly model: string;
  readonly estimate: () => Estimate;
}

async function enter(parts: Parts, { caller, model, estimate }: Entering): Promise<Lease> {
  if (caller.models !== undefined && !caller.models.includes(model)) throw forbiddenModel();
  if (caller.keyId === null) return freeLease;
  const presented = parts.presented.get(caller);
  if (presented === undefined) throw invalidKey(false);
  return await parts.ledger.enter(presented, estimate());
}

/** Bounded by the number of sets, however many keys there are. */
function findUnguarded(used: readonly HookSetUse[], hookSets: AdmissionOptions['hookSets']): string[] {
  return used
    .filter(({ hooks }) => !hookSets.has(hooks))
    .map(({ hooks, count, name }) => {
      const whose = count === 1 ? `the key "${name}" is` : `${count} keys, such as "${name}", are`;
      return `spec.gateway.hooks has no set "${hooks}": ${whose} refused`;
    });
}

/** Does the work; a call whose work fails otherwise than by a refusal is refused with 503. */
async function orRefuse<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RefusedCall ? error : uncountable(error);
  }
}

/** The keys in a file, and a place among the processes that use it. Rejects with STORE_FAILED. */
async function openLocalLedger(file: string, now: () => number): Promise<KeyLedger> {
  const database = await openKeysDatabase(file, { commitWaitsFor: 'nothing' });
  try {
    const ring = createKeyRing(database.tables.keys);
    const owner = once(() => database.claimOwner());
    const backlog = createBacklog();
    const sweeper = await startSweeper(database, { own: owner.opened, beside: backlog.flush });
    let count = 0;
    return {
      find: (text) => database.read(() => ring.find(text)),
      hasKeys: () => database.read(ring.hasKeys),
      hookSets: () => database.read(database.tables.keys.hookSets),
      enter: async ({ key }, estimate) => {
        await backlog.requireEmpty();
        count += 1;
        const number = count;
        const call = { database, ring, now, backlog, owner: await owner.open(), number, estimate };
        return await enterCall(call, key.id);
      },
      close: async () => {
        await sweeper.stop();
        await backlog.flush();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Ends the calls of processes that are gone, now and then. */
interface Sweeper {
  /** Waits for a sweep that is under way. Never rejects. */
  stop(): Promise<void>;
}

interface SweeperOptions {
  /** The mark of this process, once it has one. */
  readonly own: () => Promise<string | undefined>;
  /** Done before each further sweep. Never rejects. */
  readonly beside: () => Promise<void>;
}

/** Sweeps at once, and then every second. Rejects with STORE_FAILED when the first sweep fails. */
async function startSweeper(database: KeysDatabase, { own, beside }: SweeperOptions): Promise<Sweeper> {
  await sweep(database, undefined);
  let running: Promise<void> | undefined;
  const run = async () => {
    await beside();
    // A database that cannot be used says so to the calls.
    await sweep(database, await own()).catch(() => {});
    running = undefined;
  };
  const timer = setInterval(() => {
    running ??= run();
  }, EVERY_MS).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

const EVERY_MS = 1000;

async function sweep(database: KeysDatabase, own: string | undefined): Promise<void> {
  const { leases } = database.tables;
  const owners = await database.read(leases.owners);
  if (owners.every((owner) => owner === own)) return;
  await database.change(() => settleDead(database.tables, database.liveOwners()));
}
