import type { ErrorCode } from '../../src/base/errors.ts';

/** The meaning of a fault for the caller. */
export type Meaning =
  | { readonly kind: 'well' }
  /** A failure with one of these codes: a filter denies, a tool has failed, an eval is unscored. */
  | { readonly kind: 'failure'; readonly codes: readonly ErrorCode[] }
  /** A failure that passes by a rule of docs/reference/dialects.md, unless `on_failure: deny`. */
  | { readonly kind: 'open'; readonly causes: readonly string[] }
  /** No opinion, as documented by the dialect. Passes without a rule, even with `on_failure: deny`. */
  | { readonly kind: 'silent' }
  /** An explicit denial in the dialect. */
  | { readonly kind: 'denial' }
  /** An explicit request in the dialect that the turn goes on. */
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
