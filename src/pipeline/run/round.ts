import PQueue from 'p-queue';
import type { Link } from '../../hooks/gate.ts';
import { atOnce } from './at-once.ts';

/**
 * How the calls of one round wait for one another. at_once: not at all. judged: their hooks are asked one call after
 * another. judged_first: and none is made before all have been judged. one_by_one: each is judged and made in turn.
 */
export type Pace = 'at_once' | 'judged' | 'judged_first' | 'one_by_one';

/** What the systems want whose hooks hear of tool calls; the strictest of them counts. */
export function paceOf(links: readonly Link[]): Pace {
  const wanted = links.map((link) => ('group' in link ? link.group.dialect.pace : 'at_once'));
  return paces.findLast((pace) => wanted.includes(pace)) ?? 'at_once';
}

const paces: readonly Pace[] = ['at_once', 'judged', 'judged_first', 'one_by_one'];

/** A call’s place among those of its round. */
export interface Place {
  /** Resolves when the hooks of all calls before have been asked. */
  turn(): Promise<void>;
  /** The hooks before this call have let it pass, so that the next one’s are asked. Resolves when it may be made. */
  pass(): Promise<void>;
  /** Resolves when all calls before have their results, behind their hooks. */
  results(): Promise<void>;
}

export interface Rhythm {
  readonly pace: Pace;
  /** Calls that are made at once. */
  readonly concurrency: number;
}

/** Does the work of every call of a round, each as far as its place lets it. Throws as `atOnce` does. */
export async function inRound<Item, Result>(
  items: readonly Item[],
  { pace, concurrency }: Rhythm,
  work: (item: Item, place: Place, index: number) => Promise<Result>,
): Promise<Result[]> {
  if (pace === 'at_once' || pace === 'one_by_one' || items.length === 1) {
    const many = pace === 'one_by_one' ? 1 : concurrency;
    return await atOnce(items, many, (item, index) => work(item, free, index));
  }
  const slots = new PQueue({ concurrency: Math.max(1, concurrency) });
  const judged = createRow(items.length);
  const done = createRow(items.length);
  return await atOnce(items, items.length, async (item, index) => {
    let leave = () => {};
    const place: Place = {
      turn: () => judged.before(index),
      pass: async () => {
        judged.leave(index);
        if (pace === 'judged_first') await judged.before(items.length);
        leave = await enter(slots);
      },
      results: () => done.before(index),
    };
    try {
      return await work(item, place, index);
    } finally {
      leave();
      judged.leave(index);
      done.leave(index);
    }
  });
}

const free: Place = { turn: async () => {}, pass: async () => {}, results: async () => {} };

/** A row of places that are left in any order. */
function createRow(length: number) {
  const places = Array.from({ length }, () => Promise.withResolvers<void>());
  const before: Promise<unknown>[] = [Promise.resolve()];
  for (const [index, { promise }] of places.entries()) before.push(Promise.all([before[index], promise]));
  return {
    leave: (index: number) => places[index]?.resolve(),
    /** Resolves when all places before this one have been left. */
    before: async (index: number): Promise<void> => {
      await before[index];
    },
  };
}

/** Resolves, with the way out, when there is a slot. */
async function enter(slots: PQueue): Promise<() => void> {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  await new Promise<void>((resolve) => {
    void slots.add(async () => {
      resolve();
      await left;
    });
  });
  return leave;
}
