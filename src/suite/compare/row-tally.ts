import type { PairedDifference } from '../run/difference-record.ts';
import { type ClassificationTally, newClassificationTally } from '../stats/classification.ts';
import type { ComparedClassification } from './comparison.ts';
import { type Decisions, newDecisionTally } from './decisions.ts';
import { mcNemarPValue } from './mcnemar.ts';
import { newPairedScores } from './paired-test.ts';
import type { SideOutcome } from './side.ts';

export type VerdictChange = 'regression' | 'improvement' | 'none';

/** Counts the pairs of outcomes of one row. */
export interface RowTally {
  /** Undefined where a side does not have the case. */
  add(a: SideOutcome | undefined, b: SideOutcome | undefined): VerdictChange;
  difference(): PairedDifference;
  /** Undefined where neither side is a guard. */
  classification(): { readonly a: ComparedClassification; readonly b: ComparedClassification } | undefined;
  /** Likewise. */
  decisions(): { readonly a: Decisions; readonly b: Decisions } | undefined;
}

export function newRowTally(): RowTally {
  const counts = { only_in_a: 0, only_in_b: 0, regressions: 0, improvements: 0, flaky: 0 };
  const table = { both_passed: 0, only_a_passed: 0, only_b_passed: 0, neither_passed: 0 };
  const unscored = { only_in_a: 0, only_in_b: 0, both: 0 };
  const scores = newPairedScores();
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
        scores.add(a.score, b.score);
      }
      answers.a.add(a);
      answers.b.add(b);
      for (const decision of a.decisions) guards.a.add(decision);
      for (const decision of b.decisions) guards.b.add(decision);
      const change = verdictChangeOf(a, b);
      if (a.isFlaky || b.isFlaky) counts.flaky += 1;
      if (change === 'regression') counts.regressions += 1;
      if (change === 'improvement') counts.improvements += 1;
      return change;
    },
    difference() {
      const {
        both_passed: both,
        only_a_passed: onlyA,
        only_b_passed: onlyB,
        neither_passed: neither,
      } = table;
      const pairs = both + onlyA + onlyB + neither;
      const { only_in_a, only_in_b, ...changes } = counts;
      return {
        ...{ pairs, only_in_a, only_in_b, table: { ...table }, ...changes },
        pass_rate:
          pairs === 0 ? { a: null, b: null } : { a: (both + onlyA) / pairs, b: (both + onlyB) / pairs },
        p_value: pairs === 0 ? null : mcNemarPValue(onlyA, onlyB),
        unscored: { ...unscored },
        score: scores.difference(),
      };
    },
    classification: () => bothClassified(guards.a, guards.b),
    decisions: () => {
      const [a, b] = [answers.a.decisions(), answers.b.decisions()];
      return a === undefined || b === undefined ? undefined : { a, b };
    },
  };
}

function cellOf(a: SideOutcome, b: SideOutcome): keyof PairedDifference['table'] {
  if (a.passed) return b.passed ? 'both_passed' : 'only_a_passed';
  return b.passed ? 'only_b_passed' : 'neither_passed';
}

function unscoredOf(a: SideOutcome, b: SideOutcome): keyof PairedDifference['unscored'] {
  if (a.score === null && b.score === null) return 'both';
  return a.score === null ? 'only_in_a' : 'only_in_b';
}

/** The change from A to B; a flaky case counts as unchanged. */
function verdictChangeOf(a: SideOutcome, b: SideOutcome): VerdictChange {
  if (a.passed === b.passed || a.isFlaky || b.isFlaky) return 'none';
  return a.passed ? 'regression' : 'improvement';
}

function bothClassified(a: ClassificationTally, b: ClassificationTally) {
  const [of, other] = [a.classification(), b.classification()];
  return of === undefined || other === undefined ? undefined : { a: toCompared(of), b: toCompared(other) };
}

function toCompared({
  roc: _roc,
  latency_ms: _latency,
  ...classified
}: NonNullable<ReturnType<ClassificationTally['classification']>>): ComparedClassification {
  return classified;
}
