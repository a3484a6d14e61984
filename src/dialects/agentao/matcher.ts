import { compileGuard } from '../../text/safe-pattern.ts';

/** Something wrong with a matcher, for whoever loads the file that it stands in. */
export interface MatcherFault {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

type Matcher = Readonly<Record<string, unknown>>;

/** The keys that a matcher of the event is read by; every other key is ignored, and so is a whole matcher without one. */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  PreToolUse: ['tool_name', 'toolName'],
  PostToolUse: ['tool_name', 'toolName'],
  PostToolUseFailure: ['tool_name', 'toolName'],
  PreCompact: ['trigger'],
};

/** On these Agentao compares the pattern with a tool that there is not. */
const toolless: readonly string[] = ['SessionStart', 'SessionEnd'];

/** Whether the rule hears of an event about any of these names: a tool's, or one trigger. All keys must agree. */
export function matches(event: string, matcher: Matcher | undefined, given: readonly string[]): boolean {
  const isToolless = toolless.includes(event);
  const keys = isToolless ? ['toolName'] : (keysOf[event] ?? []);
  const names = isToolless ? [''] : given;
  const isTrigger = event === 'PreCompact';
  return keys.every((key) => {
    const pattern = matcher !== undefined && Object.hasOwn(matcher, key) ? matcher[key] : null;
    if (pattern === null) return true;
    if (typeof pattern !== 'string') return false;
    return names.some((name) => fits(pattern, name) || (isTrigger && fitsTrigger(pattern, name)));
  });
}

/** What is wrong with a rule's matcher: an error where it cannot be read, a warning where it does nothing. */
export function findMatcherFaults(event: string, matcher: Matcher): readonly MatcherFault[] {
  const keys = keysOf[event];
  if (keys === undefined) {
    const runs = matches(event, matcher, [])
      ? 'the rule runs every time'
      : 'with this one the rule never runs';
    return [{ severity: 'warning', message: `a matcher has no meaning on ${event}: ${runs}` }];
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
    if (!isExpression(pattern) || compileGuard(pattern) !== undefined) return [];
    const message = `the matcher's "${key}" is not a regular expression: ${pattern}`;
    return [{ severity: 'error', message }];
  });
}

function isExpression(pattern: string): boolean {
  return pattern.startsWith('^') && pattern.endsWith('$');
}

/** `^…$` is an expression, everything else a glob of the whole name. One that does not compile keeps its guard. */
function fits(pattern: string, name: string): boolean {
  if (isExpression(pattern)) return compileGuard(pattern)?.test(name) ?? true;
  return (
    (compileGuard(globToExpression(pattern), 'su')?.test(name) ?? true) || fitsAsInAgentao(pattern, name)
  );
}

/** What the guide does not tell: around one star the ends may overlap, and with more of them `[…]` is a class. */
function fitsAsInAgentao(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  const [first = '', second = ''] = parts;
  if (parts.length === 2) return name.startsWith(first) && name.endsWith(second);
  return parts.length > 2 && (compileGuard(globToExpression(pattern, true), 'su')?.test(name) ?? false);
}

/** The trigger's other reading: an expression for the whole word, compared as text when it is none. */
function fitsTrigger(pattern: string, trigger: string): boolean {
  return compileGuard(`^(?:${pattern})$`)?.test(trigger) ?? pattern === trigger;
}

/** A class begins with its bracket, perhaps `!`, and holds at least one character: `[]a]` holds two. */
const classes = /(\[!?\][^\]]*\]|\[!?[^\]]+\])/;

function globToExpression(glob: string, hasClasses = false): string {
  const parts = hasClasses ? glob.split(classes) : [glob];
  // Every second part is a class.
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
