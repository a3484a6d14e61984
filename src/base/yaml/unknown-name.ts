import { RuntimeError } from '../errors.ts';
import { suggest } from '../text/suggest.ts';

/** Throws NAME_UNKNOWN, with the name that was probably meant. */
export function unknownName(
  what: 'tool' | 'eval' | 'provider',
  name: string,
  known: Iterable<string>,
): never {
  const hint = suggest(name, [...known], `${what}s`);
  throw new RuntimeError('NAME_UNKNOWN', `there is no ${what} "${name}"`, hint);
}
