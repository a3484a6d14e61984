import { listOf, members, number, type TypeOf, text } from '../base/json/shape.ts';
import { newPairTally, type PairTally, pairTallyState } from './compare/pair-tally.ts';
import { outcomeReader, type ResultKey, type SideOutcome } from './compare/side.ts';
import type { Gate } from './file/model.ts';
import { judgeMatrixGates } from './matrix/gates.ts';
import type { CaseRecord, GateResult, RunHeader, SuiteReport } from './record.ts';
import { hasUntoleratedFaults } from './run/gates.ts';
import type { VariantComparison, VariantHeader, VariantReport } from './run/stats-record.ts';
import { newTotalsTally, totalsState } from './run/totals.ts';
import { combine, type Mergeable } from './stats/mergeable.ts';
import { newStatsAccumulator, statsState } from './stats/stats-accumulator.ts';

/** Adds up the cases of each variant separately, in bounded memory. */
interface VariantTallies extends Mergeable<VariantsState> {
  /** The cases of a row must be consecutive. Add all of them before taking a state. */
  addCase(record: CaseRecord): void;
  addProblem(variant: string): void;
  /** Pass no gates for an unfinished run. With `keepGoing`, invalid rows do not fail a variant. */
  report(options: { readonly gates: readonly Gate[]; readonly keepGoing: boolean }): MatrixReport;
}

export type MatrixReport = Required<Pick<SuiteReport, 'variants' | 'comparisons' | 'gates'>>;

type VariantsState = TypeOf<typeof variantsState>;

const comparisonState = members({
  ...{ a: text, b: text, cases: pairTallyState },
  evals: listOf(members({ id: text, pairs: pairTallyState })),
});

export const variantsState = members({
  variants: listOf(
    members({ name: text, cases: number, problems: number, stats: statsState, totals: totalsState }),
  ),
  comparisons: listOf(comparisonState),
});

export function newVariantTallies(
  header: Pick<RunHeader, 'evals' | 'epochs' | 'variants'>,
  gates: readonly Gate[],
): VariantTallies | undefined {
  if (header.variants === undefined) return undefined;
  const tallies = new Map(header.variants.map((variant) => [variant.name, newVariantTally(variant, header)]));
  const comparisons = newComparisonTally(header, gates);
  return {
    addCase(record) {
      tallies.get(record.variant ?? '')?.addCase(record);
      comparisons.add(record);
    },
    addProblem: (variant) => tallies.get(variant)?.addProblem(),
    report({ gates: asked, keepGoing }) {
      const unjudged = [...tallies.values()].map((tally) => tally.report());
      const compared = comparisons.comparisons();
      const judged = judgeMatrixGates(asked, {
        variants: unjudged.map((report) => ({ ...report, exactly: tallies.get(report.name)?.exactly })),
        comparisons: compared,
      });
      const statusOf = (report: (typeof unjudged)[number], own: readonly GateResult[]) => {
        const { cases, problem_count: problems, overall, evals } = report;
        if (cases === 0 || (problems > 0 && !keepGoing) || hasUntoleratedFaults(evals, own)) return 'error';
        const isGood = asked.length > 0 ? own.every((gate) => gate.passed) : overall.passed === cases;
        return isGood ? 'passed' : 'failed';
      };
      const variants = unjudged.map(({ name, ...report }): VariantReport => {
        const own = judged.filter(({ variant }) => variant === name);
        return { name, ...report, status: statusOf({ name, ...report }, own) };
      });
      return { variants, comparisons: compared, gates: judged };
    },
    state: () => ({
      variants: [...tallies].map(([name, tally]) => ({ name, ...tally.state() })),
      comparisons: comparisons.state(),
    }),
    merge(other) {
      for (const { name, ...state } of other.variants) tallies.get(name)?.merge(state);
      comparisons.merge(other.comparisons);
    },
  };
}

