import { isAbsolute, join, relative } from 'node:path/posix';
import { asText } from '../../base/json/parse.ts';
import type { Payload } from '../foreign-dialect.ts';
import { valueAt } from '../payload-table.ts';
import { parseRule } from './matcher.ts';

interface CallContext {
  readonly payload: Payload;
  readonly cwd: string;
  readonly projectDir: string;
}

/** Returns whether a handler with this `if` runs for the call. True if that cannot be determined. */
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

/** Returns whether the host matches `domain:<glob>`. True for any other pattern. */
function matchesUrl(pattern: string, url: unknown): boolean {
  const isDomain = pattern.startsWith('domain:');
  if (!isDomain || typeof url !== 'string' || !URL.canParse(url)) return true;
  return matchesGlob(pattern.slice('domain:'.length).toLowerCase(), new URL(url).hostname);
}

/**
 * Returns whether the pattern of a Bash rule matches a sub-command of the line. Also true for a line that cannot be
 * parsed, for a command name from an expansion, and for any expansion if the pattern is more than a name.
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

/** `git:*` and `git *` also match the bare name. */
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
 * Matches a path like .gitignore: `src/**` in the working directory, `/src` in the project, `//etc` from the root, a
 * bare name at any depth. Any other syntax matches.
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

/** `*` stands for any characters. Takes at most length times length steps. */
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
      // The last star takes one more character; earlier ones never need to change.
      at = star + 1;
      resume += 1;
      to = resume;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

/** Marks a call whose tool has a file tool's name as an alias. A symbol is never serialised. */
const mark = Symbol('file tool');
const names: readonly unknown[] = ['Write', 'Edit', 'Read'];

export function markFileTool(call: Payload, aliases: readonly string[]): Payload {
  return aliases.some((alias) => names.includes(alias)) ? { ...call, [mark]: true } : call;
}

/** Claude's file tools have an absolute `file_path`. */
export function takesPath(call: Payload): boolean {
  return names.includes(valueAt(call, 'tool_name')) || Reflect.get(call, mark) === true;
}

interface SubCommand {
  readonly texts: readonly string[];
  readonly isNameKnown: boolean;
}

interface ShellLineAnalysis {
  readonly commands: readonly SubCommand[];
  readonly hasExpansion: boolean;
}

/** The simple commands of a shell line, including those of substitutions. Undefined if one of them is ambiguous. */
function analyzeShellLine(line: string): ShellLineAnalysis | undefined {
  const found: MutableAnalysis = { commands: [], hasExpansion: false };
  return new ShellScanner(line, found, 0).takeList('') ? found : undefined;
}

interface MutableAnalysis {
  readonly commands: SubCommand[];
  hasExpansion: boolean;
}

/** A line with deeper nested substitutions counts as unparsable. */
const MAX_NESTING = 20;

/** Scans a line once. A method that returns false has found ambiguous syntax. */
class ShellScanner {
  readonly #text: string;
  readonly #found: MutableAnalysis;
  readonly #depth: number;
  #at = 0;
  #nested = 0;

  constructor(text: string, found: MutableAnalysis, depth: number) {
    this.#text = text;
    this.#found = found;
    this.#depth = depth;
  }

