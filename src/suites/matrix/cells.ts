import { RuntimeError } from '../../base/errors.ts';
import type { Candidate } from '../select/select.ts';
import { mostMatrixCases, type VariantPlace } from '../variants.ts';

export type Cell = Candidate & { readonly variant?: VariantPlace };

/**
 * Yields every row once per variant, in succession; an invalid row once. Throws USAGE if a matrix has too many cases.
 */
export async function* toCells(
  candidates: AsyncIterable<Candidate>,
  places: readonly VariantPlace[] | undefined,
): AsyncGenerator<Cell> {
  let cases = 0;
  for await (const candidate of candidates) {
    if (places === undefined || 'problem' in candidate) {
      yield candidate;
      continue;
    }
    cases += places.length;
    requireFewCases(cases, places.length);
    for (const variant of places) yield { ...candidate, variant };
  }
}

export function requireFewCases(cases: number, variants: number): void {
  if (cases <= mostMatrixCases) return;
  const most = Math.floor(mostMatrixCases / variants);
  throw new RuntimeError(
    'USAGE',
    `${variants} variants may have at most ${most} rows, because a run may have at most ${mostMatrixCases} cases`,
    {
      hint: 'Judge some of the rows, for example with --max-cases or --sample, or run the variants one by one.',
    },
  );
}
