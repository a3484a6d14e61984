import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { DeadlineList, Limit } from '../../../src/base/time/deadline-list.ts';

class Timed extends Limit {
  readonly end: () => void;

  constructor(end: () => void) {
    super();
    this.end = end;
  }
}

function openList(ms: number) {
  const list = new DeadlineList<Timed>(ms, ({ end }) => end());
  const start = (end: () => void) => {
    const timed = new Timed(end);
    list.start(timed);
    return timed;
  };
  return { start, clear: (timed: Timed) => list.clear(timed) };
}

test('limits end in the order in which they began, except cleared ones', async () => {
  const list = openList(20);
  const ended: number[] = [];
  const limits = [0, 1, 2, 3, 4, 5].map((n) => list.start(() => ended.push(n)));
  for (const n of [0, 3, 5]) {
    const limit = limits[n];
    if (limit !== undefined) list.clear(limit);
  }
  await vi.waitFor(() => expect(ended).toEqual([1, 2, 4]), { interval: 5 });
  for (const limit of limits) list.clear(limit);
  await sleep(40);
  expect(ended).toEqual([1, 2, 4]);
});

test('a limit does not end before its time, however early others were begun and cleared', async () => {
  const list = openList(60);
  const first = list.start(() => expect.unreachable());
  await sleep(40);
  list.clear(first);
  const startedAt = performance.now();
  const endedAt = await new Promise<number>((resolve) => {
    list.start(() => resolve(performance.now()));
  });
  expect(endedAt - startedAt).toBeGreaterThanOrEqual(60);
});

test('one that ends may begin the next, and clear others', async () => {
  const list = openList(5);
  const ended: string[] = [];
  await new Promise<void>((resolve) => {
    list.start(() => {
      ended.push('first');
      list.clear(second);
      list.start(() => {
        ended.push('third');
        resolve();
      });
    });
    const second = list.start(() => ended.push('second'));
  });
  expect(ended).toEqual(['first', 'third']);
});

test('100,000 limits have one timer, and any of them can be cleared', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const list = openList(200);
  let ended = 0;
  const limits = Array.from({ length: 100_000 }, () => list.start(() => (ended += 1)));
  const kept = limits.splice(50_000, 10);
  for (const limit of limits.toReversed()) list.clear(limit);
  expect(timers).toHaveBeenCalledTimes(1);
  timers.mockRestore();
  await vi.waitFor(() => expect(ended).toBe(kept.length), { timeout: 10_000 });
});

test('time during which this process was stopped does not count', async () => {
  const list = openList(1_000);
  let hasEnded = false;
  const limit = list.start(() => {
    hasEnded = true;
  });
  const until = performance.now() + 1_800;
  while (performance.now() < until);
  // The timer is due, and fires in this turn.
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(hasEnded).toBe(false);
  await vi.waitFor(() => expect(hasEnded).toBe(true), { timeout: 10_000 });
  list.clear(limit);
});

test('a limit that continues after a stop can be cleared', async () => {
  const list = openList(20);
  let hasEnded = false;
  const limit = list.start(() => {
    hasEnded = true;
  });
  const until = performance.now() + 600;
  while (performance.now() < until);
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  list.clear(limit);
  await sleep(100);
  expect(hasEnded).toBe(false);
});

test.each([2 ** 31, 2 ** 40])('%d ms, longer than any timer of Node, do not pass at once', async (ms) => {
  const list = openList(ms);
  let hasEnded = false;
  const limit = list.start(() => {
    hasEnded = true;
  });
  await sleep(30);
  expect(hasEnded).toBe(false);
  list.clear(limit);
});

function run(limitMs: number, program: string) {
  const module = new URL('../../../src/base/time/deadline-list.ts', import.meta.url).pathname;
  const code = `import { DeadlineList, Limit } from ${JSON.stringify(module)};
    const limitMs = ${limitMs};
    const list = new DeadlineList(limitMs, ({ end }) => end());
    const start = (end) => { const limit = Object.assign(new Limit(), { end }); list.start(limit); return limit; };
    ${program}`;
  const { stdout, status, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    timeout: 20_000,
  });
  return { said: stdout.toString(), status, signal };
}

test('a program that waits for nothing but limits lives until the last one ends', () => {
  const program = `list.clear(start(() => {}));
    start(() => { console.log('first'); start(() => console.log('second')); });`;
  expect(run(100, program)).toEqual({ said: 'first\nsecond\n', status: 0, signal: null });
});

test('a program whose limits are all cleared does not wait for them', () => {
  const program = `for (let n = 0; n < 3; n++) list.clear(start(() => {}));`;
  expect(run(600_000, program)).toEqual({ said: '', status: 0, signal: null });
});
