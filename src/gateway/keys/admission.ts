import type { StateStoreConfig } from '../../config/config.ts';
import type { HostEnv } from '../../process/env.ts';
import type { HookSetUse } from '../../store/keys/key-book.ts';
import type { Admission, Caller, Estimate, Lease } from '../ports.ts';
import type { ClientHeaders } from '../wire/codec.ts';
import { RefusedCall } from '../wire/refusal.ts';
import { isKeyText, keysFileOf } from './key-text.ts';
import type { KeyLedger, PresentedKey } from './ledger.ts';
import { openLocalLedger } from './local-ledger.ts';
import { expiredKey, forbiddenModel, invalidKey, uncountable, unguardedKey } from './refusals.ts';
import type { SharedLedgerOptions } from './shared-ledger.ts';

export interface AdmissionOptions {
  /** `spec.state_store`. The keys are in the same database, or in `keys.db` beside its file. */
  readonly store: StateStoreConfig;
  readonly env: HostEnv;
  /** `spec.gateway.hooks`: hook names by the name of their set. */
  readonly hookSets: ReadonlyMap<string, readonly string[]>;
  /** Whether every call needs a key; undefined requires one as soon as a key exists. */
  readonly isKeyRequired: boolean | undefined;
  readonly now?: () => number;
  readonly replica?: Omit<SharedLedgerOptions, 'now'>;
}

export interface OpenAdmission extends Admission {
  /** Problems with keys, such as a hook set that the config does not have. */
  readonly warnings: readonly string[];
  /** Whether an unrevoked key exists. Rejects with STORE_FAILED. */
  hasKeys(): Promise<boolean>;
}

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
  const { readAddress } = await import('../../store/postgres/connection/address.ts');
  const { openSharedLedger } = await import('./shared-ledger.ts');
  return await openSharedLedger(readAddress(store.urlEnv, env), { ...replica, now });
}

interface Parts {
  readonly ledger: KeyLedger;
  readonly now: () => number;
  readonly hookSets: ReadonlyMap<string, readonly string[]>;
  readonly isKeyRequired: boolean | undefined;
  readonly presented: WeakMap<Caller, PresentedKey>;
}

async function authenticate(parts: Parts, text: string | undefined): Promise<Caller> {
  const { ledger, now, hookSets } = parts;
  // Without required keys, clients may send any text, because many insist on a key.
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

async function enter(
  parts: Parts,
  {
    caller,
    model,
    estimate,
  }: { readonly caller: Caller; readonly model: string; readonly estimate: () => Estimate },
): Promise<Lease> {
  if (caller.models !== undefined && !caller.models.includes(model)) throw forbiddenModel();
  if (caller.keyId === null) return freeLease;
  const presented = parts.presented.get(caller);
  if (presented === undefined) throw invalidKey(false);
  return await parts.ledger.enter(presented, estimate());
}

function findUnguarded(used: readonly HookSetUse[], hookSets: AdmissionOptions['hookSets']): string[] {
  return used
    .filter(({ hooks }) => !hookSets.has(hooks))
    .map(({ hooks, count, name }) => {
      const whose = count === 1 ? `the key "${name}" is` : `${count} keys, such as "${name}", are`;
      return `spec.gateway.hooks has no set "${hooks}": ${whose} refused`;
    });
}

async function orRefuse<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RefusedCall ? error : uncountable(error);
  }
}

const anonymous: Caller = {
  ...{ keyId: null, name: 'anonymous', models: undefined, hooks: undefined, hasBudget: false },
};

const freeLease: Lease = { end: async () => {} };

export function admitEverybody(): Admission {
  return { authenticate: async () => anonymous, enter: async () => freeLease, close: async () => {} };
}

/** Reads `x-signalbox-key`, else the SDKs' credential headers unless they are passed through. */
export function presentedKey(headers: ClientHeaders, passThrough: readonly string[]): string | undefined {
  const own = textOf(headers['x-signalbox-key']);
  if (own !== undefined) return own;
  const bearer = passThrough.includes('authorization') ? undefined : textOf(headers['authorization']);
  const token = bearer === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(bearer)?.[1];
  if (token !== undefined) return token;
  return passThrough.includes('x-api-key') ? undefined : textOf(headers['x-api-key']);
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
