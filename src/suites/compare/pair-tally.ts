import { bisect, gammaln } from 'simple-statistics';
import {
  divide,
  type Exact,
  exact,
  multiply,
  newDecimalSum,
  subtract,
  sumOf,
  toDouble,
} from '../../base/json/decimal.ts';
import { members, nullOr, number, type TypeOf } from '../../base/json/shape.ts';
import type { PairedDifference, ScoreDifference } from '../run/stats-record.ts';
import { newClassificationTally } from '../stats/classification.ts';
import { newLatencySketch } from '../stats/distribution.ts';
import {
  combine,
  countersShape,
  decimalSumState,
  groupsOf,
  type Mergeable,
  newCounters,
} from '../stats/mergeable.ts';
import type { ComparedClassification, Decisions } from './comparison.ts';
import type { SideOutcome } from './side.ts';

interface PairedScores extends Mergeable<PairedScoresState> {
  add(a: number, b: number): void;
  /** Independent of the order of the pairs. Null without pairs. */
  difference(): ScoreDifference | null;
}

type PairedScoresState = TypeOf<typeof pairedScoresState>;

const pairedScoresState = members({
  ...{ pairs: number, ties: number },
  ...{ sum_a: decimalSumState, sum_b: decimalSumState, sum: decimalSumState, squares: decimalSumState },
  sizes: groupsOf(1),
  least: nullOr(number),
  greatest: nullOr(number),
});

export function newPairedScores(): PairedScores {
  const [ofA, ofB, all, squares] = [newDecimalSum(), newDecimalSum(), newDecimalSum(), newDecimalSum()];
  const sums = combine({ sum_a: ofA, sum_b: ofB, sum: all, squares });
  /** The nonzero differences, kept only while there are few enough for the exact test. */
  const sizes: number[] = [];
  let [pairs, ties] = [0, 0];
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const keepSizes = (more: readonly number[]): void => {
    sizes.push(...more.slice(0, maxSignFlips + 1 - sizes.length));
  };
  return {
    add(a, b) {
      const each = sumOf([b, -a]);
      pairs += 1;
      ofA.add(a);
      ofB.add(b);
      all.add(each);
      squares.addProduct(each, each);
      least = Math.min(least, each);
      most = Math.max(most, each);
      if (each === 0) ties += 1;
      else keepSizes([each]);
    },
    state: () => ({
      ...{ pairs, ties, ...sums.state(), sizes: [...sizes] },
      ...{ least: pairs === 0 ? null : least, greatest: pairs === 0 ? null : most },
    }),
    merge(other) {
      pairs += other.pairs;
      ties += other.ties;
      sums.merge(other);
      keepSizes(other.sizes);
      least = Math.min(least, other.least ?? least);
      most = Math.max(most, other.greatest ?? most);
    },
    difference() {
      if (pairs === 0) return null;
      const meanOf = (sum: Exact): number => toDouble(divide(sum, exact(pairs)));
      const difference = meanOf(all.exact());
      const stderr = pairs < 2 ? null : standardError(pairs, all.exact(), squares.exact());
      const margin = stderr === null ? null : stderr === 0 ? 0 : stderr * studentQuantile95(pairs - 1);
      return {
        ...{ pairs, ties, mean_a: meanOf(ofA.exact()), mean_b: meanOf(ofB.exact()), difference, stderr },
        ci95: margin === null ? null : [Math.max(-1, difference - margin), Math.min(1, difference + margin)],
        ...testDifferences({ sizes, pairs, ties, mean: difference, stderr }),
      };
    },
  };
}

function standardError(pairs: number, sum: Exact, squares: Exact): number {
  const around = subtract(squares, divide(multiply(sum, sum), exact(pairs)));
  return toDouble({ rootOf: divide(around, exact(pairs * (pairs - 1))) });
}

/** The exact test tries 2^n sign combinations. */
const maxSignFlips = 16;

/**
 * Few differences get an exact sign-flip test, which makes no assumption about their distribution. Many get Student's
 * t. If all have the same size, a t is meaningless, so only their signs are tested.
 */
