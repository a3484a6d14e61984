import { RuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { VariantHeader } from '../run/stats-record.ts';

/** Throws NAME_UNKNOWN, with the name that was probably meant, for a variant that a run does not have. */
export function requireKnownVariant(variants: readonly Pick<VariantHeader, 'name'>[], wanted: string): void {
  const known = variants.map(({ name }) => name);
  if (known.includes(wanted)) return;
  throw new RuntimeError(
    'NAME_UNKNOWN',
    `the run has no variant "${wanted}"`,
    suggest(wanted, known, 'variants'),
  );
}
