import { hashText } from './hash.ts';
import type { CaseCandidate, Selection, Stage } from './selection.ts';

/**
 * Takes a sample: the cases that draw the lowest lots, in the order of the dataset. A lot comes from the seed and the id
 * of its case, so that a case that is added to the dataset takes the place of one other at most. The sample comes when
 * the source has ended; rows that are no cases pass at once. No more than twice its size is held.
 */
export function takeSample({ size, seed }: NonNullable<Selection['sample']>): Stage {
  return async function* (candidates) {
    let drawn: Drawn[] = [];
    for await (const candidate of candidates) {
      if ('problem' in candidate) {
        yield candidate;
        continue;
      }
      drawn.push({ lot: hashText(`${seed}\n${candidate.id}`), candidate });
      if (drawn.length === size * 2) drawn = lowest(drawn, size);
    }
    yield* lowest(drawn, size)
      .map(({ candidate }) => candidate)
      .toSorted((one, other) => one.row.number - other.row.number);
  };
}

interface Drawn {
  readonly lot: number;
  readonly candidate: CaseCandidate;
}

function lowest(drawn: readonly Drawn[], size: number): Drawn[] {
  const byLot = (one: Drawn, other: Drawn): number =>
    one.lot - other.lot || one.candidate.row.number - other.candidate.row.number;
  return drawn.toSorted(byLot).slice(0, size);
}
