/** How the answers of several hooks of a point are composed into one. */
export interface Composition {
  /** strictest: abort, deny, ask, respond, modify, allow; first: the first that is neither allow nor modify. */
  readonly verdict: 'strictest' | 'first';
  /** How a member of `replace` is merged when several hooks gave it; a member not listed: `last`. */
  readonly members?: Readonly<Record<string, Merge>>;
}

/**
 * last: the last hook's value. list: all lists concatenated. reversed: concatenated from the last hook on.
 */
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
