import { listOf, members, number, type Shape, text } from '../base/json/shape.ts';
import { newPairTally, type PairTally, type PairTallyState, pairTallyState } from './compare/pair-tally.ts';
import { outcomeReader, type ResultKey, type SideOutcome } from './compare/side.ts';
import type { Gate } from './file/model.ts';
import { judgeMatrixGates } from './matrix/gates.ts';
import type { CaseRecord, GateResult, RunHeader, SuiteReport } from './record.ts';
import { hasUntoleratedFaults } from './run/gates.ts';
import type { VariantComparison, VariantHeader, VariantReport } from './run/stats-record.ts';
import { newTotalsTally, type TotalsState, totalsState } from './run/totals.ts';
import type { Mergeable } from './stats/mergeable.ts';
import { newStatsAccumulator, type StatsState, statsState } from './stats/stats-accumulator.ts';

/** Compares variants case by case while a run goes on, holding no more than the cases of one row. */
interface ComparisonTally extends Mergeable<readonly ComparisonState[]> {
  /** Cases of one row come one after another, and all of them before a state is taken. */
  add(record: CaseRecord): void;
  comparisons(): VariantComparison[];
}

interface ComparisonState {
  readonly a: string;
  readonly b: string;
  readonly cases: PairTallyState;
  readonly evals: readonly { readonly id: string; readonly pairs: PairTallyState }[];
}

const comparisonState: Shape<ComparisonState> = members<ComparisonState>({
  ...{ a: text, b: text, cases: pairTallyState },
  evals: listOf(members({ id: text, pairs: pairTallyState })),
});

/** What is compared, A with B. */
interface Pair {
  readonly a: string;
  readonly b: string;
  readonly tallies: ReadonlyMap<ResultKey, PairTally>;
}

/** Every other variant is compared with the first, and besides, what the gates compare. */
function newComparisonTally(
  { evals, variants = [] }: Pick<RunHeader, 'evals' | 'variants'>,
  gates: readonly Gate[],
): ComparisonTally {
  const keys: ResultKey[] = [undefined, ...evals.map(({ id }) => id)];
  const read = outcomeReader({ evals });
  const pairs = pairsOf(variants, gates).map(([a, b]): Pair => {
    return { a, b, tallies: new Map(keys.map((key) => [key, newPairTally()])) };
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
    add(record) {
      if (record.variant === undefined) return;
      if (record.number !== row) compareRow();
      row = record.number;
      waiting.set(record.variant, new Map(keys.map((key) => [key, read(record, key)])));
    },
    comparisons() {
      compareRow();
      return pairs.map(({ a, b, tallies }) => ({
        ...{ a, b },
        cases: tallyOf(tallies, undefined).difference(),
        evals: Object.fromEntries(evals.map(({ id }) => [id, tallyOf(tallies, id).difference()])),
      }));
    },
    state() {
      compareRow();
      return pairs.map(({ a, b, tallies }) => ({
        ...{ a, b },
        cases: tallyOf(tallies, undefined).state(),
        evals: evals.map(({ id }) => ({ id, pairs: tallyOf(tallies, id).state() })),
      }));
    },
    merge(others) {
      for (const { a, b, tallies } of pairs) {
        const other = others.find((each) => each.a === a && each.b === b);
        if (other === undefined) continue;
        tallyOf(tallies, undefined).merge(other.cases);
        for (const { id, pairs: more } of other.evals) tallyOf(tallies, id).merge(more);
      }
    },
  };
}

function tallyOf(tallies: Pair['tallies'], key: ResultKey): PairTally {
  return tallies.get(key) ?? newPairTally();
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

/** Adds up the cases of each variant of a matrix, apart from those of the others, in bounded memory. */
interface VariantTallies extends Mergeable<VariantsState> {
  /** Cases of one row come one after another, and all of them before a state is taken. */
  addCase(record: CaseRecord): void;
  /** Counts a row that the variant could not use. */
  addProblem(variant: string): void;
  report(options: VariantReportOptions): MatrixReport;
}

export interface VariantsState {
  readonly variants: readonly VariantState[];
  readonly comparisons: readonly ComparisonState[];
}

interface VariantState {
  readonly name: string;
  readonly cases: number;
  readonly problems: number;
  readonly stats: StatsState;
  readonly totals: TotalsState;
}

export const variantsState: Shape<VariantsState> = members<VariantsState>({
  variants: listOf(
    members<VariantState>({
      ...{ name: text, cases: number, problems: number, stats: statsState, totals: totalsState },
    }),
  ),
  comparisons: listOf(comparisonState),
});

interface VariantReportOptions {
  /** None of a run that did not come to its end. */
  readonly gates: readonly Gate[];
  /** Rows that cannot be used do not fail a variant. */
  readonly keepGoing: boolean;
}

export type MatrixReport = Required<Pick<SuiteReport, 'variants' | 'comparisons' | 'gates'>>;

/** Undefined where the run is no matrix. */
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
      const isGated = asked.length > 0;
      const variants = unjudged.map(({ name, ...report }) => {
        const own = judged.filter(({ variant }) => variant === name);
        return { name, ...report, status: statusOf(report, { own, isGated, keepGoing }) };
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

type UnjudgedReport = Omit<VariantReport, 'status'>;

interface Judgement {
  /** The gates that are about this variant. */
  readonly own: readonly GateResult[];
  readonly isGated: boolean;
  readonly keepGoing: boolean;
}

function statusOf(
  { cases, problem_count: problems, overall, evals }: Omit<UnjudgedReport, 'name'>,
  { own, isGated, keepGoing }: Judgement,
): VariantReport['status'] {
  if (cases === 0 || (problems > 0 && !keepGoing) || hasUntoleratedFaults(evals, own)) return 'error';
  const isGood = isGated ? own.every((gate) => gate.passed) : overall.passed === cases;
  return isGood ? 'passed' : 'failed';
}

function newVariantTally(variant: VariantHeader, { evals, epochs }: Pick<RunHeader, 'evals' | 'epochs'>) {
  const stats = newStatsAccumulator(evals, epochs);
  const totals = newTotalsTally();
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
    report(): UnjudgedReport {
      const taken = totals.totals();
      return {
        ...variant,
        cases,
        problem_count: problems,
        overall: stats.overall(),
        evals: stats.stats(),
        ...(taken && { totals: taken }),
      };
    },
    exactly: (gate: Gate) => ({ ...stats.exactly(gate), ...totals.exactly() }),
    state: () => ({ cases, problems, stats: stats.state(), totals: totals.state() }),
    merge(other: Omit<VariantState, 'name'>): void {
      cases += other.cases;
      problems += other.problems;
      stats.merge(other.stats);
      totals.merge(other.totals);
    },
  };
}
