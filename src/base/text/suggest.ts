import { distance } from 'fastest-levenshtein';

/** Suggests the nearest known word, else lists all under `title`, if given. */
export function suggest(word: string, known: readonly string[], title?: string): { hint?: string } {
  const nearest = findNearest(word, known);
  if (nearest !== undefined && nearest !== word) return { hint: `did you mean \`${nearest}\`?` };
  if (title === undefined || known.length === 0) return {};
  return { hint: `known ${title}: ${known.join(', ')}` };
}

/** At most a third of the letters may differ; an unambiguous prefix in either direction counts too. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const ranked = known
    .map((candidate) => ({ candidate, steps: countSteps(fold(word), fold(candidate)) }))
    .toSorted((a, b) => a.steps - b.steps);
  const best = ranked[0];
  const [longer, other] = known.filter((candidate) => fold(candidate).startsWith(fold(word)));
  if (longer !== undefined && other === undefined && fold(word).length >= MIN_PREFIX) return longer;
  if (best && best.steps <= Math.max(1, Math.floor(word.length / 3)) && best.steps < fold(word).length)
    return best.candidate;
  const shorter = known.filter((candidate) => isBeginning(fold(candidate), fold(word)));
  return shorter.length === 1 ? shorter[0] : undefined;
}

function isBeginning(short: string, long: string): boolean {
  return short.length >= 3 && long.startsWith(short);
}

const MIN_PREFIX = 4;

const MAX_LENGTH = 200;

/** A transposition counts as one step. */
function countSteps(word: string, candidate: string): number {
  const steps = distance(word, candidate);
  return steps === 2 && sortLetters(word) === sortLetters(candidate) ? 1 : steps;
}

function sortLetters(word: string): string {
  return [...word].toSorted().join('');
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}
