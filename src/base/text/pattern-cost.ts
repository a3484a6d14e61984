/** Whether a match on any text of that many UTF-16 units is quick. */
export type IsQuick = (length: number) => boolean;

/**
 * What a pattern of JavaScript's may cost. All that a match chooses is where it starts, how often it takes each quantified
 * part, and which alternative it tries. So without repeated groups, with n characters, q quantifiers that know no end and a
 * pattern of p characters, there are no more than (n + 1)^(q + 1) * p steps, times what the bounded quantifiers and the
 * alternatives allow. A pattern that repeats a group, or refers back to one, is never said to be quick.
 */
export function estimateCost(source: string, flags = ''): IsQuick {
  const isReferring = /\\(?:[1-9]|k<)/.test(source);
  const bare = maskLiterals(source).replaceAll(/\((?=\?)\?(?:<?[=!]|:|<\w+>)/g, '(');
  if (isReferring || /\)(?:[*+]|\{)/.test(bare)) return () => false;
  const ends = bare.match(/[*+]|\{\d*,\}/g)?.length ?? 0;
  const starts = /^\^[^|]*$/.test(bare) && !flags.includes('m') ? 0 : 1;
  const choices = countChoices(bare);
  return (length) => (length + 1) ** (ends + starts) * choices * source.length <= STEPS;
}

/**
 * The pattern with an `x` for each escape and each class, so that all remaining special characters are
 * operators.
 */
export function maskLiterals(source: string): string {
  return source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gsu, 'x');
}

/** What a bounded quantifier or an alternative multiplies the ways of a match by. */
function countChoices(bare: string): number {
  const either = 2 ** (bare.match(/[?|]/g)?.length ?? 0);
  const spans = [...bare.matchAll(/\{(\d+),(\d+)\}/g)].map(
    ([, least, most]) => Number(most) - Number(least) + 1,
  );
  return spans.reduce((product, span) => product * Math.max(span, 1), either);
}

/** Some ten milliseconds. */
const STEPS = 10_000_000;
