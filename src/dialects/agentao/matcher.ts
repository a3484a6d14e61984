import { compileInclusivePattern } from '../../base/text/safe-pattern.ts';

interface MatcherFault {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

type Matcher = Readonly<Record<string, unknown>>;

/** The matcher keys that each event reads. Other keys are ignored, and so is a matcher without any of these. */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  PreToolUse: ['tool_name', 'toolName'],
  PostToolUse: ['tool_name', 'toolName'],
  PostToolUseFailure: ['tool_name', 'toolName'],
  PreCompact: ['trigger'],
};

/** Agentao compares a `toolName` pattern with the empty string at these events. */
const eventsWithoutTool: readonly string[] = ['SessionStart', 'SessionEnd'];

export function matches(event: string, matcher: Matcher | undefined, given: readonly string[]): boolean {
  const isToolless = eventsWithoutTool.includes(event);
  const keys = isToolless ? ['toolName'] : (keysOf[event] ?? []);
  const names = isToolless ? [''] : given;
  const isTrigger = event === 'PreCompact';
  return keys.every((key) => {
    const pattern = matcher !== undefined && Object.hasOwn(matcher, key) ? matcher[key] : null;
    if (pattern === null) return true;
    if (typeof pattern !== 'string') return false;
    return names.some(
      (name) => matchesPattern(pattern, name) || (isTrigger && matchesTrigger(pattern, name)),
    );
  });
}

export function findMatcherFaults(event: string, matcher: Matcher): readonly MatcherFault[] {
  const keys = keysOf[event];
  if (keys === undefined) {
    const runs = matches(event, matcher, [])
      ? 'the rule runs every time'
      : 'with this one the rule never runs';
    return [{ severity: 'warning', message: `a matcher has no effect on ${event}: ${runs}` }];
  }
  return Object.entries(matcher).flatMap(([key, pattern]): MatcherFault[] => {
    if (!keys.includes(key)) {
      const message = `the matcher's key "${key}" is ignored on ${event}, which is matched by ${keys.join(' or ')}`;
      return [{ severity: 'warning', message }];
    }
    if (pattern === null) return [];
    if (typeof pattern !== 'string') {
      const message = `the matcher's "${key}" is not a string, so the rule never runs`;
      return [{ severity: 'warning', message }];
    }
    if (!isExpression(pattern) || compileInclusivePattern(pattern) !== undefined) return [];
    const message = `the matcher's "${key}" is not a regular expression: ${pattern}`;
    return [{ severity: 'error', message }];
  });
}

function isExpression(pattern: string): boolean {
  return pattern.startsWith('^') && pattern.endsWith('$');
}

/** `^…$` is a regular expression, any other pattern a glob of the whole name. An invalid pattern matches. */
function matchesPattern(pattern: string, name: string): boolean {
  if (isExpression(pattern)) return compileInclusivePattern(pattern)?.test(name) ?? true;
  return (
    (compileInclusivePattern(globToExpression(pattern), 'su')?.test(name) ?? true) ||
    matchesAgentaoGlob(pattern, name)
  );
}

/** Agentao's glob: around a single star the ends may overlap; with several stars, `[…]` is a character class. */
function matchesAgentaoGlob(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  const [first = '', second = ''] = parts;
  if (parts.length === 2) return name.startsWith(first) && name.endsWith(second);
  return (
    parts.length > 2 && (compileInclusivePattern(globToExpression(pattern, true), 'su')?.test(name) ?? false)
  );
}

/** A trigger's pattern is also a regular expression for the whole word. An invalid one is compared as text. */
function matchesTrigger(pattern: string, trigger: string): boolean {
  return compileInclusivePattern(`^(?:${pattern})$`)?.test(trigger) ?? pattern === trigger;
}

/** The first character after `[` or `[!` belongs to the class: `[]a]` holds two characters. */
const characterClass = /(\[!?\][^\]]*\]|\[!?[^\]]+\])/;

function globToExpression(glob: string, hasClasses = false): string {
  const parts = hasClasses ? glob.split(characterClass) : [glob];
  const written = parts.map((part, index) => (index % 2 === 1 ? writeClass(part) : writeGlob(part)));
  return `^${written.join('')}$`;
}

function writeGlob(glob: string): string {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\/]/g, '\\$&');
  return escaped.replaceAll(/\*+/g, '.*').replaceAll('?', '.');
}

function writeClass(text: string): string {
  const isNegated = text.startsWith('[!');
  const members = text.slice(isNegated ? 2 : 1, -1).replaceAll(/[\\\]^[{}()/|.*+?$]/g, '\\$&');
  return `[${isNegated ? '^' : ''}${members}]`;
}
