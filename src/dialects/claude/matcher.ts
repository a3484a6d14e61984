import { compileInclusivePattern } from '../../base/text/safe-pattern.ts';
import { eventRules } from './points.ts';

/** An absent or empty matcher and `*` match everything. Source: hooks reference, "Matcher patterns". */
export function matches(event: string, matcher: string | undefined, value: string): boolean {
  if (matcher === undefined || matcher.trim() === '' || matcher === '*') return true;
  if (isNameList(event, matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === value);
  return compileInclusivePattern(matcher)?.test(value) ?? true;
}

/** The fault of a matcher, as the end of a sentence. Undefined if it compiles, or if the event ignores matchers. */
export function findMatcherFault(event: string, matcher: string): string | undefined {
  const isPattern =
    eventRules[event]?.matcher !== undefined && matcher !== '*' && !isNameList(event, matcher);
  if (!isPattern || compileInclusivePattern(matcher) !== undefined) return undefined;
  return `the matcher ${JSON.stringify(matcher)} is not a regular expression`;
}

function isNameList(event: string, matcher: string): boolean {
  const isNarrow = event === 'FileChanged' || event === 'StopFailure';
  return (isNarrow ? /^[A-Za-z0-9_|]*$/ : /^[A-Za-z0-9_\- ,|]*$/).test(matcher);
}

interface Rule {
  readonly tool: string;
  readonly pattern: string | undefined;
}

/** The fault of an `if`, as a sentence without its end. Undefined if it is one permission rule. */
export function findConditionFault(condition: string): string | undefined {
  if (parseRule(condition) !== undefined) return undefined;
  return `${JSON.stringify(condition)} is not a permission rule: write exactly one Tool or Tool(pattern)`;
}

export function parseRule(condition: string): Rule | undefined {
  const text = condition.trim();
  const open = text.indexOf('(');
  const tool = open === -1 ? text : text.slice(0, open);
  if (!/^[^\s(),&|;]+$/.test(tool)) return undefined;
  if (open === -1) return { tool, pattern: undefined };
  const pattern = text.slice(open + 1, -1);
  return text.endsWith(')') && isBalanced(pattern) ? { tool, pattern } : undefined;
}

function isBalanced(pattern: string): boolean {
  let depth = 0;
  for (let at = 0; at < pattern.length && depth >= 0; at++) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === '(') depth += 1;
    else if (pattern[at] === ')') depth -= 1;
  }
  return depth === 0;
}
