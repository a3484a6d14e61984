/** How several answers become one. */
export interface Composition {
  /** strictest: abort, deny, ask, respond, modify, allow; first: the first that is neither allow nor modify. */
  readonly verdict: 'strictest' | 'first';
  /** What becomes of a member of `replace` that several hooks gave; a member that is not listed: `last`. */
  readonly members?: Readonly<Record<string, Merge>>;
}

/** last: the last one's. list: lists one after another. reversed: the same from the last to the first. */
export type Merge =
  | 'last'
  | 'list'
  | 'reversed'
  /** What is in all lists. */
  | 'intersection'
  /** What is in any list. */
  | 'union'
  /** Objects merged key by key, the last one of each. */
  | 'shallow'
  /** Texts with an empty line between them. */
  | 'paragraphs';
