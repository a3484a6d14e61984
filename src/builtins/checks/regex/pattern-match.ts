import { estimateCost, maskLiterals } from '../../../base/text/pattern-cost.ts';
import { runBounded } from '../bounded/run-bounded.ts';
import { type Pattern, readPattern, testPattern } from './pattern.ts';

export { findPatternProblem } from './pattern.ts';

/** `timedOut` is the reason why the match is unknown. */
export type MatchResult = { readonly matched: boolean } | { readonly timedOut: string };

/**
 * Searches the text for the pattern. Never blocks this thread: slow patterns run in the worker, for at most a second.
 * Throws ABORTED, INTERNAL, and SyntaxError for a pattern that `findPatternProblem` refuses.
 */
export async function matchPattern(pattern: string, text: string, signal: AbortSignal): Promise<MatchResult> {
  const read = readPattern(pattern);
  if (isQuick(read, text)) return { matched: testPattern(read, text) };
  const done = await runBounded('match', { pattern: read, text }, signal);
  return 'exceeded' in done ? { timedOut: `the pattern ${done.exceeded}` } : { matched: done.answer };
}

/** Whether the pattern has no groups and cannot take long on the text. */
export function isQuick({ source, flags }: Pattern, text: string): boolean {
  return !maskLiterals(source).includes('(') && estimateCost(source, flags)(text.length);
}