  takeList(closer: '' | ')'): boolean {
    if (this.#depth + this.#nested > MAX_NESTING) return false;
    let command = new SimpleCommandBuilder(this.#text);
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (character === ')') {
        const isSure = closer === ')' && this.#finish(command);
        this.#at += 1;
        return isSure;
      }
      const isEnd = this.#isSeparator(character);
      if (isEnd) {
        if (!this.#finish(command)) return false;
        command = new SimpleCommandBuilder(this.#text);
        this.#at += 1;
        if (character === '(' && !this.#takeNested()) return false;
      } else if (!this.#takeCharacter(command, character)) return false;
    }
    return closer === '' && this.#finish(command);
  }

  #isSeparator(character: string): boolean {
    if (character === '&') return this.#text.charAt(this.#at + 1) !== '>';
    return ';|\n('.includes(character);
  }

  #finish(command: SimpleCommandBuilder): boolean {
    const commands = command.finish(this.#at);
    if (commands === undefined) return false;
    this.#found.commands.push(...commands);
    return true;
  }

  #takeNested(): boolean {
    this.#nested += 1;
    const isSure = this.takeList(')');
    this.#nested -= 1;
    return isSure;
  }

  #takeCharacter(command: SimpleCommandBuilder, character: string): boolean {
    switch (character) {
      case ' ':
      case '\t':
        command.endWord();
        this.#at += 1;
        return true;
      case '\\':
        return this.#takeEscape(command);
      case "'":
        return this.#takeSingleQuoted(command);
      case '"':
        return this.#takeDoubleQuoted(command);
      case '$':
        return this.#takeDollar(command, false);
      case '`':
        return this.#takeBackticks(command);
      case '<':
      case '>':
      case '&':
        return this.#takeRedirection(command);
      case '#':
        // A comment may hide quotes.
        if (!command.isInWord) return false;
        break;
    }
    command.add(this.#at, character, '*?[{'.includes(character));
    this.#at += 1;
    return true;
  }

  #takeEscape(command: SimpleCommandBuilder): boolean {
    const next = this.#text.charAt(this.#at + 1);
    if (next === '') return false;
    if (next !== '\n') command.add(this.#at, next, false);
    this.#at += 2;
    return true;
  }

  #takeSingleQuoted(command: SimpleCommandBuilder): boolean {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end === -1) return false;
    command.add(this.#at, this.#text.slice(this.#at + 1, end), false);
    this.#at = end + 1;
    return true;
  }

  #takeDoubleQuoted(command: SimpleCommandBuilder): boolean {
    command.add(this.#at, '', false);
    this.#at += 1;
    for (;;) {
      const character = this.#text.charAt(this.#at);
      if (character === '') return false;
      if (character === '"') break;
      if (!this.#takeWithinQuotes(command, character)) return false;
    }
    this.#at += 1;
    return true;
  }

  #takeWithinQuotes(command: SimpleCommandBuilder, character: string): boolean {
    if (character === '$') return this.#takeDollar(command, true);
    if (character === '`') return this.#takeBackticks(command);
    const next = this.#text.charAt(this.#at + 1);
    const isEscape = character === '\\' && next !== '' && '$`"\\\n'.includes(next);
    const taken = isEscape ? (next === '\n' ? '' : next) : character;
    command.add(this.#at, taken, false);
    this.#at += isEscape ? 2 : 1;
    return true;
  }

  #takeDollar(command: SimpleCommandBuilder, isQuoted: boolean): boolean {
    const start = this.#at;
    const next = this.#text.charAt(start + 1);
    if (next === '(') {
      this.#at += 2;
      if (!this.#takeNested()) return false;
      this.#expand(command, start);
      return true;
    }
    // `${…}`, `$[…]` and `$'…'` have rules of their own.
    if (next === '[' || (next === "'" && !isQuoted)) return false;
    const [name] = namePattern.exec(this.#text.slice(start, start + MAX_NAME_LENGTH)) ?? [];
    if (name === undefined && next === '{') return false;
    this.#at += name?.length ?? 1;
    if (name !== undefined) this.#expand(command, start);
    else if (next !== '"' || isQuoted) command.add(start, '$', false);
    return true;
  }

  /** Within backticks, a backslash escapes twice: for the backticks and for the command inside. */
  #takeBackticks(command: SimpleCommandBuilder): boolean {
    const start = this.#at;
    const end = this.#text.indexOf('`', start + 1);
    if (end === -1) return false;
    const inner = this.#text.slice(start + 1, end);
    const depth = this.#depth + this.#nested + 1;
    if (inner.includes('\\') || !new ShellScanner(inner, this.#found, depth).takeList('')) return false;
    this.#at = end + 1;
    this.#expand(command, start);
    return true;
  }

  #expand(command: SimpleCommandBuilder, start: number): void {
    this.#found.hasExpansion = true;
    command.add(start, this.#text.slice(start, this.#at), true);
  }

  #takeRedirection(command: SimpleCommandBuilder): boolean {
    const operator = this.#text.slice(this.#at, this.#at + 3);
    if (operator.startsWith('<<')) return false;
    const [taken = ''] = /^(&>>|&>|>>|>&|>\||<&|<>|>|<)/.exec(operator) ?? [];
    command.redirect();
    this.#at += taken.length;
    return true;
  }
}

const MAX_NAME_LENGTH = 256;
const namePattern = /^\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]|\{[A-Za-z0-9_]+\})/;

interface Word {
  readonly start: number;
  text: string;
  isExpanded: boolean;
}

class SimpleCommandBuilder {
  readonly #line: string;
  readonly #words: Word[] = [];
  #word: Word | undefined;
  #skipsWord = false;
  #isRedirectedFirst = false;

  constructor(line: string) {
    this.#line = line;
  }

  get isInWord(): boolean {
    return this.#word !== undefined;
  }

  add(start: number, text: string, isExpanded: boolean): void {
    this.#word ??= { start, text: '', isExpanded: false };
    this.#word.text += text;
    this.#word.isExpanded ||= isExpanded;
  }

  endWord(): void {
    if (this.#word === undefined) return;
    if (!this.#skipsWord) this.#words.push(this.#word);
    this.#skipsWord = false;
    this.#word = undefined;
  }

  redirect(): void {
    if (this.#word !== undefined && /^[0-9]+$/.test(this.#word.text)) this.#word = undefined;
    this.endWord();
    if (this.#words.length === 0) this.#isRedirectedFirst = true;
    this.#skipsWord = true;
  }

  finish(end: number) {
    this.endWord();
    const words = this.#withoutReserved();
    const named = words.findIndex(({ text }) => !assignment.test(text));
    const name = words[named];
    if (name !== undefined && compounds.has(name.text)) return undefined;
    if (words[0] === undefined) return this.#isRedirectedFirst ? [{ texts: [], isNameKnown: false }] : [];
    const rest = named === -1 ? [] : words.slice(named);
    const texts = [words, rest].flatMap((list) => this.#spell(list, end));
    const isTest = name?.text === '[' || name?.text === '[[';
    const isExpanded = name?.isExpanded === true && !isTest;
    return [{ texts: [...new Set(texts)], isNameKnown: !isExpanded && !this.#isRedirectedFirst }];
  }

  #spell(words: readonly Word[], end: number): string[] {
    const [first] = words;
    if (first === undefined) return [];
    return [this.#line.slice(first.start, end).trim(), words.map(({ text }) => text).join(' ')];
  }

  #withoutReserved(): readonly Word[] {
    const first = this.#words.findIndex(({ text }) => !reserved.has(text));
    return first === -1 ? [] : this.#words.slice(first);
  }
}

/** This pattern cannot backtrack. */
const assignment = /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=/;
const reserved: ReadonlySet<string> = new Set([
  ...['if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done', '!', '{', '}', 'time', '-p'],
]);
const compounds: ReadonlySet<string> = new Set(['for', 'case', 'esac', 'select', 'function', 'coproc']);
