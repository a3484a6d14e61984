/** Whether a match on any text of that many UTF-16 units is quick. */
export type IsQuick = (length: number) => boolean;

/**
 * Estimates the cost of a JavaScript pattern. A match chooses its start, the repetitions of each quantified part, and
 * its alternatives. Without repeated groups, n characters, q unbounded quantifiers and a pattern of p characters give
 * at most (n + 1)^(q + 1) * p steps. Bounded quantifiers and alternatives multiply that number. A pattern that repeats
 * a group or refers back to one never counts as quick.
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

/** Replaces each escape and each class by `x`, so that the remaining special characters are operators. */
export function maskLiterals(source: string): string {
  return source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gsu, 'x');
}

function countChoices(bare: string): number {
  const either = 2 ** (bare.match(/[?|]/g)?.length ?? 0);
  const spans = [...bare.matchAll(/\{(\d+),(\d+)\}/g)].map(
    ([, least, most]) => Number(most) - Number(least) + 1,
  );
  return spans.reduce((product, span) => product * Math.max(span, 1), either);
}

const STEPS = 10_000_000;