function newVariantTally(variant: VariantHeader, { evals, epochs }: Pick<RunHeader, 'evals' | 'epochs'>) {
  const [stats, totals] = [newStatsAccumulator(evals, epochs), newTotalsTally()];
  const parts = combine({ stats, totals });
  let [cases, problems] = [0, 0];
  return {
    addCase(record: CaseRecord): void {
      cases += 1;
      stats.add(record);
      totals.add(record);
    },
    addProblem(): void {
      problems += 1;
    },
    report(): Omit<VariantReport, 'status'> {
      const taken = totals.totals();
      return {
        ...{ ...variant, cases, problem_count: problems, overall: stats.overall(), evals: stats.stats() },
        ...(taken && { totals: taken }),
      };
    },
    exactly: (gate: Gate) => ({ ...stats.exactly(gate), ...totals.exactly() }),
    state: () => ({ cases, problems, ...parts.state() }),
    merge(other: Omit<VariantsState['variants'][number], 'name'>): void {
      cases += other.cases;
      problems += other.problems;
      parts.merge(other);
    },
  };
}

/**
 * Compares every other variant with the first, and the pairs that gates compare. Holds only the cases of one row in
 * memory.
 */
function newComparisonTally(
  { evals, variants = [] }: Pick<RunHeader, 'evals' | 'variants'>,
  gates: readonly Gate[],
) {
  const keys: ResultKey[] = [undefined, ...evals.map(({ id }) => id)];
  const read = outcomeReader({ evals });
  const pairs = pairsOf(variants, gates).map(([a, b]) => {
    const tallies = new Map(keys.map((key) => [key, newPairTally()]));
    return { a, b, tallies, of: (key: ResultKey): PairTally => tallies.get(key) ?? newPairTally() };
  });
  let row: number | undefined;
  const waiting = new Map<string, ReadonlyMap<ResultKey, SideOutcome | undefined>>();
  const compareRow = (): void => {
    for (const { a, b, tallies } of pairs) {
      for (const [key, tally] of tallies) tally.add(waiting.get(a)?.get(key), waiting.get(b)?.get(key));
    }
    waiting.clear();
  };
  return {
    add(record: CaseRecord): void {
      if (record.variant === undefined) return;
      if (record.number !== row) compareRow();
      row = record.number;
      waiting.set(record.variant, new Map(keys.map((key) => [key, read(record, key)])));
    },
    comparisons(): VariantComparison[] {
      compareRow();
      return pairs.map(({ a, b, of }) => ({
        ...{ a, b, cases: of(undefined).difference() },
        evals: Object.fromEntries(evals.map(({ id }) => [id, of(id).difference()])),
      }));
    },
    state(): VariantsState['comparisons'] {
      compareRow();
      return pairs.map(({ a, b, of }) => ({
        ...{ a, b, cases: of(undefined).state() },
        evals: evals.map(({ id }) => ({ id, pairs: of(id).state() })),
      }));
    },
    merge(others: VariantsState['comparisons']): void {
      for (const { a, b, of } of pairs) {
        const other = others.find((each) => each.a === a && each.b === b);
        if (other === undefined) continue;
        of(undefined).merge(other.cases);
        for (const { id, pairs: more } of other.evals) of(id).merge(more);
      }
    },
  };
}

function pairsOf(variants: readonly VariantHeader[], gates: readonly Gate[]): [a: string, b: string][] {
  const names = variants.map(({ name }) => name);
  const [first] = names;
  const asked = gates.flatMap(({ betterThan, variants: held = names }) =>
    betterThan === undefined ? [] : held.map((name) => [betterThan, name] as const),
  );
  const all = [...(first === undefined ? [] : names.map((name) => [first, name] as const)), ...asked];
  const unique = new Map(all.filter(([a, b]) => a !== b).map(([a, b]) => [JSON.stringify([a, b]), [a, b]]));
  return [...unique.values()].flatMap(([a, b]) => (a === undefined || b === undefined ? [] : [[a, b]]));
}
