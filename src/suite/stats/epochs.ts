import { meetsThreshold } from '../../capability/threshold.ts';
import { scored } from '../../contract/eval.ts';
import { nameReduction, type Reduction } from '../file/reduction.ts';
import type { CaseResult, EpochRecord, EvalResult } from '../run/record.ts';
import { estimatePassAt } from './pass-k.ts';
import { meanOf, medianOf, modeOf } from './sample.ts';

/** What several epochs of a case come to under one eval: a case result that does not yet say of which eval. */
export type Reduced = Omit<CaseResult, 'eval'>;

/** One result for each eval that judged the case in some epoch, in the order of the suite. */
export function reduceCase(
  evals: readonly { readonly id: string; readonly reducer: Reduction }[],
  epochs: readonly EpochRecord[],
): CaseResult[] {
  return evals.flatMap(({ id, reducer }) => {
    const results = epochs.flatMap((epoch) => epoch.results.filter((result) => result.eval === id));
    return results.length === 0 ? [] : [{ eval: id, ...reduceEpochs(reducer, results) }];
  });
}

/**
 * The results of one eval of one case, at least one, as one result. A single epoch stands for itself. With several,
 * an unscored one leaves nothing honest to average, so `mean`, `median` and `mode` are unscored then; `max` looks at
 * the scored ones; `pass_at` and `at_least` count an unscored epoch as one that did not pass.
 */
export function reduceEpochs(reduction: Reduction, results: readonly EvalResult[]): Reduced {
  const passedEpochs = results.filter(({ passed }) => passed).length;
  const [only, second] = results;
  if (only !== undefined && second === undefined) {
    const { score, passed, detail } = only;
    return { score, passed, detail, passed_epochs: passedEpochs };
  }
  const score = reduceScore(reduction, results, passedEpochs);
  return {
    score,
    passed: score !== null && passes(reduction, score, results),
    detail: describe(results, passedEpochs),
    passed_epochs: passedEpochs,
  };
}

/** Why this reduction cannot be had with so many epochs; undefined when it can. */
export function findReductionProblem(reduction: Reduction, epochs: number): string | undefined {
  if (!('k' in reduction) || reduction.k <= epochs) return undefined;
  const run = epochs === 1 ? 'runs each case once' : `runs each case ${epochs} times`;
  return `${nameReduction(reduction)} needs at least ${reduction.k} epochs, and the suite ${run}`;
}

function reduceScore(reduction: Reduction, results: readonly EvalResult[], c: number): number | null {
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
      return results.length < reduction.k ? null : estimatePassAt({ n: results.length, c, k: reduction.k });
    case 'at_least':
      return c >= reduction.k ? 1 : 0;
  }
}

/**
 * A drawn score is no score of the eval, so its bounds do not speak of it: as is usual for pass@k, the case counts as
 * solved when some epoch passed; `at_least` is its own verdict.
 */
function passes(reduction: Reduction, score: number, results: readonly EvalResult[]): boolean {
  if (reduction.kind === 'pass_at') return results.some(({ passed }) => passed);
  if (reduction.kind === 'at_least') return score === 1;
  return results.every(({ threshold }) => meetsThreshold(scored(score, ''), threshold));
}

/** The words of the first epoch that did not pass tell more than those of one that did. */
function describe(results: readonly EvalResult[], passedEpochs: number): string {
  const told = results.find(({ passed }) => !passed) ?? results[0];
  const count = `${passedEpochs} of ${results.length} epochs passed`;
  return told === undefined || told.detail === '' ? count : `${count}: ${told.detail}`;
}
