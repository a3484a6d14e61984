import PQueue from 'p-queue';
import type { Link } from '../../calls/hooks/gate.ts';
import { mapConcurrently } from './map-concurrently.ts';

/**
 * How the calls of one round are ordered. at_once: not at all. judged: their hooks are asked one call after
 * another. judged_first: likewise, and no call is made before the hooks of all were asked. one_by_one: one
 * whole call after another.
 */
export type Pace = 'at_once' | 'judged' | 'judged_first' | 'one_by_one';

/** The strictest pace that the dialects of these links require. */
export function paceOf(links: readonly Link[]): Pace {
  const wanted = links.map((link) => ('group' in link ? link.group.dialect.callOrder : 'at_once'));
  return paces.findLast((pace) => wanted.includes(pace)) ?? 'at_once';
}

const paces: readonly Pace[] = ['at_once', 'judged', 'judged_first', 'one_by_one'];

/** The position of a call among those of its round. */
export interface CallSlot {
  /** Resolves when the hooks of all calls before have been asked. */
  waitForTurn(): Promise<void>;
  /**
   * Reports that this call passed its hooks, so that the next call’s are asked. Resolves when the call may be
   * made.
   */
  finishHooks(): Promise<void>;
  /** Resolves when all earlier calls have their results, after their hooks. */
  waitForResults(): Promise<void>;
}

export interface RoundOptions {
  readonly pace: Pace;
  /** Calls made at once, at most. */
  readonly concurrency: number;
}

/**
 * Does the work of every call of a round in the order that its pace requires. Throws as `mapConcurrently`
 * does.
 */
export async function runCallRound<Item, Result>(
  items: readonly Item[],
  { pace, concurrency }: RoundOptions,
  work: (item: Item, slot: CallSlot, index: number) => Promise<Result>,
): Promise<Result[]> {
  if (pace === 'at_once' || pace === 'one_by_one' || items.length === 1) {
    const limit = pace === 'one_by_one' ? 1 : concurrency;
    return await mapConcurrently(items, limit, (item, index) => work(item, unorderedSlot, index));
  }
  const slots = new PQueue({ concurrency: Math.max(1, concurrency) });
  const hooksDone = createOrderedGates(items.length);
  const callsDone = createOrderedGates(items.length);
  return await mapConcurrently(items, items.length, async (item, index) => {
    let releaseSlot = () => {};
    const slot: CallSlot = {
      waitForTurn: () => hooksDone.before(index),
      finishHooks: async () => {
        hooksDone.leave(index);
        if (pace === 'judged_first') await hooksDone.before(items.length);
        releaseSlot = await takeQueueSlot(slots);
      },
      waitForResults: () => callsDone.before(index),
    };
    try {
      return await work(item, slot, index);
    } finally {
      releaseSlot();
      hooksDone.leave(index);
      callsDone.leave(index);
    }
  });
}

const unorderedSlot: CallSlot = {
  waitForTurn: async () => {},
  finishHooks: async () => {},
  waitForResults: async () => {},
};

/** Gates in a row: each may be left at any time, and waiting for one waits for all before it. */
function createOrderedGates(length: number) {
  const places = Array.from({ length }, () => Promise.withResolvers<void>());
  const before: Promise<unknown>[] = [Promise.resolve()];
  for (const [index, { promise }] of places.entries()) before.push(Promise.all([before[index], promise]));
  return {
    leave: (index: number) => places[index]?.resolve(),
    /** Resolves when all gates before this one have been left. */
    before: async (index: number): Promise<void> => {
      await before[index];
    },
  };
}

/** Resolves when the queue has a free slot, with the function that releases it. */
async function takeQueueSlot(slots: PQueue): Promise<() => void> {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  await new Promise<void>((resolve) => {
    void slots.add(async () => {
      resolve();
      await left;
    });
  });
  return leave;
}
