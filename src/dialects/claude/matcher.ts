import { compileInclusivePattern } from '../../text/safe-pattern.ts';
import { eventRules } from './points.ts';

/** Whether a matcher matches; absent, empty and `*` match everything. Source: hooks reference, "Matcher patterns". */
export function matches(event: string, matcher: string | undefined, value: string): boolean {
  if (matcher === undefined || matcher.trim() === '' || matcher === '*') return true;
  if (isNameList(event, matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === value);
  return compileInclusivePattern(matcher)?.test(value) ?? true;
}

/**
 * The fault of a matcher, as the end of a sentence; undefined when it compiles, or the event ignores
 * matchers.
 */
export function findMatcherFault(event: string, matcher: string): string | undefined {
  const isPattern =
    eventRules[event]?.matcher !== undefined && matcher !== '*' && !isNameList(event, matcher);
  if (!isPattern || compileInclusivePattern(matcher) !== undefined) return undefined;
  return `the matcher ${JSON.stringify(matcher)} is no regular expression`;
}

/** Names, as opposed to a regular expression. */
function isNameList(event: string, matcher: string): boolean {
  const isNarrow = event === 'FileChanged' || event === 'StopFailure';
  return (isNarrow ? /^[A-Za-z0-9_|]*$/ : /^[A-Za-z0-9_\- ,|]*$/).test(matcher);
}
