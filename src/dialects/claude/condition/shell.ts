/** One simple command of a line. */
export interface SubCommand {
  /** As written and without quotes and redirections, each with and without leading assignments. */
  readonly texts: readonly string[];
  /** False where the shell makes the name out of an expansion, or a redirection comes first. */
  readonly isNameKnown: boolean;
}

interface ShellLineAnalysis {
  readonly commands: readonly SubCommand[];
  /** Whether there is any `$(…)`, backtick or `$NAME`. */
  readonly hasExpansion: boolean;
}

/** The simple commands of a shell line, those of substitutions included; undefined when in doubt about one of them. */
export function analyzeShellLine(line: string): ShellLineAnalysis | undefined {
  const found: MutableAnalysis = { commands: [], hasExpansion: false };
  return new ShellScanner(line, found, 0).takeList('') ? found : undefined;
}

interface MutableAnalysis {
  readonly commands: SubCommand[];
  hasExpansion: boolean;
}

/** The deepest nesting of substitutions that is analysed; a deeper line counts as unparsable. */
const MAX_NESTING = 20;

/** One pass over a line. Every method that returns false has met something that it cannot be sure about. */
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

  /** Commands up to the closer, which is consumed; to the end of the text where there is none. */
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

  /** An ampersand may belong to the redirection `&>`. */
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

  /** A newline behind a backslash is nothing at all. */
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
    // What stands in `${…}`, `$[…]` and `$'…'` has rules of its own.
    if (next === '[' || (next === "'" && !isQuoted)) return false;
    const [name] = namePattern.exec(this.#text.slice(start, start + MAX_NAME_LENGTH)) ?? [];
    if (name === undefined && next === '{') return false;
    this.#at += name?.length ?? 1;
    if (name !== undefined) this.#expand(command, start);
    else if (next !== '"' || isQuoted) command.add(start, '$', false);
    return true;
  }

  /** Within backticks a backslash escapes for two readers at once. */
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

  /** `<<` begins a heredoc, whose text is no command. */
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

  /** The next word is a file's; digits before the operator are a descriptor's. */
  redirect(): void {
    if (this.#word !== undefined && /^[0-9]+$/.test(this.#word.text)) this.#word = undefined;
    this.endWord();
    if (this.#words.length === 0) this.#isRedirectedFirst = true;
    this.#skipsWord = true;
  }

  /** The command, if there is one; undefined where a word begins something that is no simple command. */
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

  /** `then rm x` is the command `rm x`. */
  #withoutReserved(): readonly Word[] {
    const first = this.#words.findIndex(({ text }) => !reserved.has(text));
    return first === -1 ? [] : this.#words.slice(first);
  }
}

/** Backtracks nowhere: a name, perhaps an index, and the sign. */
const assignment = /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=/;
const reserved: ReadonlySet<string> = new Set([
  ...['if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done', '!', '{', '}', 'time', '-p'],
]);
const compounds: ReadonlySet<string> = new Set(['for', 'case', 'esac', 'select', 'function', 'coproc']);
