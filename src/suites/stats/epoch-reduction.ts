import type { ErrorCode } from '../../base/errors.ts';
import {
  compare,
  divide,
  type Exact,
  exact,
  newDecimalSum,
  subtract,
  toDouble,
} from '../../base/json/decimal.ts';
import { isScoreWithin } from '../../calls/capability/eval.ts';
import { nameReduction, type Reduction } from '../file/model.ts';
import type { CaseResult, EpochRecord, EvalHeader, EvalResult } from '../record.ts';
import { midpoint } from './distribution.ts';

export type Reduced = Omit<CaseResult, 'eval'>;

export function reduceCase(
  evals: readonly { readonly id: string; readonly reducer: Reduction }[],
  epochs: readonly EpochRecord[],
): CaseResult[] {
  return evals.flatMap(({ id, reducer }) => {
    const results = resultsOf({ epochs }, id);
    return results.length === 0 ? [] : [{ eval: id, ...reduceEpochs(reducer, results) }];
  });
}

/**
 * Reduces at least one result of an eval for a case. A single epoch is unchanged. An unscored epoch makes `mean`,
 * `median` and `mode` unscored. `max` ignores it; `pass_at` and `at_least` count it as not passed.
 */
export function reduceEpochs(reduction: Reduction, results: readonly EvalResult[]): Reduced {
  const passedEpochs = results.filter(({ passed }) => passed).length;
  const [only, second] = results;
  const isSingle = only !== undefined && second === undefined;
  const { score, passed, detail } = isSingle ? only : reduceSeveral(reduction, results, passedEpochs);
  return {
    ...{ score, passed, detail, passed_epochs: passedEpochs },
    // Also set if the reducer ignores the epoch, because the result without the fault is unknown.
    ...(results.some(isFault) && { fault: true as const }),
  };
}

function reduceSeveral(reduction: Reduction, results: readonly EvalResult[], passedEpochs: number) {
  const score = reduceScore(reduction, results, passedEpochs);
  return {
    score: score === null || typeof score === 'number' ? score : toDouble(score),
    passed: score !== null && passes(reduction, score, results),
    detail: describe(results, passedEpochs),
  };
}

function isFault({ score, error }: EvalResult): boolean {
  return score === null && error !== undefined && !answerCodes.has(error.code);
}

const answerCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['DENIED', 'REJECTED', 'TOOL_ERROR', 'RESULT_INVALID', 'OUTPUT_INVALID'] as const),
  ...(['THRESHOLD_MISSED', 'LOOP_EXHAUSTED', 'ROUNDS_EXHAUSTED', 'BUDGET_EXCEEDED'] as const),
]);

export function findReductionProblem(reduction: Reduction, epochs: number): string | undefined {
  if (!('k' in reduction) || reduction.k <= epochs) return undefined;
  const run = epochs === 1 ? 'runs each case once' : `runs each case ${epochs} times`;
  return `${nameReduction(reduction)} needs at least ${reduction.k} epochs, but the suite ${run}`;
}

function reduceScore(reduction: Reduction, results: readonly EvalResult[], c: number): number | Exact | null {
  const scores = results.flatMap(({ score }) => (score === null ? [] : [score]));
  const isComplete = scores.length === results.length;
  switch (reduction.kind) {
    case 'mean':
      return isComplete ? meanOf(scores) : null;
    case 'median':
      return isComplete ? medianOf(scores) : null;
    case 'mode':
      return isComplete ? modeOf(scores) : null;
    case 'max':
      return scores.length === 0 ? null : Math.max(...scores);
    case 'pass_at':
      return results.length < reduction.k ? null : passAt(results.length, c, reduction.k);
    case 'at_least':
      return c >= reduction.k ? 1 : 0;
  }
}

export function meanOf(numbers: readonly number[]): Exact {
  const sum = newDecimalSum();
  for (const number of numbers) sum.add(number);
  return divide(sum.exact(), exact(numbers.length));
}

export function medianOf(numbers: readonly number[]): Exact {
  const sorted = numbers.toSorted((a, b) => a - b);
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return midpoint(lower, upper);
}

function modeOf(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return Math.min(...[...counts].flatMap(([number, count]) => (count === most ? [number] : [])));
}

/** The probability that at least one of k epochs, drawn from n with c passed, passes; k is at most n. */
export function passAt(n: number, c: number, k: number): Exact {
  let [ways, all] = [1n, 1n];
  for (let i = 0; i < k; i++) {
    ways *= BigInt(Math.max(0, n - c - i));
    all *= BigInt(n - i);
  }
  return subtract(exact(1), { over: ways, under: all, exponent: 0 });
}

/**
 * The eval's bounds do not apply to `pass_at`, which passes if some epoch passed, or to `at_least`, which passes with
 * score 1.
 */
function passes(reduction: Reduction, score: number | Exact, results: readonly EvalResult[]): boolean {
  if (reduction.kind === 'pass_at') return results.some(({ passed }) => passed);
  if (reduction.kind === 'at_least') return compare(score, 1) === 0;
  return results.every(({ threshold }) => isScoreWithin(score, threshold));
}

function describe(results: readonly EvalResult[], passedEpochs: number): string {
  const shown = results.find(({ passed }) => !passed) ?? results[0];
  const count = `${passedEpochs} of ${results.length} epochs passed`;
  return shown === undefined || shown.detail === '' ? count : `${count}: ${shown.detail}`;
}

export function resultsOf(
  { epochs }: { readonly epochs: readonly EpochRecord[] },
  evalId: string,
): EvalResult[] {
  return epochs.flatMap(({ results }) => results.filter((result) => result.eval === evalId));
}

export function isFlaky(epochs: number, passed: number): boolean {
  return passed > 0 && passed < epochs;
}

/**
 * By the rule for cases: with a threshold, the weighted score decides; otherwise every assertion and guardrail must
 * pass.
 */
export function isEpochPassed(
  { results, threshold }: Pick<EpochRecord, 'results' | 'threshold'>,
  evals: ReadonlyMap<string, Pick<EvalHeader, 'role' | 'weight'>>,
): boolean {
  const deciding = results.flatMap((result) => {
    const header = evals.get(result.eval);
    return header === undefined || header.role === 'metric' ? [] : [{ ...result, weight: header.weight }];
  });
  if (threshold === undefined) return deciding.every(({ passed }) => passed);
  const score = weightedMean(deciding);
  return score !== null && isScoreWithin(score, threshold);
}

/** Null if one score is null or there are none. */
export function weightedMean(
  results: readonly (Pick<EvalResult, 'score'> & { readonly weight: number })[],
): Exact | null {
  const sum = newDecimalSum();
  const weights = newDecimalSum();
  for (const { score, weight } of results) {
    if (score === null) return null;
    sum.addProduct(weight, score);
    weights.add(weight);
  }
  return weights.exact().over > 0n ? divide(sum.exact(), weights.exact()) : null;
}
