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

/** The result of one eval over the epochs of a case, without the id of the eval. */
export type Reduced = Omit<CaseResult, 'eval'>;

/** One result for each eval that judged the case in some epoch, in the order of the suite. */
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
 * Reduces the results of one eval of one case, at least one, to one. A single epoch stands for itself. Of
 * several, one unscored epoch makes `mean`, `median` and `mode` unscored; `max` ignores it; `pass_at` and
 * `at_least` count it as not passed.
 */
export function reduceEpochs(reduction: Reduction, results: readonly EvalResult[]): Reduced {
  const passedEpochs = results.filter(({ passed }) => passed).length;
  const [only, second] = results;
  const isSingle = only !== undefined && second === undefined;
  const { score, passed, detail } = isSingle ? only : reduceSeveral(reduction, results, passedEpochs);
  return {
    ...{ score, passed, detail, passed_epochs: passedEpochs },
    // Also where the reducer passes over the epoch: what the others would have come to with it is unknown.
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

/** Whether a fault is why the epoch has no score: not an abstention, and not what the subject itself decided. */
function isFault({ score, error }: EvalResult): boolean {
  return score === null && error !== undefined && !answerCodes.has(error.code);
}

/** Codes of what a subject did, rather than of what went wrong around it. */
const answerCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['DENIED', 'REJECTED', 'TOOL_ERROR', 'RESULT_INVALID', 'OUTPUT_INVALID'] as const),
  ...(['THRESHOLD_MISSED', 'LOOP_EXHAUSTED', 'ROUNDS_EXHAUSTED', 'BUDGET_EXCEEDED'] as const),
]);

/** Why this reduction needs more epochs than there are; undefined when it does not. */
export function findReductionProblem(reduction: Reduction, epochs: number): string | undefined {
  if (!('k' in reduction) || reduction.k <= epochs) return undefined;
  const run = epochs === 1 ? 'runs each case once' : `runs each case ${epochs} times`;
  return `${nameReduction(reduction)} needs at least ${reduction.k} epochs, and the suite ${run}`;
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

/** The mean of at least one number: the same in any order. */
export function meanOf(numbers: readonly number[]): Exact {
  const sum = newDecimalSum();
  for (const number of numbers) sum.add(number);
  return divide(sum.exact(), exact(numbers.length));
}

/** The median of at least one number: of an even count the mean of the two in the middle. */
export function medianOf(numbers: readonly number[]): Exact {
  const sorted = numbers.toSorted((a, b) => a - b);
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return midpoint(lower, upper);
}

/** The commonest of at least one number; of several the lowest. */
function modeOf(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return Math.min(...[...counts].flatMap(([number, count]) => (count === most ? [number] : [])));
}

/** The chance that of k epochs, drawn from the n that were run, one is among the c that passed; k is at most n. */
export function passAt(n: number, c: number, k: number): Exact {
  let [ways, all] = [1n, 1n];
  for (let i = 0; i < k; i++) {
    ways *= BigInt(Math.max(0, n - c - i));
    all *= BigInt(n - i);
  }
  return subtract(exact(1), { over: ways, under: all, exponent: 0 });
}

/**
 * Whether the reduced result passes. The bounds of the eval do not apply to `pass_at`, which passes when
 * some epoch passed, nor to `at_least`, which passes when its score is 1.
 */
function passes(reduction: Reduction, score: number | Exact, results: readonly EvalResult[]): boolean {
  if (reduction.kind === 'pass_at') return results.some(({ passed }) => passed);
  if (reduction.kind === 'at_least') return compare(score, 1) === 0;
  return results.every(({ threshold }) => isScoreWithin(score, threshold));
}

/** The count of passed epochs, with the detail of the first one that did not pass, or else of the first. */
function describe(results: readonly EvalResult[], passedEpochs: number): string {
  const shown = results.find(({ passed }) => !passed) ?? results[0];
  const count = `${passedEpochs} of ${results.length} epochs passed`;
  return shown === undefined || shown.detail === '' ? count : `${count}: ${shown.detail}`;
}

/** The results of one eval in the epochs of a case. */
export function resultsOf(
  { epochs }: { readonly epochs: readonly EpochRecord[] },
  evalId: string,
): EvalResult[] {
  return epochs.flatMap(({ results }) => results.filter((result) => result.eval === evalId));
}

/** Whether some epochs of a case passed and others did not. */
export function isFlaky(epochs: number, passed: number): boolean {
  return passed > 0 && passed < epochs;
}

/**
 * Whether one epoch of a case passed, by the rule for cases: with a threshold of the case its weighted
 * score decides, without one every assertion and guardrail must pass.
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

/** The weighted mean of the scores; null when one is null, or there is none. */
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