function testDifferences({
  sizes,
  pairs,
  ties,
  mean,
  stderr,
}: {
  readonly sizes: readonly number[];
  readonly pairs: number;
  readonly ties: number;
  readonly mean: number;
  readonly stderr: number | null;
}): Pick<ScoreDifference, 'p_value' | 'test'> {
  if (stderr === null) return { p_value: null, test: 'sign_flip' };
  const changed = pairs - ties;
  if (changed <= maxSignFlips) return { p_value: signFlipP(sizes), test: 'sign_flip' };
  if (stderr === 0) return { p_value: 2 ** (1 - changed), test: 'sign_flip' };
  return { p_value: studentPValue(mean / stderr, pairs - 1), test: 'paired_t' };
}

function signFlipP(differences: readonly number[]): number {
  const exacts = differences.map((each) => exact(each));
  const unit = Math.min(0, ...exacts.map(({ exponent }) => exponent));
  const sizes = exacts.map(({ over, exponent }) => over * 10n ** BigInt(exponent - unit));
  const sizeOf = (sum: bigint) => (sum < 0n ? -sum : sum);
  let sum = sizes.reduce((all, each) => all + each, 0n);
  const observed = sizeOf(sum);
  const ways = 2 ** sizes.length;
  let extreme = 1;
  for (let way = 1; way < ways; way++) {
    const flipped = 31 - Math.clz32(way & -way);
    const size = sizes[flipped] ?? 0n;
    sizes[flipped] = -size;
    sum -= 2n * size;
    if (sizeOf(sum) >= observed) extreme += 1;
  }
  return extreme / ways;
}

/** The exact two-sided p-value of McNemar's test on the pairs whose verdict changed. Returns 1 if none changed. */
export function mcNemarPValue(oneWay: number, otherWay: number): number {
  const changed = oneWay + otherWay;
  const fewer = Math.min(oneWay, otherWay);
  if (oneWay === otherWay) return 1;
  return Math.min(1, 2 * binomialTail(fewer, changed));
}

/** The probability of at most `heads` heads in n fair tosses. Summed from the largest term down. */
function binomialTail(heads: number, n: number): number {
  const logTerm = gammaln(n + 1) - gammaln(heads + 1) - gammaln(n - heads + 1) - n * Math.LN2;
  let ratio = 1;
  let sum = 1;
  for (let i = heads; i > 0 && ratio > Number.EPSILON * 2 ** -8; i--) {
    ratio *= i / (n - i + 1);
    sum += ratio;
  }
  return Math.exp(logTerm + Math.log(sum));
}

export function studentPValue(t: number, freedom: number): number {
  if (!Number.isFinite(t)) return 0;
  return incompleteBeta(freedom / (freedom + t ** 2), freedom / 2, 0.5);
}

/** The t that the absolute value of a Student variable stays below with probability 95 %. */
export function studentQuantile95(freedom: number): number {
  return bisect((t) => studentPValue(t, freedom) - 0.05, 1.9, 13, 200, 1e-12);
}

/**
 * The regularised incomplete beta function by its continued fraction (https://dlmf.nist.gov/8.17#SS5), on the side
 * where it converges fast.
 */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const logFront = a * Math.log(x) + b * Math.log1p(-x) + gammaln(a + b) - gammaln(a) - gammaln(b);
  return Math.exp(logFront) / (a * betaFraction(x, a, b));
}

/** 1 + d1/(1 + d2/(1 + …)), evaluated from a depth at which further terms change nothing. */
function betaFraction(x: number, a: number, b: number): number {
  let value = 1;
  for (let depth = 400; depth >= 1; depth--) {
    const m = Math.floor(depth / 2);
    const term =
      depth % 2 === 0
        ? (m * (b - m)) / ((a + 2 * m - 1) * (a + 2 * m))
        : -((a + m) * (a + b + m)) / ((a + 2 * m) * (a + 2 * m + 1));
    value = 1 + (term * x) / value;
  }
  return value;
}

type VerdictChange = 'regression' | 'improvement' | 'none';

export interface PairTally extends Mergeable<PairTallyState> {
  add(a: SideOutcome | undefined, b: SideOutcome | undefined): VerdictChange;
  difference(): PairedDifference;
}

