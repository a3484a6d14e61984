import { RuntimeError } from '../../errors.ts';
import { suggest } from '../../yaml/suggest.ts';
import type { RunSource } from '../run/record.ts';

/**
 * The run with the cases of that variant alone, as a run without variants; one that has none is itself. Throws NAME_UNKNOWN
 * for a variant that the run does not have.
 */
export function onlyVariant(source: RunSource, name: string): RunSource {
  const { variants, ...header } = source.header;
  if (variants === undefined) return source;
  const known = variants.map((variant) => variant.name);
  if (!known.includes(name))
    throw new RuntimeError(
      'NAME_UNKNOWN',
      `the run has no variant "${name}"`,
      suggest(name, known, 'variants'),
    );
  return {
    ...source,
    header,
    async *cases(caseId?: string) {
      for await (const { variant, ...record } of source.cases(caseId)) if (variant === name) yield record;
    },
  };
}
