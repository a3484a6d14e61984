import { DamagedError, enumOf, numberOf } from '../../sqlite/row.ts';
import { readAnswer } from '../rows.ts';

/** Why a call must not begin. */
export type CallRefusal =
  | { readonly refused: 'revoked' | 'expired' | 'price' }
  | { readonly refused: 'calls' | 'large'; readonly limit: number }
  | {
      readonly refused: 'rate';
      readonly kind: 'requests' | 'tokens';
      readonly limit: number;
      /** Seconds. */
      readonly wait: number;
    }
  | { readonly refused: 'held'; readonly period: BudgetPeriod }
  | { readonly refused: 'spent'; readonly period: BudgetPeriod; readonly at: number };

type BudgetPeriod = (typeof periods)[number];

const periods = ['total', 'month', 'day'] as const;

/** The refusal in an answer of the database; undefined: the call may begin. Throws Damaged. */
export function readRefusal(answer: unknown): CallRefusal | undefined {
  const row = readAnswer(answer);
  const { refused } = row;
  switch (refused) {
    case undefined:
      return undefined;
    case 'revoked':
    case 'expired':
    case 'price':
      return { refused };
    case 'calls':
    case 'large':
      return { refused, limit: numberOf(row, 'limit') };
    case 'rate':
      return {
        ...{ refused, kind: enumOf(row, 'kind', ['requests', 'tokens']) },
        ...{ limit: numberOf(row, 'limit'), wait: numberOf(row, 'wait') },
      };
    case 'held':
      return { refused, period: enumOf(row, 'period', periods) };
    case 'spent':
      return { refused, period: enumOf(row, 'period', periods), at: numberOf(row, 'at') };
    default:
      throw new DamagedError('a call was refused for no reason that is known');
  }
}
