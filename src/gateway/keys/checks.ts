import type { KeyRecord } from '../../store/keys/key.ts';
import type { KeysTables } from '../../store/keys/keys-database.ts';
import { type RateKind, WINDOW_SECONDS } from '../../store/keys/rate-table.ts';
import type { RefusedCall } from '../wire/refusal.ts';
import { type BudgetPeriod, dayOf, periodName, secondsLeft } from './period.ts';
import {
  expiredKey,
  heldBudget,
  invalidKey,
  rateLimited,
  spentBudget,
  tooLarge,
  tooManyCalls,
} from './refusals.ts';

// All of these run within one transaction with what they allow.

/** Why a key that was good a moment ago must not go on. */
export function checkAlive(key: KeyRecord | undefined, at: number): RefusedCall | undefined {
  if (key === undefined || key.revokedAt !== null) return invalidKey(false);
  return key.expiresAt !== null && at >= key.expiresAt ? expiredKey() : undefined;
}

/** Why one more call must not begin. */
export function checkEntry(
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

/** Why so many tokens must not be set aside. */
export function checkTokens(
  { rates }: KeysTables,
  { id, limits: { tokensPerMinute } }: KeyRecord,
  { tokens, at }: { readonly tokens: number; readonly at: number },
): RefusedCall | undefined {
  if (tokensPerMinute === null) return undefined;
  if (tokens > tokensPerMinute) return tooLarge(tokens, tokensPerMinute);
  const wait = waitFor(rates, { key: id, kind: 'tokens', amount: tokens, limit: tokensPerMinute, at });
  return wait === 0 ? undefined : rateLimited('tokens', tokensPerMinute, wait);
}

/** Why so much money (in billionths of a US dollar) must not be set aside. */
export function checkBudgets(
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
    // A budget that is spent is spent for what costs nothing, too.
    if (left <= 0 || cost > left) return spentBudget(period, secondsLeft(period, at));
    if (cost + held > left) return heldBudget(period);
  }
  return undefined;
}

interface Wanted {
  readonly key: string;
  readonly kind: RateKind;
  readonly amount: number;
  readonly limit: number;
  readonly at: number;
}

/** Seconds until the amount fits into the minute before it; 0: now. */
function waitFor(rates: KeysTables['rates'], { key, kind, amount, limit, at }: Wanted): number {
  const second = Math.floor(at / 1000);
  let sum = rates.sumOf(key, kind, second);
  if (sum + amount <= limit) return 0;
  for (const past of rates.listOf(key, kind, second)) {
    sum -= past.amount;
    if (sum + amount <= limit) return Math.max(1, Math.ceil(past.second + WINDOW_SECONDS - at / 1000));
  }
  return WINDOW_SECONDS;
}
