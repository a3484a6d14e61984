import { type ClassificationTally, newClassificationTally } from '../stats/classification.ts';
import type { Classified, Difference } from './comparison.ts';
import { type Decisions, newDecisionTally } from './decisions.ts';
import { mcNemarP } from './mcnemar.ts';
import { comparePaired } from './paired.ts';
import type { Outcome } from './side.ts';

export type Turn = 'regression' | 'improvement' | 'none';

/** Counts what pairs of outcomes under one eval came to. */
export interface RowTally {
  /** Undefined where a side does not have the case. */
  add(a: Outcome | undefined, b: Outcome | undefined): Turn;
  difference(): Omit<Difference, 'first_regressions' | 'first_improvements'>;
  /** Undefined where neither side is a guard. */
  classification(): { readonly a: Classified; readonly b: Classified } | undefined;
  /** Likewise. */
  decisions(): { readonly a: Decisions; readonly b: Decisions } | undefined;
}

export function newRowTally(): RowTally {
  const counts = { only_in_a: 0, only_in_b: 0, regressions: 0, improvements: 0, flaky: 0 };
  const table = { both_passed: 0, only_a_passed: 0, only_b_passed: 0, neither_passed: 0 };
  const unscored = { only_in_a: 0, only_in_b: 0, both: 0 };
  const scores: { readonly a: number[]; readonly b: number[] } = { a: [], b: [] };
  const answers = { a: newDecisionTally(), b: newDecisionTally() };
  const guards = { a: newClassificationTally(), b: newClassificationTally() };
  return {
    add(a, b) {
      if (a === undefined || b === undefined) {
        if (a !== undefined) counts.only_in_a += 1;
        if (b !== undefined) counts.only_in_b += 1;
        return 'none';
      }
      table[cellOf(a, b)] += 1;
      if (a.score === null || b.score === null) {
        unscored[unscoredOf(a, b)] += 1;
      } else {
        scores.a.push(a.score);
        scores.b.push(b.score);
      }
      answers.a.add(a);
      answers.b.add(b);
      for (const decision of a.decisions) guards.a.add(decision);
      for (const decision of b.decisions) guards.b.add(decision);
      const turn = turnOf(a, b);
      if (a.isFlaky || b.isFlaky) counts.flaky += 1;
      if (turn === 'regression') counts.regressions += 1;
      if (turn === 'improvement') counts.improvements += 1;
      return turn;
    },
    difference() {
      const {
        both_passed: both,
        only_a_passed: onlyA,
        only_b_passed: onlyB,
        neither_passed: neither,
      } = table;
      const pairs = both + onlyA + onlyB + neither;
      const { only_in_a, only_in_b, ...turns } = counts;
      return {
        ...{ pairs, only_in_a, only_in_b, table: { ...table }, ...turns },
        pass_rate:
          pairs === 0 ? { a: null, b: null } : { a: (both + onlyA) / pairs, b: (both + onlyB) / pairs },
        p_value: pairs === 0 ? null : mcNemarP(onlyA, onlyB),
        unscored: { ...unscored },
        score: comparePaired(scores.a, scores.b),
      };
    },
    classification: () => bothClassified(guards.a, guards.b),
    decisions: () => {
      const [a, b] = [answers.a.decisions(), answers.b.decisions()];
      return a === undefined || b === undefined ? undefined : { a, b };
    },
  };
}

function cellOf(a: Outcome, b: Outcome): keyof Difference['table'] {
  if (a.passed) return b.passed ? 'both_passed' : 'only_a_passed';
  return b.passed ? 'only_b_passed' : 'neither_passed';
}

function unscoredOf(a: Outcome, b: Outcome): keyof Difference['unscored'] {
  if (a.score === null && b.score === null) return 'both';
  return a.score === null ? 'only_in_a' : 'only_in_b';
}

/** A case that wavers by itself tells nothing by one verdict more. */
function turnOf(a: Outcome, b: Outcome): Turn {
  if (a.passed === b.passed || a.isFlaky || b.isFlaky) return 'none';
  return a.passed ? 'regression' : 'improvement';
}

function bothClassified(a: ClassificationTally, b: ClassificationTally) {
  const [of, other] = [a.classification(), b.classification()];
  return of === undefined || other === undefined ? undefined : { a: strip(of), b: strip(other) };
}

function strip({
  roc: _roc,
  latency_ms: _latency,
  ...classified
}: NonNullable<ReturnType<ClassificationTally['classification']>>): Classified {
  return classified;
}
