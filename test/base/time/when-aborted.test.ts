import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { whenAborted } from '../../../src/base/time/async.ts';

test('all listeners of one signal run once, in order, with one registration', () => {
  const caller = new AbortController();
  const told: number[] = [];
  for (const n of [1, 2, 3]) whenAborted(caller.signal, () => told.push(n));
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1);
  caller.abort();
  caller.abort();
  expect(told).toEqual([1, 2, 3]);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});

test('a listener that was removed does not run, not even if an earlier one removes it', () => {
  const caller = new AbortController();
  const told: number[] = [];
  const stops = [1, 2, 3, 4].map((n) =>
    whenAborted(caller.signal, () => {
      told.push(n);
      stops[2]?.();
    }),
  );
  stops[0]?.();
  stops[0]?.();
  caller.abort();
  expect(told).toEqual([2, 4]);
  for (const stop of stops) stop();
});

test('a signal without listeners has no registration, and can be used again', () => {
  const caller = new AbortController();
  const stops = Array.from({ length: 100_000 }, () => whenAborted(caller.signal, () => expect.unreachable()));
  for (const stop of stops) stop();
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  const told: string[] = [];
  whenAborted(caller.signal, () => told.push('again'));
  for (const stop of stops) stop();
  caller.abort();
  expect(told).toEqual(['again']);
});
