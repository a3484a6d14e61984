/** Keeps the items with the lowest positions, up to a limit, and counts all that were added. */
export interface BoundedList<Item> {
  /** Items are sorted by `place`, whatever order they are added in; no two items share one. */
  add(place: number, item: Item): void;
  items(): readonly Item[];
  count(): number;
}

export function newBoundedList<Item>(limit: number): BoundedList<Item> {
  const kept: { place: number; item: Item }[] = [];
  let count = 0;
  return {
    add(place, item) {
      count += 1;
      const after = kept.findIndex((other) => other.place > place);
      kept.splice(after === -1 ? kept.length : after, 0, { place, item });
      if (kept.length > limit) kept.pop();
    },
    items: () => kept.map(({ item }) => item),
    count: () => count,
  };
}
