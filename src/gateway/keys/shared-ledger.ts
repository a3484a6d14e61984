import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Address } from '../../store/postgres/connection/address.ts';
import {
  type CallRefusal,
  type CountedCalls,
  openCountedCalls,
} from '../../store/postgres/keys/counted-calls.ts';
import type { Estimate, Lease, Used } from '../ports.ts';
import type { RefusedCall } from '../wire/refusal.ts';
import { amountsOf, reservationOf, secondsLeft } from './amounts.ts';
import { digestOf } from './key-text.ts';
import {
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

export interface SharedLedgerOptions {
  /** Returns milliseconds since 1970. Default: the server's clock. */
  readonly now?: (() => number) | undefined;
  /** A replica's calls are ended if it sends no heartbeat for `hungMs`. */
  readonly beatMs?: number | undefined;
  readonly hungMs?: number | undefined;
  readonly retryMs?: number | undefined;
}

/** Admission and settlement take one statement each. Rejects with STORE_FAILED. */
export async function openSharedLedger(
  address: Address,
  { now, beatMs = 5_000, hungMs = 30_000, retryMs }: SharedLedgerOptions = {},
): Promise<KeyLedger> {
  const calls = await openCountedCalls(address, { owner: randomUUID(), now, hungMs, beatMs, retryMs });
  const backlog = createBacklog();
  const ending = new Set<Promise<void>>();
  const keep = async (work: () => Promise<unknown>) => {
    const kept = backlog.keep(work).finally(() => ending.delete(kept));
    ending.add(kept);
    // The response does not wait for a lost server. Further calls are refused until this one is counted.
    await Promise.race([kept, sleep(LONGEST_WAIT_MS, undefined, { ref: false })]);
  };
  const ring = createRecentKeys(calls);
  const beats = repeat(async () => {
    await backlog.flush();
    await calls.beat();
  }, beatMs);
  let count = 0;
  return {
    find: ring.find,
    hasKeys: calls.hasKeys,
    hookSets: calls.hookSets,
    enter: async (presented, estimate) => {
      await backlog.requireEmpty();
      count += 1;
      const number = count;
      const lease = openLease({ calls, number, key: presented.key.id, keep });
      const refused = await admit(calls, { number, presented, estimate }).catch((error: unknown) => {
        // The server may have admitted the call despite the error.
        void lease.end(undefined);
        throw error;
      });
      if (refused === undefined) return lease;
      if (refused.refused === 'revoked' || refused.refused === 'expired') ring.forget(presented);
      throw toRefusedCall(refused, estimate);
    },
    close: async () => {
      await beats.stop();
      await Promise.race([Promise.all(ending), sleep(LONGEST_END_MS, undefined, { ref: false })]);
      await backlog.flush();
      await calls.close();
    },
  };
}

async function admit(
  calls: CountedCalls,
  {
    number,
    presented,
    estimate,
  }: { readonly number: number; readonly presented: PresentedKey; readonly estimate: Estimate },
) {
  const { inputTokens, outputTokens, cost } = reservationOf(estimate, 0);
  const wanted = { number, key: presented.key.id, hash: presented.hash, inputTokens, outputTokens };
  return await calls.admit({ ...wanted, cost: estimate.cost === null ? null : cost });
}

function openLease({
  calls,
  number,
  key,
  keep,
}: {
  readonly calls: CountedCalls;
  readonly number: number;
  readonly key: string;
  keep(work: () => Promise<unknown>): Promise<void>;
}): Lease {
  let hasEnded = false;
  return {
    end: async (used) => {
      if (hasEnded) return;
      hasEnded = true;
      await keep(() => calls.settle({ number, key, wasSent: used !== undefined, ...amounts(used) }));
    },
  };
}

const LONGEST_WAIT_MS = 2_000;
const LONGEST_END_MS = 10_000;

function amounts(used: Used | undefined) {
  return used === undefined ? { inputTokens: null, outputTokens: null, cost: null } : amountsOf(used);
}

/** Caches keys for one second. Admission checks every call anyway. */
function createRecentKeys(calls: CountedCalls) {
  const recent = new LRUCache<string, PresentedKey>({ max: MAX_KEPT, ttl: FRESH_MS });
  return {
    find: async (text: string): Promise<PresentedKey | undefined> => {
      const digest = digestOf(text);
      const known = recent.get(digest);
      if (known !== undefined) return known;
      const candidates = await calls.find(digest);
      const found = findPresented(
        candidates.map(({ key, secret }) => presentedKeyOf(key, secret)),
        digest,
      );
      // Unknown keys are not cached. Otherwise clients could fill the memory.
      if (found !== undefined) recent.set(digest, found);
      return found;
    },
    forget: ({ hash }: PresentedKey) => void recent.delete(hash),
  };
}

const MAX_KEPT = 20_000;
const FRESH_MS = 1_000;

function toRefusedCall(refusal: CallRefusal, { inputTokens, outputTokens }: Estimate): RefusedCall {
  switch (refusal.refused) {
    case 'revoked':
      return invalidKey(false);
    case 'expired':
      return expiredKey();
    case 'price':
      return unpricedModel();
    case 'calls':
      return tooManyCalls(refusal.limit);
    case 'large':
      return tooLarge(inputTokens + outputTokens, refusal.limit);
    case 'rate':
      return rateLimited(refusal.kind, refusal.limit, refusal.wait);
    case 'held':
      return heldBudget(refusal.period);
    case 'spent':
      return spentBudget(refusal.period, secondsLeft(refusal.period, refusal.at));
  }
}
