import { compare, share } from '../../base/json/decimal.ts';
import type { Gate } from '../file/model.ts';
import type { GateResult, GateTest } from '../record.ts';
import { type Judged, judgeGates } from '../run/gates.ts';
import type { Interval, PairedDifference, VariantComparison, VariantReport } from '../run/stats-record.ts';

interface VariantGate {
  readonly gate: Gate;
  readonly variant: string;
}

export function gatesOfVariants(gates: readonly Gate[], names: readonly string[]): VariantGate[] {
  return gates.flatMap((gate) => {
    const held = gate.variants ?? names.filter((name) => name !== gate.betterThan);
    return held.map((variant) => ({ gate, variant }));
  });
}

interface MatrixResults {
  readonly variants: readonly (Pick<VariantReport, 'name'> & Judged)[];
  readonly comparisons: readonly VariantComparison[];
}

export function judgeMatrixGates(
  gates: readonly Gate[],
  { variants, comparisons }: MatrixResults,
): GateResult[] {
  const names = variants.map(({ name }) => name);
  return gatesOfVariants(gates, names).flatMap(({ gate, variant }) => {
    if (gate.betterThan !== undefined) return [judgeDifference(gate, variant, comparisons)];
    const own = variants.find(({ name }) => name === variant);
    const results = own === undefined ? [missing(gate)] : judgeGates([gate], own);
    return results.map(({ eval: id, metric, tag, ...rest }) => ({
      ...(id === undefined ? {} : { eval: id }),
      metric,
      ...(tag === undefined ? {} : { tag }),
      variant,
      ...rest,
    }));
  });
}

function missing({ metric, min, max }: Gate): GateResult {
  return { metric, value: null, min: min ?? null, max: max ?? null, passed: false };
}

/** The largest p-value that counts as significant. */
export const significance = 0.05;

/** With fewer pairs, even the most extreme outcome is not significant: 2 · ½ⁿ is 0.0625 for five. */
export const fewestPairs = 6;

/** If more than this share of cases lacks a result on either side, the comparison is not reliable. */
export const mostMissing = 0.05;

function judgeDifference(
  { eval: id, metric, betterThan = '' }: Gate,
  variant: string,
  comparisons: readonly VariantComparison[],
): GateResult {
  const comparison = comparisons.find(({ a, b }) => a === betterThan && b === variant);
  const difference = id === undefined ? comparison?.cases : ownEval(comparison, id);
  const { value, test } = difference === undefined ? nothing : testOf(metric, difference);
  const { p_value: p, flaw } = test;
  return {
    ...(id === undefined ? {} : { eval: id }),
    ...{ metric, variant, better_than: betterThan, value, min: null, max: null },
    passed:
      flaw === null && value !== null && compare(value, 0) > 0 && p !== null && compare(p, significance) < 0,
    test,
  };
}

function ownEval(comparison: VariantComparison | undefined, id: string): PairedDifference | undefined {
  return comparison !== undefined && Object.hasOwn(comparison.evals, id) ? comparison.evals[id] : undefined;
}

interface Tested {
  readonly value: number | null;
  readonly test: GateTest;
}

const nothing: Tested = {
  value: null,
  test: {
    ...{ name: 'mcnemar', pairs: 0, ties: 0, unscored: 0, unpaired: 0, p_value: null, ci95: null },
    flaw: 'too_few_pairs',
  },
};

function testOf(metric: string, difference: PairedDifference): Tested {
  return metric === 'mean' ? testScores(difference) : testVerdicts(difference);
}

/** Unscored cases count as not passed. */
function testVerdicts(difference: PairedDifference): Tested {
  const { pairs, table, pass_rate: rate, p_value } = difference;
  const unpaired = unpairedOf(difference);
  const test = {
    ...{ name: 'mcnemar' as const, pairs, ties: table.both_passed + table.neither_passed },
    ...{ unscored: unscoredOf(difference), unpaired, p_value },
    ci95: differenceInterval(table),
    flaw: flawOf({ compared: pairs, left: unpaired }),
  };
  return {
    value: rate.a === null || rate.b === null ? null : (table.only_b_passed - table.only_a_passed) / pairs,
    test,
  };
}

/** Unscored cases are left out. */
function testScores(difference: PairedDifference): Tested {
  const { score } = difference;
  const [unscored, unpaired] = [unscoredOf(difference), unpairedOf(difference)];
  const { pairs = 0, ties = 0, p_value = null, ci95 = null, test: name = 'sign_flip' } = score ?? {};
  const flaw = flawOf({ compared: pairs, left: unscored + unpaired });
  return {
    value: score?.difference ?? null,
    test: { name, pairs, ties, unscored, unpaired, p_value, ci95, flaw },
  };
}

function flawOf({ compared, left }: { readonly compared: number; readonly left: number }): GateTest['flaw'] {
  if (compared < fewestPairs) return 'too_few_pairs';
  return compare(share(left, compared + left), mostMissing) > 0 ? 'too_many_missing' : null;
}

function unscoredOf({ unscored: { only_in_a: a, only_in_b: b, both } }: PairedDifference): number {
  return a + b + both;
}

function unpairedOf({ only_in_a: a, only_in_b: b }: PairedDifference): number {
  return a + b;
}

/**
 * The 95 % interval of the difference of two paired pass rates, B − A; null without pairs. Adds half a pair to each
 * cell of Wald's interval, which holds its level with few pairs. Source: Agresti and Min, "Simple improved confidence
 * intervals for comparing matched proportions", 2005.
 */
function differenceInterval(table: PairedDifference['table']): Interval | null {
  const { both_passed: both, only_a_passed: onlyA, only_b_passed: onlyB, neither_passed: neither } = table;
  const pairs = both + onlyA + onlyB + neither;
  if (pairs === 0) return null;
  const n = pairs + 2;
  const difference = (onlyB - onlyA) / n;
  const spread = (onlyA + onlyB + 1) / n - difference ** 2;
  const margin = 1.959963984540054 * Math.sqrt(Math.max(0, spread) / n);
  return [Math.max(-1, difference - margin), Math.min(1, difference + margin)];
}
