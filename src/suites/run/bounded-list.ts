import { listOf, members, number, type Shape } from '../../base/json/shape.ts';
import type { Mergeable } from '../stats/mergeable.ts';

/** Keeps the items with the lowest positions, up to a limit, and counts all that were added. */
export interface BoundedList<Item> extends Mergeable<BoundedListState<Item>> {
  /** Items are sorted by `place`, whatever order they are added in; no two items share one. */
  add(place: number, item: Item): void;
  items(): readonly Item[];
  count(): number;
}

export interface BoundedListState<Item> {
  /** Those that are kept, by rising place. */
  readonly kept: readonly { readonly place: number; readonly item: Item }[];
  readonly count: number;
}

export function boundedListState<Item>(item: Shape<Item>): Shape<BoundedListState<Item>> {
  return members<BoundedListState<Item>>({
    kept: listOf(members<BoundedListState<Item>['kept'][number]>({ place: number, item })),
    count: number,
  });
}

export function newBoundedList<Item>(limit: number): BoundedList<Item> {
  const kept: { place: number; item: Item }[] = [];
  let count = 0;
  const keep = (place: number, item: Item): void => {
    const after = kept.findIndex((other) => other.place > place);
    kept.splice(after === -1 ? kept.length : after, 0, { place, item });
    if (kept.length > limit) kept.pop();
  };
  return {
    add(place, item) {
      count += 1;
      keep(place, item);
    },
    items: () => kept.map(({ item }) => item),
    count: () => count,
    state: () => ({ kept: [...kept], count }),
    merge(other) {
      count += other.count;
      for (const { place, item } of other.kept) keep(place, item);
    },
  };
}
