import { estimateCost, maskLiterals } from '../../../base/text/pattern-cost.ts';
import { runBounded } from '../bounded/run-bounded.ts';
import { type Pattern, readPattern, testPattern } from './pattern.ts';

export { findPatternProblem } from './pattern.ts';

/** Whether the pattern matched; or, as `timedOut`, the reason why that is not known. */
export type MatchResult = { readonly matched: boolean } | { readonly timedOut: string };

/**
 * Whether the pattern is found in the text. Never blocks this thread: what might take long runs in the worker
 * and is ended after a second. Throws SyntaxError of a pattern that `findPatternProblem` refuses, ABORTED and
 * INTERNAL.
 */
export async function matchPattern(pattern: string, text: string, signal: AbortSignal): Promise<MatchResult> {
  const read = readPattern(pattern);
  if (isQuick(read, text)) return { matched: testPattern(read, text) };
  const done = await runBounded('match', { pattern: read, text }, signal);
  return 'exceeded' in done ? { timedOut: `the pattern ${done.exceeded}` } : { matched: done.answer };
}

/** Whether the pattern has no groups, and cannot take long on the text. */
export function isQuick({ source, flags }: Pattern, text: string): boolean {
  return !maskLiterals(source).includes('(') && estimateCost(source, flags)(text.length);
}
