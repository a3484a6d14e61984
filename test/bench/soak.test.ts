import { expect, test } from 'vitest';
import { drawCurve } from '../../bench/soak/chart.ts';
import { renderCurves, toCsv } from '../../bench/soak/report.ts';
import type { Sample } from '../../bench/soak/sample.ts';
import { findGrowth } from '../../bench/soak/verdict.ts';

/** A sample every five seconds for ten minutes. */
function soak(held: (seconds: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 120 }, (_, index) => {
    const seconds = index * 5;
    const quiet = { rssMb: 200, heapMb: 40, descriptors: 50, children: 6, zombies: 0, handles: 20 };
    return { seconds, ...quiet, calls: { tool: seconds * 100 }, errors: {}, kills: 0, ...held(seconds) };
  });
}

const growing = (samples: readonly Sample[]) =>
  findGrowth(samples)
    .filter(({ grows }) => grows)
    .map(({ name }) => name);

test('a curve that stays, swings, shrinks, or settles during warm-up does not grow', () => {
  expect(growing(soak(() => ({})))).toEqual([]);
  expect(growing(soak((at) => ({ rssMb: 200 + 40 * Math.sin(at / 20), zombies: (at / 5) % 4 })))).toEqual([]);
  expect(growing(soak((at) => ({ heapMb: 80 - at / 20 })))).toEqual([]);
  expect(growing(soak((at) => ({ rssMb: 200 + Math.min(at, 150) })))).toEqual([]);
});

const leaks = [
  { name: 'rssMb', held: (at: number) => ({ rssMb: 200 + at / 6 }) },
  { name: 'heapMb', held: (at: number) => ({ heapMb: 40 + at / 30 + 5 * Math.sin(at) }) },
  { name: 'descriptors', held: (at: number) => ({ descriptors: 50 + Math.floor(at / 30) }) },
  { name: 'children', held: (at: number) => ({ children: 6 + Math.floor(at / 60) }) },
  { name: 'zombies', held: (at: number) => ({ zombies: Math.floor(at / 100) }) },
  { name: 'handles', held: (at: number) => ({ handles: 20 + Math.floor(at / 30) }) },
];
for (const { name, held } of leaks) {
  test(`a leak is found in ${name}`, () => {
    expect(growing(soak(held))).toEqual([name]);
  });
}

test('a few samples give no verdict', () => {
  expect(findGrowth(soak((at) => ({ zombies: at })).slice(0, 5))).toEqual([]);
  expect(findGrowth([])).toEqual([]);
});

test('a curve goes from the least to the greatest value, and is shortened by means', () => {
  expect(drawCurve([0, 7, 14])).toBe('▁▅█');
  expect(drawCurve([3, 3, 3])).toBe('▁▁▁');
  expect(drawCurve([0, 0, 10, 10], 2)).toBe('▁█');
  expect(drawCurve([])).toBe('');
});

test('a report has each curve, the calls a second of each tool, and a row for each sample', () => {
  const samples = soak((at) => ({ zombies: Math.floor(at / 100) }));
  const text = renderCurves(samples, findGrowth(samples));
  expect(text).toMatch(/zombies .* 0–5 {2}\+\d\.\d after warm-up: GROWS/u);
  expect(text).toMatch(/tool \/s .* 100–100/u);
  expect(toCsv(samples).split('\n').slice(0, 3)).toEqual([
    'seconds,rssMb,heapMb,descriptors,children,zombies,handles,tool,kills,errors',
    '0.0,200,40,50,6,0,20,0,0,0',
    '5.0,200,40,50,6,0,20,500,0,0',
  ]);
});
