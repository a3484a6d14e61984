import { RuntimeError } from '../../errors.ts';
import { whenAborted } from '../../time/when-aborted.ts';

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

/** A call that may be made. */
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
  let spent = 0;
  let underWay = 0;
  let calls = 0;
  let isExceeded = false;
  let waiting: (() => void)[] = [];
  const wake = () => {
    const woken = waiting;
    waiting = [];
    for (const each of woken) each();
  };
  const admission = (estimateUsd: number): Admission => {
    underWay += estimateUsd;
    calls += 1;
    let isSettled = false;
    return {
      settle(usd) {
        if (isSettled) return;
        isSettled = true;
        underWay -= estimateUsd;
        calls -= 1;
        spent += usd ?? estimateUsd;
        onSpent(usd ?? estimateUsd);
        wake();
      },
    };
  };
  return {
    async admit(estimateUsd, signal) {
      for (;;) {
        signal?.throwIfAborted();
        if (spent >= limitUsd) {
          isExceeded = true;
          throw exceeded(what, limitUsd);
        }
        // What is left may be less than any call is thought to need: then they are made one by one.
        if (calls === 0 || spent + underWay + estimateUsd <= limitUsd) return admission(estimateUsd);
        await new Promise<void>((resolve) => {
          const forget = signal === undefined ? () => {} : whenAborted(signal, resolve);
          waiting.push(() => {
            forget();
            resolve();
          });
        });
      }
    },
    add(usd) {
      spent += usd;
      onSpent(usd);
    },
    spentUsd: () => spent,
    isExceeded: () => isExceeded,
  };
}

function exceeded(what: string, limitUsd: number): RuntimeError {
  return new RuntimeError('BUDGET_EXCEEDED', `the budget of ${what}, ${limitUsd} USD, is spent`, {
    details: { limit_usd: limitUsd },
  });
}
