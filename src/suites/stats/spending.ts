import { members, nullOr, number, type TypeOf } from '../../base/json/shape.ts';
import type { CaseRecord, Spending } from '../record.ts';
import type { Mergeable } from './mergeable.ts';

export interface SpendingTally extends Mergeable<SpendingState> {
  add(record: Pick<CaseRecord, 'epochs'>): void;
  value(): Spending | undefined;
}

type SpendingState = TypeOf<typeof spendingState>;

export const spendingState = members({
  calls: number,
  cached: number,
  /** Billionths of a US dollar, so that the order of cases does not change digits; null if one is unknown. */
  nano_usd: nullOr(number),
});

export function newSpendingTally(): SpendingTally {
  let sum: SpendingState = { calls: 0, cached: 0, nano_usd: 0 };
  const merge = ({ calls, cached, nano_usd: nano }: SpendingState) => {
    sum = {
      calls: sum.calls + calls,
      cached: sum.cached + cached,
      nano_usd: sum.nano_usd === null || nano === null ? null : sum.nano_usd + nano,
    };
  };
  return {
    add: ({ epochs }) => {
      for (const { spending } of epochs) {
        if (spending === undefined) continue;
        const { calls, cached, cost_usd: cost } = spending;
        merge({ calls, cached, nano_usd: cost === null ? null : Math.round(cost * 1e9) });
      }
    },
    value: () => {
      const { calls, cached, nano_usd: nano } = sum;
      return calls === 0 ? undefined : { calls, cached, cost_usd: nano === null ? null : nano / 1e9 };
    },
    state: () => sum,
    merge,
  };
}
