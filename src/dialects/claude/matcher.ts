import { compileGuard } from '../../text/safe-pattern.ts';
import { eventRules } from './points.ts';

/** Whether a matcher matches; absent, empty and `*` match everything. Source: hooks reference, "Matcher patterns". */
export function matches(event: string, matcher: string | undefined, value: string): boolean {
  if (matcher === undefined || matcher.trim() === '' || matcher === '*') return true;
  if (isList(event, matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === value);
  return compileGuard(matcher)?.test(value) ?? true;
}

/** What is wrong with a matcher, as the end of a sentence; undefined when it compiles, or nobody looks at it. */
export function findMatcherFault(event: string, matcher: string): string | undefined {
  const isPattern = eventRules[event]?.matcher !== undefined && matcher !== '*' && !isList(event, matcher);
  if (!isPattern || compileGuard(matcher) !== undefined) return undefined;
  return `the matcher ${JSON.stringify(matcher)} is no regular expression`;
}

/** Names, as opposed to a regular expression. */
function isList(event: string, matcher: string): boolean {
  const isNarrow = event === 'FileChanged' || event === 'StopFailure';
  return (isNarrow ? /^[A-Za-z0-9_|]*$/ : /^[A-Za-z0-9_\- ,|]*$/).test(matcher);
}
