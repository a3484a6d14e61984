import type { EvalOutcome } from '../contract/eval.ts';
import { newExactSum } from './exact-sum.ts';
import type { EvalStats, Stats } from './model.ts';

/** Adds up results, by eval and by tag, in constant memory and whatever order they come in. */
export interface Reducer {
  add(evalId: string, tags: readonly string[], result: { outcome: EvalOutcome; passed: boolean }): void;
  stats(): Record<string, EvalStats>;
}

export function newReducer(evalIds: readonly string[]): Reducer {
  const tallies = new Map(evalIds.map((id) => [id, { all: newTally(), byTag: new Map<string, Tally>() }]));
  return {
    add(evalId, tags, result) {
      const tally = tallies.get(evalId);
      tally?.all.add(result);
      for (const tag of tags) {
        const known = tally?.byTag.get(tag) ?? newTally();
        tally?.byTag.set(tag, known);
        known.add(result);
      }
    },
    stats: () =>
      Object.fromEntries(
        [...tallies].map(([id, { all, byTag }]) => [id, { ...all.stats(), tags: statsByTag(byTag) }]),
      ),
  };
}

interface Tally {
  add(result: { outcome: EvalOutcome; passed: boolean }): void;
  stats(): Stats;
}

function newTally(): Tally {
  let count = 0;
  let scored = 0;
  let passed = 0;
  const sum = newExactSum();
  return {
    add(result) {
      count += 1;
      if (result.passed) passed += 1;
      if (result.outcome.status === 'unscored') return;
      scored += 1;
      sum.add(result.outcome.score);
    },
    stats: () => ({
      count,
      scored,
      unscored: count - scored,
      passed,
      pass_rate: count === 0 ? null : passed / count,
      mean: scored === 0 ? null : sum.value() / scored,
    }),
  };
}

function statsByTag(byTag: ReadonlyMap<string, Tally>): Record<string, Stats> {
  const sorted = [...byTag].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([tag, tally]) => [tag, tally.stats()]));
}
