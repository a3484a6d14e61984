import { RuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { StoredResult } from '../../store/result-store.ts';
import type { RunHeader, RunSource } from '../record.ts';
import type { VariantHeader } from '../run/stats-record.ts';
import { variantAmong } from '../variants.ts';

/** Throws USAGE unless a variant is given exactly for a matrix run. Throws NAME_UNKNOWN for an unknown variant. */
export function requireVariant(
  { run_id: id, variants }: Pick<RunHeader, 'run_id' | 'variants'>,
  wanted: string | undefined,
): void {
  if (variants === undefined) {
    if (wanted === undefined) return;
    const message = `run ${id} has no variants, so "${wanted}" cannot be selected`;
    throw new RuntimeError('USAGE', message, { hint: 'Leave --variant out.' });
  }
  if (wanted === undefined) {
    const names = variants.map(({ name }) => name).join(', ');
    const message = `run ${id} has several variants: choose one`;
    throw new RuntimeError('USAGE', message, { hint: `Choose one with --variant: ${names}.` });
  }
  requireKnownVariant(variants, wanted);
}

export function isOfVariant(
  { number }: Pick<StoredResult, 'number'>,
  { variants }: Pick<RunHeader, 'variants'>,
  wanted: string | undefined,
): boolean {
  return variants?.[variantAmong(number, variants.length)]?.name === wanted;
}

function requireKnownVariant(variants: readonly Pick<VariantHeader, 'name'>[], wanted: string): void {
  const known = variants.map(({ name }) => name);
  if (known.includes(wanted)) return;
  throw new RuntimeError(
    'NAME_UNKNOWN',
    `the run has no variant "${wanted}"`,
    suggest(wanted, known, 'variants'),
  );
}

/**
 * Returns a run with only the cases and ratings of a variant, as a run without variants. Returns a run without variants
 * unchanged. Throws NAME_UNKNOWN for an unknown variant.
 */
export function onlyVariant(source: RunSource, name: string): RunSource {
  const { variants, ...header } = source.header;
  if (variants === undefined) return source;
  requireKnownVariant(variants, name);
  return {
    ...source,
    header,
    cases: (caseId) => itsOwn(source.cases(caseId), name),
    ratings: (caseId) => itsOwn(source.ratings?.(caseId) ?? [], name),
  };
}

async function* itsOwn<Item extends { readonly variant?: string }>(
  items: AsyncIterable<Item> | readonly Item[],
  name: string,
): AsyncGenerator<Omit<Item, 'variant'>> {
  for await (const { variant, ...item } of items) if (variant === name) yield item;
}
