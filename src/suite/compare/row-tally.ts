import { type ClassificationTally, newClassificationTally } from '../stats/classification.ts';
import type { ComparedClassification } from './comparison.ts';
import { type Decisions, newDecisionTally } from './decisions.ts';
import { newPairTally, type PairTally } from './pair-tally.ts';
import type { SideOutcome } from './side.ts';

/** Counts the pairs of outcomes of one row, and what guards decided on either side. */
export interface RowTally extends Pick<PairTally, 'add' | 'difference'> {
  /** Undefined where neither side is a guard. */
  classification(): { readonly a: ComparedClassification; readonly b: ComparedClassification } | undefined;
  /** Likewise. */
  decisions(): { readonly a: Decisions; readonly b: Decisions } | undefined;
}

export function newRowTally(): RowTally {
  const pairs = newPairTally();
  const answers = { a: newDecisionTally(), b: newDecisionTally() };
  const guards = { a: newClassificationTally(), b: newClassificationTally() };
  const addDecisions = (a: SideOutcome, b: SideOutcome): void => {
    answers.a.add(a);
    answers.b.add(b);
    for (const decision of a.decisions) guards.a.add(decision);
    for (const decision of b.decisions) guards.b.add(decision);
  };
  return {
    add(a, b) {
      if (a !== undefined && b !== undefined) addDecisions(a, b);
      return pairs.add(a, b);
    },
    difference: pairs.difference,
    classification: () => bothClassified(guards.a, guards.b),
    decisions: () => {
      const [a, b] = [answers.a.decisions(), answers.b.decisions()];
      return a === undefined || b === undefined ? undefined : { a, b };
    },
  };
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
