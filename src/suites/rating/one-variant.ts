import { requireKnownVariant } from '../matrix/known-variant.ts';
import type { RunSource } from '../record.ts';

/**
 * The run with the cases of that variant alone, and what people said of them, as a run without variants; one that has none is itself.
 * Throws NAME_UNKNOWN for a variant that the run does not have.
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
