import { matchesGlob } from './glob.ts';
import { analyzeShellLine, type SubCommand } from './shell.ts';

/**
 * Whether the pattern of a Bash rule matches a sub-command of the line. Also true for a line that cannot be
 * parsed, a command name from an expansion, and any expansion when the pattern is more than a name.
 */
export function matchesCommand(pattern: string, line: string): boolean {
  // A backslash in a pattern may or may not escape its star.
  if (pattern.includes('\\')) return true;
  const analysis = analyzeShellLine(line);
  if (analysis === undefined || matchesText(pattern, line.trim())) return true;
  if (analysis.hasExpansion && saysMoreThanName(pattern)) return true;
  return analysis.commands.some((command) => matchesSubCommand(pattern, command));
}

function matchesSubCommand(pattern: string, { isNameKnown, texts }: SubCommand): boolean {
  return !isNameKnown || texts.some((text) => matchesText(pattern, text));
}

function matchesText(pattern: string, text: string): boolean {
  const prefix = prefixOf(pattern);
  if (prefix === '' || prefix === text) return true;
  return matchesGlob(prefix === undefined ? pattern : `${prefix} *`, text);
}

/** `git:*` and `git *` stand for the bare name too. */
function prefixOf(pattern: string): string | undefined {
  if (pattern.endsWith(':*')) return pattern.slice(0, -2);
  return pattern.endsWith(' *') ? pattern.slice(0, -2) : undefined;
}

function saysMoreThanName(pattern: string): boolean {
  return /[ *?]/.test((prefixOf(pattern) ?? pattern.replace(/\*$/, '')).trim());
}
