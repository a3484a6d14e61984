import { once } from '../../base/time/async.ts';
import { type KeysTables, type RateKind, WINDOW_SECONDS } from '../../store/keys/count-tables.ts';
import { type KeyRecord, PREFIX_LENGTH, readHookSets } from '../../store/keys/key-book.ts';
import { type KeysDatabase, openKeysDatabase } from '../../store/keys/keys-database.ts';
import type { Estimate, Lease } from '../ports.ts';
import type { RefusedCall } from '../wire/refusal.ts';
import {
  type BudgetPeriod,
  dayOf,
  periodName,
  type Reservation,
  reservationOf,
  secondsLeft,
  settle,
  settleDead,
} from './amounts.ts';
import { digestOf } from './key-text.ts';
import {
  type Backlog,
  createBacklog,
  findPresented,
  type KeyLedger,
  type PresentedKey,
  presentedKeyOf,
  repeat,
} from './ledger.ts';
import {
  expiredKey,
  heldBudget,
  invalidKey,
  rateLimited,
  spentBudget,
  tooLarge,
  tooManyCalls,
  unpricedModel,
} from './refusals.ts';

interface CountedCall {
  readonly database: KeysDatabase;
  readonly ring: KeyRing;
  readonly backlog: Backlog;
  readonly now: () => number;
  readonly owner: string;
  readonly number: number;
  readonly estimate: Estimate;
}

/** Admits a call. A key without limits needs no transaction. Throws RefusedCall and STORE_FAILED. */
async function enterCall(call: CountedCall, keyId: string): Promise<Lease> {
  const { database, ring, now } = call;
  const at = now();
  const key = await database.read(() => ring.findById(keyId));
  const gone = checkAlive(key, at);
  if (key === undefined || gone !== undefined) throw gone ?? invalidKey(false);
  const reservation = reservationOf(call.estimate, at);
  const { requestsPerMinute, tokensPerMinute, concurrent } = key.limits;
  const hasRow = concurrent !== null || tokensPerMinute !== null || hasBudget(key);
  if (hasRow || requestsPerMinute !== null) {
    const refused = await database.change(() =>
      // Another process may have changed the key.
      admit(call, { key, found: ring.findById(keyId), reservation, hasRow, at }),
    );
    if (refused !== undefined) throw refused;
  }
  return openLease(call, key, { reservation, hasRow });
}

function hasBudget({ limits: { budgetDay, budgetMonth, budgetTotal } }: KeyRecord): boolean {
  return [budgetDay, budgetMonth, budgetTotal].some((each) => each !== null);
}

interface Entering {
  readonly key: KeyRecord;
  readonly found: KeyRecord | undefined;
  readonly reservation: Reservation;
  readonly hasRow: boolean;
  readonly at: number;
}

/** Counts the call and reserves what it may use. Throws if a limit is reached. Run it in a transaction. */
function admit(
  { database: { tables }, owner, number, estimate }: CountedCall,
  { key, found, reservation, hasRow, at }: Entering,
): RefusedCall | undefined {
  const { cost, inputTokens, outputTokens, second } = reservation;
  const tokens = inputTokens + outputTokens;
  const refused = checkAlive(found, at) ?? checkEntry(tables, key, at);
  if (refused !== undefined) return refused;
  if (key.limits.requestsPerMinute !== null) tables.rates.add(key.id, 'requests', second, 1);
  if (hasBudget(key) && estimate.cost === null) return unpricedModel();
  const short = checkBudgets(tables, key, { cost, at }) ?? checkTokens(tables, key, { tokens, at });
  if (short !== undefined) return short;
  if (key.limits.tokensPerMinute !== null) tables.rates.add(key.id, 'tokens', second, tokens);
  if (hasRow) tables.leases.put({ owner, number, key: key.id, ...reservation });
  return undefined;
}

interface Held {
  readonly reservation: Reservation;
  readonly hasRow: boolean;
}

function openLease(
  { database, backlog, owner, number, now }: CountedCall,
  key: KeyRecord,
  { reservation, hasRow }: Held,
): Lease {
  const { tables } = database;
  let hasEnded = false;
  return {
    end: async (used) => {
      if (hasEnded) return;
      hasEnded = true;
      if (used === undefined && !hasRow) return;
      const at = now();
      const count = () => {
        // Without a lease row, another process took this one for dead and settled the call.
        if (hasRow && tables.leases.take(owner, number) === undefined) return;
        settle(tables, { key, reservation, used, at });
      };
      await backlog.keep(() => database.change(count));
    },
  };
}

// These checks run in the transaction that counts the call.

function checkAlive(key: KeyRecord | undefined, at: number): RefusedCall | undefined {
  if (key === undefined || key.revokedAt !== null) return invalidKey(false);
  return key.expiresAt !== null && at >= key.expiresAt ? expiredKey() : undefined;
}

