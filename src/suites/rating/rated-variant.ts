import { RuntimeError } from '../../base/errors.ts';
import type { StoredResult } from '../../store/result-store.ts';
import { requireKnownVariant } from '../matrix/known-variant.ts';
import type { RunHeader } from '../record.ts';
import { variantAmong } from '../variants.ts';

/** A case of a matrix is one of every variant. Throws USAGE where none is named, or one of a run that has none, NAME_UNKNOWN for another. */
export function requireVariant(
  { run_id: id, variants }: Pick<RunHeader, 'run_id' | 'variants'>,
  wanted: string | undefined,
): void {
  if (variants === undefined) {
    if (wanted === undefined) return;
    const message = `run ${id} has no variants, and "${wanted}" is named`;
    throw new RuntimeError('USAGE', message, { hint: 'Leave --variant out.' });
  }
  if (wanted === undefined) {
    const names = variants.map(({ name }) => name).join(', ');
    const message = `run ${id} has every case once for each of its variants, and none is named`;
    throw new RuntimeError('USAGE', message, { hint: `Name one with --variant: ${names}.` });
  }
  requireKnownVariant(variants, wanted);
}

/** Whether a record is of that variant; undefined: of the only subject that there is. */
export function isOfVariant(
  { number }: Pick<StoredResult, 'number'>,
  { variants }: Pick<RunHeader, 'variants'>,
  wanted: string | undefined,
): boolean {
  return variants?.[variantAmong(number, variants.length)]?.name === wanted;
}
