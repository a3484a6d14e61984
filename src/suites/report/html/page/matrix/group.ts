import type { Data, Entry, Outcome } from '../data.ts';

/** Of a matrix the cases of each row as one entry, which is as good as the worst of them. */
export function groupByRow(data: Data): Data {
  const { variants } = data.header;
  return variants === undefined ? data : { ...data, entries: groupsOf(data.entries, variants.length) };
}

function groupsOf(entries: readonly Entry[], variants: number): Entry[] {
  const rows: Map<number, Entry[]> = new Map();
  for (const entry of entries) {
    const row = rows.get(entry.number);
    if (row === undefined) rows.set(entry.number, [entry]);
    else row.push(entry);
  }
  return [...rows.values()].flatMap((row) => toGroup(row, variants));
}

function toGroup(row: readonly Entry[], variants: number): Entry[] {
  const [first] = row;
  if (first === undefined) return [];
  const failed = row.find(({ passed }) => !passed);
  return [
    {
      ...first,
      variant: -1,
      variants: row,
      // A variant that could not use the row has not passed.
      passed: failed === undefined && row.length === variants,
      flaky: row.some(({ flaky }) => flaky),
      score: lowest(row.map(({ score }) => score)),
      results: worstOf(row),
      why: failed?.why ?? '',
      detail: null,
    },
  ];
}

function lowest(scores: readonly (number | null)[]) {
  const known = scores.flatMap((score) => (score === null ? [] : [score]));
  return known.length < scores.length || known.length === 0 ? null : Math.min(...known);
}

function worstOf(row: readonly Entry[]): Map<number, Outcome> {
  const places = new Set(row.flatMap(({ results }) => [...results.keys()]));
  return new Map(
    [...places].map((place) => {
      const outcomes = row.flatMap(({ results }) => results.get(place) ?? []);
      return [
        place,
        {
          score: lowest(outcomes.map(({ score }) => score)),
          passed: outcomes.every(({ passed }) => passed),
          flaky: outcomes.some(({ flaky }) => flaky),
        },
      ];
    }),
  );
}

/** The name of the variant whose case it is; undefined outside a matrix. */
export function variantOf({ header }: Data, { variant }: Entry) {
  return header.variants?.[variant]?.name;
}

/** Whether the variants came to something else: by the eval at that place, or as wholes (-1). */
export function isDifferent({ variants }: Entry, place: number) {
  const outcomes = variants.map((entry) => (place === -1 ? entry : entry.results.get(place)));
  const [first] = outcomes;
  return outcomes.some((each) => each?.passed !== first?.passed || each?.score !== first?.score);
}
