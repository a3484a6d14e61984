import type { KeyRecord } from '../../store/keys/key.ts';
import type { KeysDatabase } from '../../store/keys/keys-database.ts';
import type { Estimate, Lease } from '../ports.ts';
import type { RefusedCall } from '../wire/refusal.ts';
import type { Backlog } from './backlog.ts';
import { checkAlive, checkBudgets, checkEntry, checkTokens } from './checks.ts';
import type { KeyRing } from './key-ring.ts';
import { invalidKey, unpricedModel } from './refusals.ts';
import { type Reservation, reservationOf, settle } from './settle.ts';

/** One call of a key, and what it is counted with. */
export interface CountedCall {
  readonly database: KeysDatabase;
  readonly ring: KeyRing;
  readonly backlog: Backlog;
  readonly now: () => number;
  /** The mark of this process. */
  readonly owner: string;
  /** Unique in this process. */
  readonly number: number;
  readonly estimate: Estimate;
}

/** Lets a call begin. What a key does not limit costs no transaction. Throws RefusedCall and STORE_FAILED. */
export async function enterCall(call: CountedCall, keyId: string): Promise<Lease> {
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
      // Another process may have changed it meanwhile.
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
  /** As it is now. */
  readonly found: KeyRecord | undefined;
  readonly reservation: Reservation;
  readonly hasRow: boolean;
  readonly at: number;
}

/** Counts the call and sets aside what it may use, unless it is refused. Within a transaction. */
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
  /** Whether the database has a row of it. */
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
        // Without its row it was settled already by whoever took this process for dead.
        if (hasRow && tables.leases.take(owner, number) === undefined) return;
        settle(tables, { key, reservation, used, at });
      };
      await backlog.keep(() => database.change(count));
    },
  };
}
