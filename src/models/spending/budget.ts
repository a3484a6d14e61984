import { RuntimeError } from '../../base/errors.ts';
import { compare, exact, newDecimalSum, add as plus } from '../../base/json/decimal.ts';
import { whenAborted } from '../../base/time/async.ts';

/** An amount of money for model calls, including calls in progress. */
export interface Budget {
  /**
   * Waits until a call with this estimate fits, or no other call is in progress. Throws BUDGET_EXCEEDED once the amount
   * is spent, and the signal's reason.
   */
  admit(estimateUsd: number, signal: AbortSignal | undefined): Promise<Admission>;
  add(usd: number): void;
  spentUsd(): number;
  isExceeded(): boolean;
}

export interface Admission {
  /** The cost of the call. Undefined: unknown, so the estimate counts. Only the first call counts. */
  settle(usd: number | undefined): void;
}

/** `what` names the budget's purpose in its error: `the run`, `a case`. `onSpent` gets each amount. */
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
        // If the rest is less than any estimate, calls run one by one.
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
