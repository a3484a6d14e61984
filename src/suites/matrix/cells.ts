import { RuntimeError } from '../../base/errors.ts';
import type { Candidate } from '../select/select.ts';
import { mostMatrixCases, type VariantPlace } from '../variants.ts';

/** A row that is a case, of one variant where there are any. */
export type Cell = Candidate & { readonly variant?: VariantPlace };

/**
 * Every row once for each variant, one right after the other; a row that cannot be used comes once. Throws USAGE when there
 * are more cases than a matrix may have.
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

/** Throws USAGE when these are more cases than a matrix may have. */
export function requireFewCases(cases: number, variants: number): void {
  if (cases <= mostMatrixCases) return;
  const most = Math.floor(mostMatrixCases / variants);
  throw new RuntimeError(
    'USAGE',
    `${variants} variants may have ${most} rows, so that no more than ${mostMatrixCases} cases are asked for`,
    { hint: 'Judge a part of the rows, as with --max-cases or --sample, or run the variants one by one.' },
  );
}
