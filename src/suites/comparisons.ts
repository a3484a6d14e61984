import { listOf, members, type Shape, text } from '../base/json/shape.ts';
import { newPairTally, type PairTally, type PairTallyState, pairTallyState } from './compare/pair-tally.ts';
import { outcomeReader, type ResultKey, type SideOutcome } from './compare/side.ts';
import type { Gate } from './file/model.ts';
import type { CaseRecord, RunHeader } from './record.ts';
import type { VariantComparison, VariantHeader } from './run/variant-record.ts';
import type { Mergeable } from './stats/mergeable.ts';

/** Compares variants case by case while a run goes on, holding no more than the cases of one row. */
export interface ComparisonTally extends Mergeable<readonly ComparisonState[]> {
  /** Cases of one row come one after another, and all of them before a state is taken. */
  add(record: CaseRecord): void;
  comparisons(): VariantComparison[];
}

export interface ComparisonState {
  readonly a: string;
  readonly b: string;
  readonly cases: PairTallyState;
  readonly evals: readonly { readonly id: string; readonly pairs: PairTallyState }[];
}

export const comparisonState: Shape<ComparisonState> = members<ComparisonState>({
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
export function newComparisonTally(
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