type PairTallyState = TypeOf<typeof pairTallyState>;

const counters = {
  counts: ['only_in_a', 'only_in_b', 'regressions', 'improvements', 'flaky'],
  table: ['both_passed', 'only_a_passed', 'only_b_passed', 'neither_passed'],
  unscored: ['only_in_a', 'only_in_b', 'both'],
} as const;

export const pairTallyState = members({
  counts: countersShape(counters.counts),
  table: countersShape(counters.table),
  unscored: countersShape(counters.unscored),
  scores: pairedScoresState,
});

export function newPairTally(): PairTally {
  const parts = {
    counts: newCounters(counters.counts),
    table: newCounters(counters.table),
    unscored: newCounters(counters.unscored),
    scores: newPairedScores(),
  };
  const [{ counts }, { counts: table }, { counts: unscored }] = [parts.counts, parts.table, parts.unscored];
  return {
    add(a, b) {
      if (a === undefined || b === undefined) {
        if (a !== undefined) counts.only_in_a += 1;
        if (b !== undefined) counts.only_in_b += 1;
        return 'none';
      }
      if (a.passed) table[b.passed ? 'both_passed' : 'only_a_passed'] += 1;
      else table[b.passed ? 'only_b_passed' : 'neither_passed'] += 1;
      if (a.score !== null && b.score !== null) parts.scores.add(a.score, b.score);
      else unscored[a.score === b.score ? 'both' : a.score === null ? 'only_in_a' : 'only_in_b'] += 1;
      if (a.isFlaky || b.isFlaky) {
        counts.flaky += 1;
        return 'none';
      }
      if (a.passed === b.passed) return 'none';
      counts[a.passed ? 'regressions' : 'improvements'] += 1;
      return a.passed ? 'regression' : 'improvement';
    },
    difference() {
      const { both_passed: both, only_a_passed: onlyA, only_b_passed: onlyB, neither_passed } = table;
      const pairs = both + onlyA + onlyB + neither_passed;
      const { only_in_a, only_in_b, ...changes } = counts;
      return {
        ...{ pairs, only_in_a, only_in_b, table: { ...table }, ...changes },
        pass_rate:
          pairs === 0 ? { a: null, b: null } : { a: (both + onlyA) / pairs, b: (both + onlyB) / pairs },
        p_value: pairs === 0 ? null : mcNemarPValue(onlyA, onlyB),
        unscored: { ...unscored },
        score: parts.scores.difference(),
      };
    },
    ...combine(parts),
  };
}

export type RowTally = ReturnType<typeof newRowTally>;

export function newRowTally() {
  const pairs = newPairTally();
  const [ofA, ofB] = [newDecisionTally(), newDecisionTally()];
  const both = <Value>(a: Value | undefined, b: Value | undefined) =>
    a === undefined || b === undefined ? undefined : { a, b };
  return {
    add(a: SideOutcome | undefined, b: SideOutcome | undefined): VerdictChange {
      if (a !== undefined && b !== undefined) {
        ofA.add(a);
        ofB.add(b);
      }
      return pairs.add(a, b);
    },
    difference: pairs.difference,
    classification: () => both(ofA.classification(), ofB.classification()),
    decisions: () => both(ofA.decisions(), ofB.decisions()),
  };
}

function newDecisionTally() {
  const { counts } = newCounters(['allow', 'modify', 'deny', 'ask', 'respond', 'abort', 'failed']);
  const [sketch, guard] = [newLatencySketch(), newClassificationTally()];
  let seen = 0;
  return {
    add({ answers, decisions }: SideOutcome): void {
      for (const { verdict, durationMs } of answers) {
        seen += 1;
        counts[verdict] += 1;
        sketch.add(durationMs);
      }
      for (const decision of decisions) guard.add(decision);
    },
    decisions: (): Decisions | undefined =>
      seen === 0 ? undefined : { ...counts, latency_ms: sketch.latency() },
    classification(): ComparedClassification | undefined {
      const found = guard.classification();
      if (found === undefined) return undefined;
      const { roc: _roc, latency_ms: _latency, ...compared } = found;
      return compared;
    },
  };
}
