import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type InOrderOptions, workInOrder } from '../../../src/suites/run/in-order.ts';

const never = new AbortController().signal;

async function* count(items: number, told: (item: number) => void = () => {}): AsyncGenerator<number> {
  for (let item = 0; item < items; item += 1) {
    told(item);
    yield item;
  }
}

function work(options: Partial<InOrderOptions<number, number>>): Promise<void> {
  return workInOrder<number, number>({
    source: () => count(20),
    work: async (item) => item,
    deliver: async () => true,
    window: 4,
    signal: never,
    ...options,
  });
}

async function turns(many: number): Promise<void> {
  for (let turn = 0; turn < many; turn += 1) await nextTurn();
}

test('results come in source order whatever their duration, and concurrency stays within the window', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(8), { maxLength: 40 }),
      fc.integer({ min: 1, max: 17 }),
      fc.nat(3),
      async (delays, window, slowness) => {
        const begun: number[] = [];
        const taken: number[] = [];
        let [inWork, most, takers] = [0, 0, 0];
        await work({
          source: () => count(delays.length),
          window,
          work: async (item) => {
            begun.push(item);
            inWork += 1;
            most = Math.max(most, inWork);
            await turns(delays[item] ?? 0);
            inWork -= 1;
            return item;
          },
          deliver: async (item) => {
            takers += 1;
            await turns(slowness);
            taken.push(item);
            takers -= 1;
            return takers === 0;
          },
        });
        const all = delays.map((_, index) => index);
        expect({ begun, taken, isKept: most <= window }).toEqual({ begun: all, taken: all, isKept: true });
      },
    ),
    { numRuns: 100 },
  );
});

test('while one item hangs, a bounded number of later ones runs, and all of them once it has ended', async () => {
  const window = 3;
  const items = 2_000;
  const hanging = Promise.withResolvers<void>();
  let pulled = 0;
  const taken: number[] = [];
  const working = work({
    source: () =>
      count(items, () => {
        pulled += 1;
      }),
    window,
    work: async (item) => {
      if (item === 5) await hanging.promise;
      return item;
    },
    deliver: async (item) => taken.push(item) > 0,
  });
  await expect.poll(() => pulled).toBe(5 + window + 256);
  await turns(50);
  expect({ pulled, taken }).toEqual({ pulled: 5 + window + 256, taken: [0, 1, 2, 3, 4] });
  hanging.resolve();
  await working;
  expect(taken).toEqual(Array.from({ length: items }, (_, index) => index));
});

describe('an early end', () => {
  test.each([1, 2, 16])(
    'with a window of %i gives the same results until the consumer stops, and aborts items in progress',
    async (window) => {
      const taken: number[] = [];
      const ended: string[] = [];
      await work({
        source: () => count(1_000),
        window,
        work: async (item, signal) => {
          if (item <= 9) await turns(10 - item);
          else
            await Promise.race([
              new Promise((resolve) => signal.addEventListener('abort', resolve)),
              turns(500),
            ]);
          if (item > 9) ended.push(signal.aborted ? 'aborted' : 'done');
          return item;
        },
        deliver: async (item) => taken.push(item) < 10,
      });
      expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(new Set(ended)).toEqual(new Set(window === 1 ? [] : ['aborted']));
    },
  );

  test.each(['source', 'work', 'take'] as const)(
    'an error of %s is thrown once nothing is in progress, and nothing more is pulled',
    async (guilty) => {
      const fault = new Error(`${guilty} failed`);
      let inFlight = 0;
      const taken: number[] = [];
      const failAt = (part: string, item: number) => {
        if (guilty === part && item === 10) throw fault;
      };
      const working = work({
        source: () => count(1_000, (item) => failAt('source', item)),
        work: async (item) => {
          inFlight += 1;
          await turns(item % 5);
          inFlight -= 1;
          failAt('work', item);
          return item;
        },
        deliver: async (item) => {
          failAt('take', item);
          return taken.push(item) > 0;
        },
      });
      await expect(working).rejects.toBe(fault);
      expect({
        inFlight,
        ordered: taken.toSorted((a, b) => a - b),
        late: taken.filter((item) => item >= 10),
      }).toEqual({
        inFlight: 0,
        ordered: taken,
        late: [],
      });
    },
  );

  test('a signal ends it without an error, and items behind a hanging one are not delivered', async () => {
    const stop = new AbortController();
    const taken: number[] = [];
    let worked = 0;
    const working = work({
      signal: stop.signal,
      source: () => count(1_000),
      work: async (item, signal) => {
        worked += 1;
        if (item === 3) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return item;
      },
      deliver: async (item) => taken.push(item) > 0,
    });
    await expect.poll(() => worked).toBeGreaterThan(100);
    stop.abort();
    await working;
    expect(taken).toEqual([0, 1, 2]);
  });
});