function checkEntry(
  { rates, leases }: KeysTables,
  { id, limits }: KeyRecord,
  at: number,
): RefusedCall | undefined {
  const { concurrent, requestsPerMinute } = limits;
  if (concurrent !== null && leases.heldBy(id).calls >= concurrent) return tooManyCalls(concurrent);
  if (requestsPerMinute === null) return undefined;
  const wanted = { key: id, kind: 'requests', amount: 1, limit: requestsPerMinute, at } as const;
  const wait = waitFor(rates, wanted);
  return wait === 0 ? undefined : rateLimited('requests', requestsPerMinute, wait);
}

function checkTokens(
  { rates }: KeysTables,
  { id, limits: { tokensPerMinute } }: KeyRecord,
  { tokens, at }: { readonly tokens: number; readonly at: number },
): RefusedCall | undefined {
  if (tokensPerMinute === null) return undefined;
  if (tokens > tokensPerMinute) return tooLarge(tokens, tokensPerMinute);
  const wait = waitFor(rates, { key: id, kind: 'tokens', amount: tokens, limit: tokensPerMinute, at });
  return wait === 0 ? undefined : rateLimited('tokens', tokensPerMinute, wait);
}

function checkBudgets(
  { usage, leases }: KeysTables,
  { id, limits }: KeyRecord,
  { cost, at }: { readonly cost: number; readonly at: number },
): RefusedCall | undefined {
  const budgets: readonly (readonly [BudgetPeriod, number | null])[] = [
    ['total', limits.budgetTotal],
    ['month', limits.budgetMonth],
    ['day', limits.budgetDay],
  ];
  const held = leases.heldBy(id).cost;
  for (const [period, budget] of budgets) {
    if (budget === null) continue;
    const left = budget - usage.costOf(id, periodName(period, dayOf(at)));
    // A spent budget refuses free calls too.
    if (left <= 0 || cost > left) return spentBudget(period, secondsLeft(period, at));
    if (cost + held > left) return heldBudget(period);
  }
  return undefined;
}

/** Returns the seconds until the amount fits into the last minute; 0 if it fits now. */
function waitFor(
  rates: KeysTables['rates'],
  {
    key,
    kind,
    amount,
    limit,
    at,
  }: {
    readonly key: string;
    readonly kind: RateKind;
    readonly amount: number;
    readonly limit: number;
    readonly at: number;
  },
): number {
  const second = Math.floor(at / 1000);
  let sum = rates.sumOf(key, kind, second);
  if (sum + amount <= limit) return 0;
  for (const past of rates.listOf(key, kind, second)) {
    sum -= past.amount;
    if (sum + amount <= limit) return Math.max(1, Math.ceil(past.second + WINDOW_SECONDS - at / 1000));
  }
  return WINDOW_SECONDS;
}

interface KeyRing {
  find(text: string): PresentedKey | undefined;
  findById(id: string): KeyRecord | undefined;
  hasKeys(): boolean;
}

/** Each lookup first checks for changes by other processes, so that a revocation takes effect at once. */
function createKeyRing(table: KeysTables['keys']): KeyRing {
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
    // Unknown keys are not cached. Otherwise clients could fill the memory.
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

function readCandidates(
  table: KeysTables['keys'],
  prefix: string,
  keyOf: (id: string) => KeyRecord | undefined,
): PresentedKey[] {
  return table.secretsByPrefix(prefix).flatMap((secret) => {
    const key = keyOf(secret.keyId);
    return key === undefined ? [] : [presentedKeyOf(key, secret)];
  });
}

/** Opens a key file and registers this process. Rejects with STORE_FAILED. */
export async function openLocalLedger(file: string, now: () => number): Promise<KeyLedger> {
  const database = await openKeysDatabase(file, { commitWaitsFor: 'nothing' });
  try {
    const ring = createKeyRing(database.tables.keys);
    const owner = once(() => database.claimOwner());
    const backlog = createBacklog();
    await sweep(database, undefined);
    const sweeper = repeat(async () => {
      await backlog.flush();
      await sweep(database, await owner.opened());
    }, SWEEP_EVERY_MS);
    let count = 0;
    return {
      find: (text) => database.read(() => ring.find(text)),
      hasKeys: () => database.read(ring.hasKeys),
      hookSets: () => database.driver.read(readHookSets),
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

const SWEEP_EVERY_MS = 1000;

async function sweep(database: KeysDatabase, own: string | undefined): Promise<void> {
  const { leases } = database.tables;
  const owners = await database.read(leases.owners);
  if (owners.every((owner) => owner === own)) return;
  await database.change(() => settleDead(database.tables, database.liveOwners()));
}
