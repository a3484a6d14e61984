import type { Pattern } from './pattern.ts';

/**
 * Whether the pattern cannot take long on the text. Without groups, all that a match chooses is where it starts and
 * how often it takes each quantified character. So for n characters, q quantifiers and a pattern of p characters
 * there are no more than (n + 1)^(q + 1) * p steps, however unlucky the text.
 */
export function isQuick({ source }: Pattern, text: string): boolean {
  const bare = source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gsu, 'x');
  if (bare.includes('(')) return false;
  const quantifiers = bare.match(/[*+?{]/g)?.length ?? 0;
  return (text.length + 1) ** (quantifiers + 1) * source.length <= STEPS;
}

/** Some ten milliseconds. */
const STEPS = 10_000_000;
