import { members, number, type Shape } from '../../base/json/shape.ts';
import type { GuardRecord } from '../record.ts';
import type { PairedDifference } from '../run/difference-record.ts';
import { newClassificationTally } from '../stats/classification.ts';
import { newLatencySketch } from '../stats/latency.ts';
import type { Mergeable } from '../stats/mergeable.ts';
import type { ComparedClassification, Decisions } from './comparison.ts';
import { mcNemarPValue, newPairedScores, type PairedScoresState, pairedScoresState } from './paired-test.ts';
import type { SideOutcome } from './side.ts';

export type VerdictChange = 'regression' | 'improvement' | 'none';

/** Counts pairs of verdicts and scores, in any order and in bounded memory. */
export interface PairTally extends Mergeable<PairTallyState> {
  /** Undefined where a side does not have the case. */
  add(a: SideOutcome | undefined, b: SideOutcome | undefined): VerdictChange;
  difference(): PairedDifference;
}

type Counts = Pick<PairedDifference, 'only_in_a' | 'only_in_b' | 'regressions' | 'improvements' | 'flaky'>;
type Table = PairedDifference['table'];
type Unscored = PairedDifference['unscored'];

export interface PairTallyState {
  readonly counts: Counts;
  readonly table: Table;
  readonly unscored: Unscored;
  readonly scores: PairedScoresState;
}

export const pairTallyState: Shape<PairTallyState> = members<PairTallyState>({
  counts: members<Counts>({
    ...{ only_in_a: number, only_in_b: number, regressions: number, improvements: number, flaky: number },
  }),
  table: members<Table>({
    ...{ both_passed: number, only_a_passed: number, only_b_passed: number, neither_passed: number },
  }),
  unscored: members<Unscored>({ only_in_a: number, only_in_b: number, both: number }),
  scores: pairedScoresState,
});

export function newPairTally(): PairTally {
  const counts = { only_in_a: 0, only_in_b: 0, regressions: 0, improvements: 0, flaky: 0 };
  const table = { both_passed: 0, only_a_passed: 0, only_b_passed: 0, neither_passed: 0 };
  const unscored = { only_in_a: 0, only_in_b: 0, both: 0 };
  const scores = newPairedScores();
  return {
    add(a, b) {
      if (a === undefined || b === undefined) {
        if (a !== undefined) counts.only_in_a += 1;
        if (b !== undefined) counts.only_in_b += 1;
        return 'none';
      }
      table[cellOf(a, b)] += 1;
      if (a.score === null || b.score === null) unscored[unscoredOf(a, b)] += 1;
      else scores.add(a.score, b.score);
      const change = verdictChangeOf(a, b);
      if (a.isFlaky || b.isFlaky) counts.flaky += 1;
      if (change === 'regression') counts.regressions += 1;
      if (change === 'improvement') counts.improvements += 1;
      return change;
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
        score: scores.difference(),
      };
    },
    state: () => ({
      ...{ counts: { ...counts }, table: { ...table }, unscored: { ...unscored }, scores: scores.state() },
    }),
    merge(other) {
      addEach(counts, other.counts);
      addEach(table, other.table);
      addEach(unscored, other.unscored);
      scores.merge(other.scores);
    },
  };
}

/** Adds the numbers of the same names. */
function addEach<Name extends string>(
  sums: Record<Name, number>,
  added: Readonly<Record<NoInfer<Name>, number>>,
): void {
  for (const name in sums) sums[name] += added[name];
}

function cellOf(a: SideOutcome, b: SideOutcome): keyof Table {
  if (a.passed) return b.passed ? 'both_passed' : 'only_a_passed';
  return b.passed ? 'only_b_passed' : 'neither_passed';
}

function unscoredOf(a: SideOutcome, b: SideOutcome): keyof Unscored {
  if (a.score === null && b.score === null) return 'both';
  return a.score === null ? 'only_in_a' : 'only_in_b';
}

/** The change from A to B; a flaky case counts as unchanged. */
function verdictChangeOf(a: SideOutcome, b: SideOutcome): VerdictChange {
  if (a.passed === b.passed || a.isFlaky || b.isFlaky) return 'none';
  return a.passed ? 'regression' : 'improvement';
}

export type RowTally = ReturnType<typeof newRowTally>;

/** Counts the pairs of outcomes of one row, and what guards decided on either side. */
export function newRowTally() {
  const pairs = newPairTally();
  const [ofA, ofB] = [newDecisionTally(), newDecisionTally()];
  return {
    add(a: SideOutcome | undefined, b: SideOutcome | undefined): VerdictChange {
      if (a !== undefined && b !== undefined) {
        ofA.add(a);
        ofB.add(b);
      }
      return pairs.add(a, b);
    },
    difference: pairs.difference,
    /** Undefined where neither side is a guard. */
    classification: () => both(ofA.classification(), ofB.classification()),
    decisions: () => both(ofA.decisions(), ofB.decisions()),
  };
}

function both<Value>(a: Value | undefined, b: Value | undefined) {
  return a === undefined || b === undefined ? undefined : { a, b };
}

/** Counts what a guard decided; what it gives is undefined where there was no guard. */
function newDecisionTally() {
  const counts: Record<GuardRecord['verdict'] | 'failed', number> = {
    ...{ allow: 0, modify: 0, deny: 0, ask: 0, respond: 0, abort: 0, failed: 0 },
  };
  const sketch = newLatencySketch();
  const guard = newClassificationTally();
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
