import { expect, onTestFinished, test, vi } from 'vitest';
import { newLinger } from '../../../src/calls/capability/eval.ts';

function openLinger() {
  vi.useFakeTimers();
  vi.advanceTimersByTime(1_000);
  onTestFinished(() => void vi.useRealTimers());
  const onPause = vi.fn();
  const linger = newLinger(onPause, { pauseMs: 10, mostMs: 40 });
  const after = (ms: number) => {
    vi.advanceTimersByTime(ms);
    return onPause.mock.calls.length;
  };
  return { extend: () => linger.extend(), after };
}

test('nothing happens without an arrival', () => {
  expect(openLinger().after(1000)).toBe(0);
});

test('a pause ends the wait once, and the next arrival begins another', () => {
  const { extend, after } = openLinger();
  extend();
  expect([after(9), after(1), after(100)]).toEqual([0, 1, 1]);
  extend();
  expect([after(9), after(1)]).toEqual([1, 2]);
});

test('arrivals during the wait extend it', () => {
  const { extend, after } = openLinger();
  extend();
  after(5);
  extend();
  expect([after(5), after(9), after(1)]).toEqual([0, 0, 1]);
});

test('it never waits longer than the maximum, whatever arrives', () => {
  const { extend, after } = openLinger();
  const pauses = [];
  for (let ms = 0; ms < 40; ms += 5) {
    extend();
    pauses.push(after(5));
  }
  expect(pauses).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
});
