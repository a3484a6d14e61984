/** Keeps the first few of many items, by their place and not by when they came, and counts all. */
export interface Firsts<Item> {
  /** `place` orders the items; no two share one. */
  add(place: number, item: Item): void;
  items(): readonly Item[];
  count(): number;
}

export function newFirsts<Item>(limit: number): Firsts<Item> {
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
