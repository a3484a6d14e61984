/** Items that are committed together: what comes while one group is under way is the next one. */
export interface GroupCommit<Item> {
  /** Resolves when the item's group is committed; rejects as its commit does. */
  add(item: Item): Promise<void>;
  /** How many items are not committed yet. */
  count(): number;
  /** Resolves when all that was added is committed or rejected. */
  onIdle(): Promise<void>;
}

/** Groups have at most so many items. */
export function createGroupCommit<Item>(
  commit: (items: readonly Item[]) => Promise<unknown>,
  most: number,
): GroupCommit<Item> {
  let waiting: Waiting<Item>[] = [];
  let underWay = 0;
  let running: Promise<void> | undefined;
  const run = async () => {
    while (waiting.length > 0) {
      const group = waiting.slice(0, most);
      waiting = waiting.slice(most);
      underWay = group.length;
      await settle(group, commit);
      underWay = 0;
    }
    running = undefined;
  };
  return {
    add: async (item) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ item, resolve, reject });
      running ??= run();
      await promise;
    },
    count: () => waiting.length + underWay,
    onIdle: async () => await running,
  };
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

async function settle<Item>(
  group: readonly Waiting<Item>[],
  commit: (items: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  try {
    await commit(group.map(({ item }) => item));
    for (const { resolve } of group) resolve();
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
