import { isAbsolute, join, relative } from 'node:path/posix';
import { asText } from '../../../base/json/as-text.ts';
import type { Payload } from '../../foreign-dialect.ts';
import { valueAt } from '../../payload-table.ts';
import { parseRule } from '../matcher.ts';
import { analyzeShellLine, type SubCommand } from './shell.ts';

interface CallContext {
  readonly payload: Payload;
  readonly cwd: string;
  readonly projectDir: string;
}

/** Whether a handler with this `if` runs for the call; true when that cannot be determined. */
export function conditionHolds(condition: string, callContext: CallContext): boolean {
  const rule = parseRule(condition);
  if (rule === undefined) return true;
  const name = asText(valueAt(callContext.payload, 'tool_name') ?? '');
  if (!isTool(rule.tool, name)) return false;
  const { pattern } = rule;
  return (
    pattern === undefined || pattern === '' || pattern === '*' || matchesInput(pattern, name, callContext)
  );
}

/** A server's name stands for all of its tools. */
function isTool(tool: string, name: string): boolean {
  if (tool.includes('*')) return matchesGlob(tool, name);
  return tool === name || (tool.startsWith('mcp__') && name.startsWith(`${tool}__`));
}

function matchesInput(pattern: string, name: string, { payload, cwd, projectDir }: CallContext): boolean {
  const input = payload['tool_input'];
  if (name === 'Bash') {
    const command = valueAt(input, 'command');
    return typeof command !== 'string' || matchesCommand(pattern, command);
  }
  const key = Object.hasOwn(pathMembers, name) ? pathMembers[name] : undefined;
  if (key !== undefined) {
    const path = valueAt(input, key);
    return typeof path !== 'string' || matchesPath(pattern, path, { cwd, projectDir });
  }
  if (name === 'WebFetch') return matchesUrl(pattern, valueAt(input, 'url'));
  return true;
}

const pathMembers: Readonly<Record<string, string>> = {
  Edit: 'file_path',
  Write: 'file_path',
  Read: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};

/** Whether the host matches `domain:<glob>`; true for any other pattern. */
function matchesUrl(pattern: string, url: unknown): boolean {
  const isDomain = pattern.startsWith('domain:');
  if (!isDomain || typeof url !== 'string' || !URL.canParse(url)) return true;
  return matchesGlob(pattern.slice('domain:'.length).toLowerCase(), new URL(url).hostname);
}

/**
 * Whether the pattern of a Bash rule matches a sub-command of the line. Also true for a line that cannot be
 * parsed, a command name from an expansion, and any expansion when the pattern is more than a name.
 */
function matchesCommand(pattern: string, line: string): boolean {
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

interface Roots {
  readonly cwd: string;
  readonly projectDir: string;
}

/**
 * Whether a path is one that a permission rule names, in the manner of .gitignore: `src/**` in the working directory,
 * `/src` in the project, `//etc` from the root, a bare name at any depth. Any other syntax matches.
 */
function matchesPath(pattern: string, path: string, { cwd, projectDir }: Roots): boolean {
  if (/[[\]{}\\!]/.test(pattern)) return true;
  const absolute = isAbsolute(path) ? join(path) : join(cwd, path);
  if (pattern.startsWith('//')) return isBelow(pattern.slice(1), absolute);
  if (pattern.startsWith('~/')) return isBelow(`**/${pattern.slice(2)}`, absolute);
  if (pattern.startsWith('/')) return isBelow(pattern, absolute) || isWithin(pattern, projectDir, absolute);
  const bare = pattern.replace(/^\.\//, '');
  const isAnywhere = bare.startsWith('**') || !bare.replace(/\/$/, '').includes('/');
  return isAnywhere ? isBelow(`**/${bare}`, absolute) : isWithin(bare, cwd, absolute);
}

function isWithin(pattern: string, root: string, absolute: string): boolean {
  const path = relative(root, absolute);
  return path !== '..' && !path.startsWith('../') && isBelow(pattern, path);
}

function isBelow(pattern: string, path: string): boolean {
  return matchesSegments(segmentsOf(pattern), segmentsOf(path));
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.');
}

/**
 * Whether the pattern matches the path or a folder above it, segment by segment; `**` is any number of them.
 */
function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const segment of pattern) {
    const next = new Set<number>();
    if (segment === '**') {
      const [first = path.length + 1] = reached;
      for (let to = first; to <= path.length; to++) next.add(to);
    }
    for (const at of segment === '**' ? [] : reached) {
      const name = path[at];
      if (name !== undefined && matchesGlob(segment, name)) next.add(at + 1);
    }
    reached = next;
  }
  return reached.size > 0;
}

/** Whether a text matches a pattern in which `*` stands for any characters. At most length times length steps. */
export function matchesGlob(pattern: string, text: string): boolean {
  let star = -1;
  let resume = 0;
  let at = 0;
  let to = 0;
  while (to < text.length) {
    if (pattern[at] === '*') {
      star = at;
      resume = to;
      at += 1;
    } else if (at < pattern.length && (pattern[at] === text[to] || pattern[at] === '?')) {
      at += 1;
      to += 1;
    } else if (star === -1) {
      return false;
    } else {
      // The last star takes one character more; earlier ones need never change.
      at = star + 1;
      resume += 1;
      to = resume;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

/** The symbol that marks a call whose tool has one of these names as an alias; it is never serialised. */
const mark = Symbol('file tool');
const names: readonly unknown[] = ['Write', 'Edit', 'Read'];

/** The call, marked when one of its aliases is a file tool. */
export function markFileTool(call: Payload, aliases: readonly string[]): Payload {
  return aliases.some((alias) => names.includes(alias)) ? { ...call, [mark]: true } : call;
}

/** Whether a call is one of Claude's file tools, whose `file_path` is absolute. */
export function takesPath(call: Payload): boolean {
  return names.includes(valueAt(call, 'tool_name')) || Reflect.get(call, mark) === true;
}
