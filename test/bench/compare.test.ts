import { expect, test } from 'vitest';
import { describeFall, findFalls, record, yardstickFor } from '../../bench/run/compare.ts';
import { lineAt } from './results.ts';

const here = 'linux x64, 2 cores';
const recorded = { [here]: { 'server/64x100B: ours': 0.6 } };
const yardstick = { ratios: recorded[here] ?? {}, least: 2 / 3, class: here };

const rates = [
  { now: 0.6, falls: false, title: 'the same' },
  { now: 2, falls: false, title: 'better' },
  { now: 0.41, falls: false, title: 'less than a third lost' },
  { now: 0.39, falls: true, title: 'more than a third lost' },
  { now: 0, falls: true, title: 'nothing left' },
  { now: Number.NaN, falls: true, title: 'no number' },
];
for (const { now, falls, title } of rates) {
  test(`a rate falls when it is: ${title}`, () => {
    expect(findFalls(lineAt(now), yardstick)).toEqual(
      falls ? [{ line: 'server/64x100B', way: 'ours', recorded: 0.6, now }] : [],
    );
  });
}

test('a time falls when it grows', () => {
  expect(findFalls(lineAt(0.88, 'ms'), yardstick)).toEqual([]);
  expect(findFalls(lineAt(0.1, 'ms'), yardstick)).toEqual([]);
  expect(findFalls(lineAt(0.92, 'ms'), yardstick)).toHaveLength(1);
  expect(findFalls(lineAt(Number.POSITIVE_INFINITY, 's'), yardstick)).toHaveLength(1);
});

test('the baseline, and an unrecorded value, cannot fall', () => {
  expect(findFalls(lineAt(0.01), { ...yardstick, ratios: { 'server/64x100B: bare': 1 } })).toEqual([]);
});

test('an unrecorded machine may lose half of another’s value, and without any record nothing is compared', () => {
  expect(yardstickFor(here, recorded)).toEqual(yardstick);
  const other = yardstickFor('darwin arm64, 10 cores', recorded);
  expect(other).toEqual({ ...yardstick, least: 1 / 2 });
  expect(other && findFalls(lineAt(0.31), other)).toEqual([]);
  expect(other && findFalls(lineAt(0.29), other)).toHaveLength(1);
  expect(yardstickFor(here, {})).toBeUndefined();
});

test('a record replaces new measurements and keeps all others', () => {
  const before = { [here]: { 'server/64x100B: ours': 0.1, 'oneshot/sh-1: ours': 0.9 }, elsewhere: { x: 1 } };
  expect(record(before, here, [lineAt(0.61239)])).toEqual({
    [here]: { 'server/64x100B: ours': 0.612, 'oneshot/sh-1: ours': 0.9 },
    elsewhere: { x: 1 },
  });
});

test('a fall is reported with both ratios', () => {
  expect(describeFall({ line: 'a/b', way: 'ours', recorded: 0.6, now: 0.25 })).toBe(
    'a/b: "ours" is at 0.25 of the baseline, and was recorded at 0.60',
  );
});
