import type { Note } from '../dialect.ts';

/** What the object beside an action changes, in the words of a decision's `replace`; or why it denies. */
export type Changes =
  | {
      readonly replace: Readonly<Record<string, unknown>>;
      readonly notes?: readonly Note[];
      /** What else is told in the metadata. */
      readonly beside?: Readonly<Record<string, unknown>>;
    }
  /** The end of a sentence about the hook. */
  | { readonly deny: string };
