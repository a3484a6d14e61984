import { RuntimeError } from '../../base/errors.ts';
import { compare, exact, newDecimalSum, add as plus } from '../../base/json/decimal.ts';
import { whenAborted } from '../../base/time/async.ts';

/** An amount of money for model calls, kept with those that are under way. */
export interface Budget {
  /**
   * Waits until a call that may cost so much fits, or nothing else is under way. Throws BUDGET_EXCEEDED once the amount is spent,
   * and the signal's reason.
   */
  admit(estimateUsd: number, signal: AbortSignal | undefined): Promise<Admission>;
  /** Counts what was spent before. */
  add(usd: number): void;
  spentUsd(): number;
  /** Whether a call was refused, so that no other is worth beginning. */
  isExceeded(): boolean;
}

export interface Admission {
  /** What it has cost; undefined where nobody knows: then its estimate counts. Only the first counts. */
  settle(usd: number | undefined): void;
}

/** `what` it is for stands in its error: `the run`, `a case`; `onSpent` gets each amount as it is spent. */
export function createBudget(
  limitUsd: number,
  what: string,
  onSpent: (usd: number) => void = () => {},
): Budget {
  const spent = newDecimalSum();
  const committed = newDecimalSum();
  let calls = 0;
  let isExceeded = false;
  let waiting: (() => void)[] = [];
  const wake = () => {
    const woken = waiting;
    waiting = [];
    for (const each of woken) each();
  };
  const count = (usd: number): void => {
    spent.add(usd);
    committed.add(usd);
    onSpent(usd);
  };
  const admission = (estimateUsd: number): Admission => {
    committed.add(estimateUsd);
    calls += 1;
    let isSettled = false;
    return {
      settle(usd) {
        if (isSettled) return;
        isSettled = true;
        calls -= 1;
        committed.add(-estimateUsd);
        count(usd ?? estimateUsd);
        wake();
      },
    };
  };
  return {
    async admit(estimateUsd, signal) {
      for (;;) {
        signal?.throwIfAborted();
        if (compare(spent.exact(), limitUsd) >= 0) {
          isExceeded = true;
          throw exceeded(what, limitUsd);
        }
        // What is left may be less than any call is thought to need: then they are made one by one.
        if (calls === 0 || compare(plus(committed.exact(), exact(estimateUsd)), limitUsd) <= 0)
          return admission(estimateUsd);
        await new Promise<void>((resolve) => {
          const forget = signal === undefined ? () => {} : whenAborted(signal, resolve);
          waiting.push(() => {
            forget();
            resolve();
          });
        });
      }
    },
    add: count,
    spentUsd: spent.value,
    isExceeded: () => isExceeded,
  };
}

function exceeded(what: string, limitUsd: number): RuntimeError {
  return new RuntimeError('BUDGET_EXCEEDED', `the budget of ${what}, ${limitUsd} USD, is spent`, {
    details: { limit_usd: limitUsd },
  });
}
