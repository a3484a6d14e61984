import fc from 'fast-check';
import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import { inTurnOf, TurnQueue } from '../../../src/base/time/turns.ts';

const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 40 });

function orderOf(given: readonly string[], removed: ReadonlySet<number> = new Set()): string[] {
  const queue = new TurnQueue();
  const keyOf = new Map<unknown, string>();
  for (const [index, key] of given.entries()) {
    const task = async () => {};
    keyOf.set(task, `${key}${index}`);
    inTurnOf(key, () => queue.enqueue(task, { id: `${index}` }));
  }
  for (const index of removed) queue.remove(`${index}`);
  const order: string[] = [];
  while (queue.size > 0) order.push(keyOf.get(queue.dequeue()) ?? 'nothing');
  expect([queue.dequeue(), queue.filter()]).toEqual([undefined, []]);
  return order;
}

test('between two tasks of a key, one of every other waiting key runs', () => {
  fc.assert(
    fc.property(keys, fc.uniqueArray(fc.nat(39)), (given, removed) => {
      const order = orderOf(given, new Set(removed));
      const left = given.map((key, index) => `${key}${index}`).filter((_, index) => !removed.includes(index));
      expect(order.toSorted()).toEqual(left.toSorted());
      for (const [at, task] of order.entries()) {
        const key = task.charAt(0);
        const next = order.findIndex((other, index) => index > at && other.startsWith(key));
        if (next === -1) continue;
        const between = new Set(order.slice(at + 1, next).map((other) => other.charAt(0)));
        const waiting = new Set(order.slice(next).map((other) => other.charAt(0)));
        waiting.delete(key);
        expect([...waiting].filter((other) => !between.has(other))).toEqual([]);
      }
    }),
  );
});

test('tasks of one key keep their order', () => {
  expect(orderOf(['a', 'a', 'b', 'a', 'b'])).toEqual(['a0', 'b2', 'a1', 'b4', 'a3']);
});

test('a lone caller has all slots, and a later one waits for only one of them', async () => {
  const queue = new PQueue({ concurrency: 2, queueClass: TurnQueue });
  const order: string[] = [];
  const gates: (() => void)[] = [];
  const add = (key: string, name: string) =>
    inTurnOf(key, () =>
      queue.add(async () => {
        order.push(name);
        await new Promise<void>((resolve) => gates.push(resolve));
      }),
    );
  const all = ['m1', 'm2', 'm3', 'm4'].map((name) => add('mallory', name));
  await Promise.resolve();
  expect(order).toEqual(['m1', 'm2']);
  all.push(add('alice', 'a1'));
  for (let count = 0; count < 5; count += 1) {
    await expect.poll(() => gates.length).toBeGreaterThan(0);
    gates.shift()?.();
  }
  await Promise.all(all);
  expect(order).toEqual(['m1', 'm2', 'm3', 'a1', 'm4']);
});
