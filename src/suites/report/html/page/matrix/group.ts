import type { RunHeader } from '../../../../record.ts';
import type { Data, Entry, Outcome } from '../data.ts';

/**
 * Groups the cases of each row of a matrix into one entry with the worst result. `known`: entries of an earlier call,
 * which are reused where nothing was added.
 */
export function groupByRow(
  { variants }: RunHeader,
  entries: readonly Entry[],
  known: readonly Entry[] = [],
): readonly Entry[] {
  if (variants === undefined) return entries;
  const byNumber = new Map(known.map((entry) => [entry.number, entry]));
  return groupsOf(entries, variants.length).map((entry) => {
    const old = byNumber.get(entry.number);
    return old?.variants.length === entry.variants.length ? old : entry;
  });
}

function groupsOf(entries: readonly Entry[], variants: number): Entry[] {
  const rows = new Map<number, Entry[]>();
  for (const entry of entries) rows.set(entry.number, [...(rows.get(entry.number) ?? []), entry]);
  return [...rows.values()].flatMap((row): Entry[] => {
    const [first] = row;
    if (first === undefined) return [];
    const failed = row.find(({ passed }) => !passed);
    const places = new Set(row.flatMap(({ results }) => [...results.keys()]));
    const results = [...places].map((place): [number, Outcome] => {
      const outcomes = row.flatMap((entry) => entry.results.get(place) ?? []);
      return [place, worstOf(outcomes)];
    });
    return [
      {
        ...{ ...first, ...worstOf(row), variant: -1, variants: row, results: new Map(results) },
        // A variant that could not use the row counts as failed.
        passed: failed === undefined && row.length === variants,
        ...{ why: failed?.why ?? '', detail: null },
      },
    ];
  });
}

function worstOf(outcomes: readonly Outcome[]): Outcome {
  return {
    score: lowest(outcomes.map(({ score }) => score)),
    passed: outcomes.every(({ passed }) => passed),
    flaky: outcomes.some(({ flaky }) => flaky),
  };
}

function lowest(scores: readonly (number | null)[]) {
  const known = scores.flatMap((score) => (score === null ? [] : [score]));
  return known.length < scores.length || known.length === 0 ? null : Math.min(...known);
}

export function variantOf({ header }: Data, { variant }: Entry) {
  return header.variants?.[variant]?.name;
}

export function isDifferent({ variants }: Entry, place: number) {
  const outcomes = variants.map((entry) => (place === -1 ? entry : entry.results.get(place)));
  const [first] = outcomes;
  return outcomes.some((each) => each?.passed !== first?.passed || each?.score !== first?.score);
}
