import { hashText } from './hash.ts';
import type { CaseCandidate, Selection, SelectionStage } from './selection.ts';

/**
 * Takes a sample: the cases whose ids, hashed with the seed, rank lowest, in the order of the dataset. A
 * case that is added to the dataset changes the sample by one case at most. The sample comes when the
 * source has ended; rows that cannot be used pass at once. Holds at most twice its size.
 */
export function takeSample({ size, seed }: NonNullable<Selection['sample']>): SelectionStage {
  return async function* (candidates) {
    let ranked: RankedCase[] = [];
    for await (const candidate of candidates) {
      if ('problem' in candidate) {
        yield candidate;
        continue;
      }
      ranked.push({ rank: hashText(`${seed}\n${candidate.id}`), candidate });
      if (ranked.length === size * 2) ranked = lowest(ranked, size);
    }
    yield* lowest(ranked, size)
      .map(({ candidate }) => candidate)
      .toSorted((one, other) => one.row.number - other.row.number);
  };
}

interface RankedCase {
  readonly rank: number;
  readonly candidate: CaseCandidate;
}

function lowest(ranked: readonly RankedCase[], size: number): RankedCase[] {
  const byRank = (one: RankedCase, other: RankedCase): number =>
    one.rank - other.rank || one.candidate.row.number - other.candidate.row.number;
  return ranked.toSorted(byRank).slice(0, size);
}
