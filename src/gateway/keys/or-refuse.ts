import { RefusedCall } from '../wire/refusal.ts';
import { uncountable } from './refusals.ts';

/** Does the work; a call whose work fails otherwise than by a refusal is refused with 503. */
export async function orRefuse<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RefusedCall ? error : uncountable(error);
  }
}
