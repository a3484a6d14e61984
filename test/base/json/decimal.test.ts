import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  add,
  compare,
  compareDecimals,
  divide,
  exact,
  formatNumber,
  isMultipleOf,
  multiply,
  newDecimalSum,
  sumOf,
  toDouble,
} from '../../../src/base/json/decimal.ts';
import { costOf } from '../../../src/models/spending/cost.ts';

test.each([
  { number: 0.1 + 0.2, text: '0.3' },
  { number: 0.00014000000000000001, text: '0.00014' },
  { number: 1 / 3, text: '0.3333' },
  { number: 0.99999, others: [0, 1], text: '0.99999' },
  { number: 1 - 1e-14, others: [1], text: '0.99999999999999' },
  { number: 0.30000000000000004, others: [0.3], text: '0.30000000000000004' },
  { number: 1234.56789, text: '1234.5679' },
  { number: 0, text: '0' },
  { number: 1, others: [1], text: '1' },
  { number: -0.25, text: '-0.25' },
])('$number beside $others is written as $text', ({ number, others = [], text }) => {
  expect(formatNumber(number, others)).toBe(text);
});

test('sums of money have the digits that people would have written', () => {
  expect(sumOf([0.1, 0.2])).toBe(0.3);
  expect(sumOf([0.3, -0.1, -0.2])).toBe(0);
  expect(costOf({ input: 100, output: 0 }, { input: 0.0007, output: 1 })).toBe(0.00007);
  expect(costOf({ input: 3, output: 6 }, { input: 100, output: 100 })).toBe(0.9);
});

/** Realistic scores, usually with few digits, and any double. */
const score = fc.oneof(
  fc.integer({ min: 0, max: 100 }).map((n) => n / 100),
  fc.integer({ min: 0, max: 1_000_000 }).map((n) => n / 1_000_000),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

describe('sums of decimals', () => {
  test('property: a mean of equal scores is that score, for any number of them', () => {
    fc.assert(
      fc.property(score, fc.integer({ min: 1, max: 2000 }), (each, count) => {
        const sum = newDecimalSum();
        for (let n = 0; n < count; n += 1) sum.add(each);
        const mean = divide(sum.exact(), exact(count));
        expect([compare(mean, each), toDouble(mean)]).toEqual([0, each]);
      }),
    );
  });

  test('a mean of a million equal scores is that score', () => {
    for (const each of [0.7, 0.1, 1 / 3, 0.123456]) {
      const sum = newDecimalSum();
      for (let n = 0; n < 1_000_000; n += 1) sum.add(each);
      expect(compare(divide(sum.exact(), exact(1_000_000)), each)).toBe(0);
    }
  });

  test('property: is the sum of the digits, in any order and of any parts', () => {
    const scores = fc.array(score, { maxLength: 100 });
    const shuffled = scores.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }), fc.nat(100)),
    );
    fc.assert(
      fc.property(shuffled, ([all, other, cut]) => {
        const [one, two, rest] = [newDecimalSum(), newDecimalSum(), newDecimalSum()];
        for (const each of all) one.add(each);
        for (const [at, each] of other.entries()) (at < cut ? two : rest).add(each);
        two.merge(JSON.parse(JSON.stringify(rest.state())));
        const wanted = all.reduce((sum, each) => sum + digitsOf(each), 0n);
        expect(compare(one.exact(), { over: wanted, under: 1n, exponent: -400 })).toBe(0);
        expect(compare(two.exact(), one.exact())).toBe(0);
        expect(two.value()).toBe(one.value());
      }),
    );
  });

  test('property: products are exact', () => {
    fc.assert(
      fc.property(score, score, (a, b) => {
        const sum = newDecimalSum();
        sum.addProduct(a, b);
        expect(compare(sum.exact(), { over: digitsOf(a) * digitsOf(b), under: 1n, exponent: -800 })).toBe(0);
      }),
    );
  });
});

describe('comparisons', () => {
  test('property: a value and a bound compare as their digits do, and a fraction rounds to the nearest double', () => {
    fc.assert(
      fc.property(score, score, fc.integer({ min: 1, max: 50 }), (a, b, times) => {
        const sum = multiply(exact(a), exact(times));
        expect(Math.sign(compare(a, b))).toBe(Math.sign(a - b));
        expect(compare(divide(sum, exact(times)), b)).toBe(Math.sign(a - b));
        expect(compare({ rootOf: multiply(exact(a), exact(a)) }, b)).toBe(Math.sign(a - b));
        expect(toDouble(divide(sum, exact(times)))).toBe(a);
      }),
    );
  });

  test('a mean that is nearer to the bound than any double is still below it', () => {
    const mean = divide(add(exact(0.7), exact(0.6999999999999998)), exact(2));
    expect([toDouble(mean) >= 0.6999999999999998, compare(mean, 0.7)]).toEqual([true, -1]);
    expect(compare(Number.NaN, 0)).toBeNaN();
    expect([compare(exact(1), Number.POSITIVE_INFINITY) < 0, compare(1, exact(2)) < 0]).toEqual([true, true]);
  });

  test('property: JSON numbers compare by their digits, whatever their size', () => {
    const digits = fc.tuple(
      fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
      fc.integer({ min: -20, max: 20 }),
    );
    fc.assert(
      fc.property(digits, digits, fc.bigInt({ min: 1n, max: 10n ** 20n }), ([a, p], [b, q], divisor) => {
        const scaled = (n: bigint, power: number) => n * 10n ** BigInt(power + 20);
        const [one, other] = [scaled(a, p), scaled(b, q)];
        expect(Math.sign(compareDecimals(`${a}e${p}`, `${b}e${q}`))).toBe(
          one === other ? 0 : one < other ? -1 : 1,
        );
        expect(isMultipleOf(`${a}e${p}`, `${divisor}e${q}`)).toBe(one % scaled(divisor, q) === 0n);
      }),
    );
  });

  test.each([
    ['19.99', '0.01', true],
    ['1e308', '1e-308', true],
    ['1e999999999', '7', false],
    ['7e999999999', '7', true],
    ['1e-999999999', '1', false],
    ['0', '0.01', true],
    ['4.35', '0.01', true],
    ['4.355', '0.01', false],
  ])('%s is a multiple of %s: %s', (value, divisor, is) => {
    expect(isMultipleOf(value, divisor)).toBe(is);
  });
});

/** A double in units of 10^-400. */
function digitsOf(number: number): bigint {
  const [mantissa = '', power = '0'] = String(number).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(`${whole}${fraction}`) * 10n ** BigInt(400 + Number(power) - fraction.length);
}
