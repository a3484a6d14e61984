import { RuntimeError } from '../../errors.ts';

export type IdKind = 'run' | 'pending';

/** Fewer characters name nothing: what was meant by two letters is a guess. */
const SHORTEST = 4;

/** Whether `given` is this id or begins it, with or without the word in front. */
export function matchesId(id: string, given: string, kind: IdKind): boolean {
  if (id === given) return true;
  const word = `${kind}_`;
  const begin = given.startsWith(word) ? given : `${word}${given}`;
  return begin.length >= word.length + SHORTEST && id.startsWith(begin);
}

/**
 * The one id among the known ones that is meant; what nothing matches is given back as it is, for whoever looks
 * it up to say so. Throws USAGE when several match.
 */
export async function completeId(
  given: string,
  kind: IdKind,
  list: () => Promise<readonly string[]>,
): Promise<string> {
  if (isWhole(given, kind)) return given;
  const matching = (await list()).filter((id) => matchesId(id, given, kind));
  if (matching.includes(given)) return given;
  const [first = given, second] = matching;
  if (second !== undefined) throw ambiguous(given, matching);
  return first;
}

export function ambiguous(given: string, matching: readonly string[]): RuntimeError {
  const some = matching.slice(0, 5).join(', ');
  return new RuntimeError(
    'USAGE',
    `"${given}" begins several ids: ${some}${matching.length > 5 ? ', …' : ''}`,
    {
      hint: 'Give more of it.',
    },
  );
}

/** Ids as Signalbox makes them are looked up at once. */
function isWhole(given: string, kind: IdKind): boolean {
  return new RegExp(`^${kind}_[\\da-f]{16}$`).test(given);
}
