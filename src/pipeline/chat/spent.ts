import type { Fault } from '../../errors.ts';
import { toDecimal } from '../../json/decimal.ts';
import type { Usage } from './ask-model.ts';

/** What a chat has used up; null, or no `cost_usd`, once a call of it did not say. */
export interface Spent extends Usage {
  readonly cost_usd?: number;
}

/** What calls came to together. A sum that lacks one of them would pass a budget that was overrun. */
export function sumSpent(calls: readonly Spent[]): Spent {
  const cost = sum(calls.map(({ cost_usd }) => cost_usd ?? null));
  return {
    input_tokens: sum(calls.map(({ input_tokens }) => input_tokens)),
    output_tokens: sum(calls.map(({ output_tokens }) => output_tokens)),
    ...(cost !== null && calls.length > 0 && { cost_usd: toDecimal(cost) }),
  };
}

/** What a failed call used up: nobody says, where a model may have been at work before it failed or was denied. */
export function spentInVain({ code, details }: Fault): readonly Spent[] {
  const isUnknown =
    code === 'PROVIDER_TIMEOUT' ||
    // A status is a refusal: the model was not at work.
    (code === 'PROVIDER_FAILED' && details?.['status'] === undefined) ||
    (code === 'DENIED' && details?.['phase'] === 'after_call');
  return isUnknown ? [{ input_tokens: null, output_tokens: null }] : [];
}

function sum(counts: readonly (number | null)[]): number | null {
  return counts.reduce((total, count) => (total === null || count === null ? null : total + count), 0);
}
