import type { KeyRecord } from '../../store/keys/key.ts';
import type { KeysDatabase } from '../../store/keys/keys-database.ts';
import type { Lease } from '../call/ports.ts';
import type { RefusedCall } from '../wire/refusal.ts';
import type { Backlog } from './backlog.ts';
import { checkAlive, checkBudgets, checkEntry, checkTokens } from './checks.ts';
import type { KeyRing } from './key-ring.ts';
import { orRefuse } from './or-refuse.ts';
import { invalidKey, unpricedModel } from './refusals.ts';
import { emptyReservation, type Reservation, reservationOf, settle } from './settle.ts';

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
}

/** Lets a call begin. What a key does not limit costs no transaction. Throws RefusedCall and STORE_FAILED. */
export async function enterCall(call: CountedCall, keyId: string): Promise<Lease> {
  const { database, ring, now, owner, number } = call;
  const { tables } = database;
  const at = now();
  const key = await database.read(() => ring.findById(keyId));
  const refused = checkAlive(key, at);
  if (key === undefined || refused !== undefined) throw refused ?? invalidKey(false);
  const { requestsPerMinute, concurrent } = key.limits;
  const reservation = emptyReservation(at);
  const hasRow = concurrent !== null;
  if (hasRow || requestsPerMinute !== null) {
    await orThrow(
      database.change(() => {
        const why = checkAlive(ring.findById(keyId), at) ?? checkEntry(tables, key, at);
        if (why !== undefined) return why;
        if (requestsPerMinute !== null) tables.rates.add(keyId, 'requests', reservation.second, 1);
        if (hasRow) tables.leases.put({ owner, number, key: keyId, ...reservation });
        return undefined;
      }),
    );
  }
  return openLease(call, key, { reservation, hasRow });
}

interface Held {
  readonly reservation: Reservation;
  /** Whether the database has a row of it. */
  readonly hasRow: boolean;
}

function openLease(call: CountedCall, key: KeyRecord, entered: Held): Lease {
  let held = entered;
  let hasEnded = false;
  return {
    reserve: async (estimate) => {
      const { limits } = key;
      const hasBudget = [limits.budgetDay, limits.budgetMonth, limits.budgetTotal].some(
        (each) => each !== null,
      );
      if (hasBudget && estimate.cost === null) throw unpricedModel();
      const reservation = reservationOf(estimate, call.now());
      const isCounted = hasBudget || limits.tokensPerMinute !== null;
      if (isCounted) await orRefuse(() => setAside(call, key, reservation));
      held = { reservation, hasRow: held.hasRow || isCounted };
    },
    end: async (used) => {
      if (hasEnded) return;
      hasEnded = true;
      const { reservation, hasRow } = held;
      if (used === undefined && !hasRow) return;
      const { tables } = call.database;
      const at = call.now();
      await call.backlog.keep(() => {
        // Without its row it was settled already, by this very work or by whoever took this process for dead.
        if (hasRow && tables.leases.take(call.owner, call.number) === undefined) return;
        settle(tables, { key, reservation, used, at });
      });
    },
  };
}

async function setAside(call: CountedCall, key: KeyRecord, reservation: Reservation): Promise<void> {
  const { database, ring, owner, number } = call;
  const { tables } = database;
  const at = call.now();
  const { cost, inputTokens, outputTokens, second } = reservation;
  const tokens = inputTokens + outputTokens;
  await orThrow(
    database.change(() => {
      const why =
        checkAlive(ring.findById(key.id), at) ??
        checkBudgets(tables, key, { cost, at }) ??
        checkTokens(tables, key, { tokens, at });
      if (why !== undefined) return why;
      if (key.limits.tokensPerMinute !== null) tables.rates.add(key.id, 'tokens', second, tokens);
      tables.leases.put({ owner, number, key: key.id, ...reservation });
      return undefined;
    }),
  );
}

/** Throws the refusal that a work gives. */
async function orThrow(outcome: Promise<RefusedCall | undefined>): Promise<void> {
  const refusal = await outcome;
  if (refusal !== undefined) throw refusal;
}
