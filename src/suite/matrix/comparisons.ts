import { newRowTally, type RowTally } from '../compare/row-tally.ts';
import { outcomeReader, type ResultKey, type SideOutcome } from '../compare/side.ts';
import type { Gate } from '../file/model.ts';
import type { CaseRecord, RunHeader } from '../run/record.ts';
import type { VariantComparison, VariantHeader } from '../run/variant-record.ts';

/** Compares variants case by case while a run goes on, holding no more than the cases of one row. */
export interface ComparisonTally {
  /** Cases of one row come one after another. */
  add(record: CaseRecord): void;
  comparisons(): VariantComparison[];
}

/** What is compared, A with B. */
interface Pair {
  readonly a: string;
  readonly b: string;
  readonly tallies: ReadonlyMap<ResultKey, RowTally>;
}

/** Every other variant is compared with the first, and besides, what the gates compare. */
export function newComparisonTally(
  { evals, variants = [] }: Pick<RunHeader, 'evals' | 'variants'>,
  gates: readonly Gate[],
): ComparisonTally {
  const keys: ResultKey[] = [undefined, ...evals.map(({ id }) => id)];
  const read = outcomeReader({ evals });
  const pairs = pairsOf(variants, gates).map(([a, b]): Pair => {
    return { a, b, tallies: new Map(keys.map((key) => [key, newRowTally()])) };
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
        cases: differenceOf(tallies, undefined),
        evals: Object.fromEntries(evals.map(({ id }) => [id, differenceOf(tallies, id)])),
      }));
    },
  };
}

function differenceOf(tallies: Pair['tallies'], key: ResultKey) {
  return (tallies.get(key) ?? newRowTally()).difference();
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
