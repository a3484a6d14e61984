import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import {
  inQueue,
  inSlot,
  startDetailedStopwatch,
  startStopwatch,
  unwatched,
} from '../../../src/base/time/stopwatch.ts';

const slotOf = (queue: PQueue) => (work: () => Promise<unknown>) =>
  inSlot(work, (slotted) => queue.add(slotted));

function newDoor() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('work that waits for a slot takes no time until it has it', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const door = newDoor();
  const first = slotOf(queue)(() => door.opened);
  const watch = startStopwatch();
  const second = watch.run(() => slotOf(queue)(async () => {}));
  await sleep(60);
  door.open();
  await Promise.all([first, second]);
  const { durationMs, queueMs } = watch.read();
  expect(queueMs).toBeGreaterThan(50);
  expect(durationMs).toBeLessThan(queueMs);
});

test('work that meanwhile runs in another slot does not only wait', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const watch = startStopwatch();
  await watch.run(() => Promise.all([slotOf(queue)(() => sleep(60)), slotOf(queue)(async () => {})]));
  const { durationMs, queueMs } = watch.read();
  expect(durationMs).toBeGreaterThan(50);
  expect(queueMs).toBeLessThan(durationMs);
});

test('a stopwatch within another one has it hear of its waiting, and a turn in a line takes no slot', async () => {
  const [line, queue] = [new PQueue({ concurrency: 1 }), new PQueue({ concurrency: 1 })];
  const door = newDoor();
  const first = slotOf(queue)(() => door.opened);
  const outer = startStopwatch();
  const inner = await outer.run(async () => {
    const watch = startStopwatch();
    const done = watch.run(() =>
      inQueue(
        () => slotOf(queue)(async () => {}),
        (work) => line.add(work),
      ),
    );
    await sleep(60);
    door.open();
    await Promise.all([first, done]);
    return watch.read();
  });
  expect(inner.queueMs).toBeGreaterThan(50);
  expect(outer.read().queueMs).toBeGreaterThan(50);
});

test('a background wait does not count as waiting of the work that began it', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const door = newDoor();
  const first = slotOf(queue)(() => door.opened);
  const watch = startStopwatch();
  const aside = watch.run(() => unwatched(() => slotOf(queue)(async () => {})));
  await sleep(60);
  const { durationMs, queueMs } = watch.read();
  door.open();
  await Promise.all([first, aside]);
  expect(queueMs).toBe(0);
  expect(durationMs).toBeGreaterThan(50);
});

test('work that fails, or leaves the queue, waits no longer', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const door = newDoor();
  const first = slotOf(queue)(() => door.opened);
  const watch = startStopwatch();
  const gone = new AbortController();
  const second = watch.run(() =>
    inSlot(
      async () => {},
      (work) => queue.add(work, { signal: gone.signal }),
    ),
  );
  gone.abort();
  await expect(second).rejects.toThrow();
  const before = watch.read().queueMs;
  await sleep(20);
  expect(watch.read().queueMs).toBe(before);
  door.open();
  await first;
});

test('own time is what no part spends in a queue, in a slot or at an upstream', async () => {
  const watch = startDetailedStopwatch();
  const parts = [
    ['waiting', 1],
    ['waiting', -1],
    ['working', 1],
    ['upstream', 1],
    ['working', -1],
    ['upstream', -1],
  ] as const;
  for (const [part, by] of parts) {
    watch.change(part, by);
    await sleep(20);
  }
  const { durationMs, queueMs, ownMs } = watch.readDetails();
  // Own: after the wait, and at the end.
  expect(ownMs).toBeGreaterThan(30);
  expect(queueMs).toBeGreaterThan(15);
  expect(durationMs - ownMs).toBeGreaterThan(45);
  expect(queueMs + durationMs).toBeGreaterThanOrEqual(ownMs);
});
