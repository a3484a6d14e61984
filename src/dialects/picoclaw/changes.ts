import type { Note } from '../dialect.ts';

/**
 * The changes that a reply makes, with the members of a decision's `replace`; or the reason why it denies.
 */
export type Changes =
  | {
      readonly replace: Readonly<Record<string, unknown>>;
      readonly notes?: readonly Note[];
      /** Further members for the metadata. */
      readonly beside?: Readonly<Record<string, unknown>>;
    }
  /** The end of a sentence about the hook. */
  | { readonly deny: string };
