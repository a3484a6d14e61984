import { listOf, members, type Shape, text } from '../../base/json/shape.ts';
import { coarse, fine, type Precision } from './distribution.ts';
import type { Mergeable } from './mergeable.ts';

/** One tally of all cases, and one of those of each tag. */
export interface TaggedTallies<Tally, State> extends Mergeable<TaggedState<State>> {
  readonly all: Tally;
  /** In alphabetical order. */
  byTag<Out>(map: (tally: Tally) => Out): Record<string, Out>;
  tagCount(): number;
  /** The tally of all, and those of the tags. */
  of(tags: readonly string[]): readonly Tally[];
  /** Undefined of a tag that no case has. */
  ofTag(tag: string): Tally | undefined;
  /** Forgets the tags, those that are still to come included. */
  dropTags(): void;
}

export interface TaggedState<State> {
  readonly all: State;
  /** A list: a tag may be called as what every object has. */
  readonly tags: readonly { readonly tag: string; readonly tally: State }[];
}

export function taggedState<State>(tally: Shape<State>): Shape<TaggedState<State>> {
  return members<TaggedState<State>>({
    all: tally,
    tags: listOf(members<TaggedState<State>['tags'][number]>({ tag: text, tally })),
  });
}

export function newTaggedTallies<State, Tally extends Mergeable<State>>(
  open: (precision: Precision) => Tally,
): TaggedTallies<Tally, State> {
  const all = open(fine);
  const tallies = new Map<string, Tally>();
  let hasTags = true;
  const tallyOf = (tag: string): Tally => {
    const tally = tallies.get(tag) ?? open(coarse);
    tallies.set(tag, tally);
    return tally;
  };
  return {
    all,
    byTag: (map) => {
      const sorted = [...tallies].sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(sorted.map(([tag, tally]) => [tag, map(tally)]));
    },
    tagCount: () => tallies.size,
    of: (tags) => (hasTags ? [all, ...tags.map(tallyOf)] : [all]),
    ofTag: (tag) => tallies.get(tag),
    dropTags() {
      hasTags = false;
      tallies.clear();
    },
    state: () => ({
      all: all.state(),
      tags: [...tallies].map(([tag, tally]) => ({ tag, tally: tally.state() })),
    }),
    merge(other) {
      all.merge(other.all);
      if (hasTags) for (const { tag, tally } of other.tags) tallyOf(tag).merge(tally);
    },
  };
}
