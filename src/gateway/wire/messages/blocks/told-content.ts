import { Leftovers } from '../../leftovers.ts';
import type { Place } from '../../place.ts';
import type { BodyPart } from './body-part.ts';

/** A block in the list that it stands in. */
export interface BlockPosition {
  readonly block: Place;
  readonly owner: Place;
  readonly entry: number;
}

/** What blocks tell hooks, each thing with the place where it stands. */
export interface ToldContent {
  readonly body: BodyPart[];
  readonly thinking: BlockPosition[];
  /** Reasoning that is encrypted: it goes with the reasoning that can be read. */
  readonly redacted: BlockPosition[];
  readonly calls: BlockPosition[];
  /** Results of tools that the upstream has run. */
  readonly served: BlockPosition[];
  /** The elements of all `citations`, and the blocks that have some. */
  readonly citations: { readonly owner: Place; readonly entry: number; readonly place: Place }[];
  readonly citing: Place[];
  /** Blocks with a text among the leftovers and an encrypted copy of it, and their paths. */
  readonly compactions: { readonly block: Place; readonly path: string }[];
  readonly leftovers: Leftovers;
  /** The list that a new text may be put into. */
  readonly list: Place | undefined;
  /** The index of the first block in that list. */
  readonly start: number;
}

export function startTold(list: Place | undefined, start = 0): ToldContent {
  return {
    body: [],
    thinking: [],
    redacted: [],
    calls: [],
    served: [],
    citations: [],
    citing: [],
    compactions: [],
    leftovers: new Leftovers(),
    list,
    start,
  };
}
