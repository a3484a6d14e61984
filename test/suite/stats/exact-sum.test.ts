import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newExactSum } from '../../../src/suite/stats/exact-sum.ts';

/** The true sum of doubles of at least 2^-100 or 0, rounded once. */
function trueSum(numbers: readonly number[]): number {
  const scale = 2 ** 160;
  const sum = numbers.map((number) => BigInt(number * scale)).reduce((a, b) => a + b, 0n);
  return Number(sum) / scale;
}

const score = fc.double({ min: 0, max: 1, noNaN: true }).map((number) => (number < 2 ** -100 ? 0 : number));

describe('the exact sum', () => {
  test.each([
    { title: 'nothing', numbers: [], sum: 0 },
    { title: 'tenths', numbers: Array<number>(10).fill(0.1), sum: 1 },
    { title: 'a number that vanishes beside a large one', numbers: [2 ** 60, 1, -(2 ** 60)], sum: 1 },
    { title: 'a tie that a tiny part settles upwards', numbers: [1, 2 ** -53, 2 ** -110], sum: 1 + 2 ** -52 },
    { title: 'a tie that goes to the even neighbour', numbers: [1, 2 ** -53], sum: 1 },
    {
      title: 'a tie that a tiny part settles downwards',
      numbers: [1 + 2 ** -52, 2 ** -53, -(2 ** -110)],
      sum: 1 + 2 ** -52,
    },
  ])('of $title', ({ numbers, sum }) => {
    const exact = newExactSum();
    for (const number of numbers) exact.add(number);
    expect(exact.value()).toBe(sum);
  });

  test('property: is the true sum in any order', () => {
    fc.assert(
      fc.property(
        fc
          .array(score, { maxLength: 200 })
          .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          const exact = newExactSum();
          for (const number of shuffled) exact.add(number);
          expect(exact.value()).toBe(trueSum(all));
        },
      ),
    );
  });
});
