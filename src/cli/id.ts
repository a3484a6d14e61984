import { RuntimeError } from '../base/errors.ts';

export type IdKind = 'run' | 'pending';

const MIN_LENGTH = 4;

/** Whether `given` is this id or its prefix, with or without the kind's word. */
export function matchesId(id: string, given: string, kind: IdKind): boolean {
  if (id === given) return true;
  const word = `${kind}_`;
  const begin = given.startsWith(word) ? given : `${word}${given}`;
  return begin.length >= word.length + MIN_LENGTH && id.startsWith(begin);
}

/** Completes an id from its prefix; returns `given` if none matches. Throws USAGE if several match. */
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
    `several ids begin with "${given}": ${some}${matching.length > 5 ? ', …' : ''}`,
    {
      hint: 'Give more characters.',
    },
  );
}

/** Returns the shortest unique prefixes, of at least eight characters after the word. Chosen ids stay whole. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const sorted = [...new Set(ids)].toSorted();
  const short = new Map(
    sorted.map((id, at) => {
      const word = /^(?:[a-z]+_)?/.exec(id)?.[0] ?? '';
      const shared = [sorted[at - 1], sorted[at + 1]].map((other) => sharedLength(id, other ?? ''));
      return [id, id.slice(0, Math.max(word.length + SHORT_LENGTH, ...shared.map((length) => length + 1)))];
    }),
  );
  return (id) => (isMadeHere(id) ? (short.get(id) ?? id) : id);
}

const SHORT_LENGTH = 8;

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** Whether Signalbox generated the id: hexadecimal digits or a UUID. */
function isMadeHere(id: string): boolean {
  return /^(?:[a-z]+_)?[\da-f]{16,}$|^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id);
}

function isFullId(given: string, kind: IdKind): boolean {
  // The run of a call with an identity has twice as many digits.
  return new RegExp(`^${kind}_(?:[\\da-f]{16}){1,2}$`).test(given);
}
