import type { ErrorCode } from '../../src/base/errors.ts';

/** What a fault is to the one who asked. */
export type Meaning =
  /** None: the reply counts, and it is a good one. */
  | { readonly kind: 'well' }
  /** A failure with one of these codes: a filter denies, a tool has failed, an eval is unscored. */
  | { readonly kind: 'failure'; readonly codes: readonly ErrorCode[] }
  /** A failure that passes by a rule of docs/reference/dialects.md, unless `on_failure: deny`. */
  | { readonly kind: 'open'; readonly causes: readonly string[] }
  /** No opinion, as the dialect documents it: passes without a rule, and is never closed. */
  | { readonly kind: 'silent' }
  /** A denial in the dialect's own words. */
  | { readonly kind: 'denial' }
  /** In the dialect's own words: the turn goes on. */
  | { readonly kind: 'force' };

export const well: Meaning = { kind: 'well' };
export const silent: Meaning = { kind: 'silent' };
export const denial: Meaning = { kind: 'denial' };
export const force: Meaning = { kind: 'force' };

export function failure(...codes: readonly ErrorCode[]): Meaning {
  return { kind: 'failure', codes };
}

export function open(...causes: readonly string[]): Meaning {
  return { kind: 'open', causes };
}
