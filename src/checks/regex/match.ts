import { runBounded } from '../bounded/run.ts';
import { isQuick } from './cost.ts';
import { readPattern, testPattern } from './pattern.ts';

export { findPatternProblem } from './pattern.ts';

/** `timedOut` says so in a sentence: the reason of an unscored check. */
export type Match = { readonly matched: boolean } | { readonly timedOut: string };

/**
 * Whether the pattern is found in the text. Never holds up this thread: what might take long is done beside it, and
 * given up after a second. Throws SyntaxError of a pattern that `findPatternProblem` refuses, ABORTED and INTERNAL.
 */
export async function matchPattern(pattern: string, text: string, signal: AbortSignal): Promise<Match> {
  const read = readPattern(pattern);
  if (isQuick(read, text)) return { matched: testPattern(read, text) };
  const done = await runBounded('match', { pattern: read, text }, signal);
  return 'exceeded' in done ? { timedOut: `the pattern ${done.exceeded}` } : { matched: done.answer };
}
