import { RuntimeError } from '../../errors.ts';

export type IdKind = 'run' | 'pending';

/** The least number of characters of a beginning of an id, without its prefix. */
const MIN_LENGTH = 4;

/** Whether `given` is this id or begins it, with or without the word in front. */
export function matchesId(id: string, given: string, kind: IdKind): boolean {
  if (id === given) return true;
  const word = `${kind}_`;
  const begin = given.startsWith(word) ? given : `${word}${given}`;
  return begin.length >= word.length + MIN_LENGTH && id.startsWith(begin);
}

/**
 * Completes the beginning of an id from the known ones. Returns `given` unchanged when none matches, so
 * that the lookup reports it. Throws USAGE when several match.
 */
export async function completeId(
  given: string,
  kind: IdKind,
  list: () => Promise<readonly string[]>,
): Promise<string> {
  if (isFullId(given, kind)) return given;
  const matching = (await list()).filter((id) => matchesId(id, given, kind));
  if (matching.includes(given)) return given;
  const [first = given, second] = matching;
  if (second !== undefined) throw ambiguousId(given, matching);
  return first;
}

export function ambiguousId(given: string, matching: readonly string[]): RuntimeError {
  const some = matching.slice(0, 5).join(', ');
  return new RuntimeError(
    'USAGE',
    `"${given}" begins several ids: ${some}${matching.length > 5 ? ', …' : ''}`,
    {
      hint: 'Give more of it.',
    },
  );
}

/** Whether this is a complete id, which needs no search. */
function isFullId(given: string, kind: IdKind): boolean {
  return new RegExp(`^${kind}_[\\da-f]{16}$`).test(given);
}
