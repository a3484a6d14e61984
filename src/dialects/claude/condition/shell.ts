import { Draft } from './shell-draft.ts';

/** One simple command of a line. */
export interface SubCommand {
  /** As written and without quotes and redirections, each with and without leading assignments. */
  readonly texts: readonly string[];
  /** False where the shell makes the name out of an expansion, or a redirection comes first. */
  readonly isNameKnown: boolean;
}

export interface Analysis {
  readonly commands: readonly SubCommand[];
  /** Whether there is any `$(…)`, backtick or `$NAME`. */
  readonly hasExpansion: boolean;
}

/** The simple commands of a shell line, those of substitutions included; undefined when in doubt about one of them. */
export function analyze(line: string): Analysis | undefined {
  const found: Found = { commands: [], hasExpansion: false };
  return new Scan(line, found, 0).takeList('') ? found : undefined;
}

interface Found {
  readonly commands: SubCommand[];
  hasExpansion: boolean;
}

/** Nobody nests deeper; whoever does is not understood. */
const MOST_NESTED = 20;

/** One pass over a line. Every method that returns false has met something that it cannot be sure about. */
class Scan {
  readonly #text: string;
  readonly #found: Found;
  readonly #depth: number;
  #at = 0;
  #nested = 0;

  constructor(text: string, found: Found, depth: number) {
    this.#text = text;
    this.#found = found;
    this.#depth = depth;
  }

  /** Commands up to the closer, which is consumed; to the end of the text where there is none. */
  takeList(closer: '' | ')'): boolean {
    if (this.#depth + this.#nested > MOST_NESTED) return false;
    let draft = new Draft(this.#text);
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (character === ')') {
        const isSure = closer === ')' && this.#finish(draft);
        this.#at += 1;
        return isSure;
      }
      const isEnd = this.#isSeparator(character);
      if (isEnd) {
        if (!this.#finish(draft)) return false;
        draft = new Draft(this.#text);
        this.#at += 1;
        if (character === '(' && !this.#takeNested()) return false;
      } else if (!this.#takeCharacter(draft, character)) return false;
    }
    return closer === '' && this.#finish(draft);
  }

  /** An ampersand may belong to the redirection `&>`. */
  #isSeparator(character: string): boolean {
    if (character === '&') return this.#text.charAt(this.#at + 1) !== '>';
    return ';|\n('.includes(character);
  }

  #finish(draft: Draft): boolean {
    const commands = draft.finish(this.#at);
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

  #takeCharacter(draft: Draft, character: string): boolean {
    switch (character) {
      case ' ':
      case '\t':
        draft.endWord();
        this.#at += 1;
        return true;
      case '\\':
        return this.#takeEscape(draft);
      case "'":
        return this.#takeSingleQuoted(draft);
      case '"':
        return this.#takeDoubleQuoted(draft);
      case '$':
        return this.#takeDollar(draft, false);
      case '`':
        return this.#takeBackticks(draft);
      case '<':
      case '>':
      case '&':
        return this.#takeRedirection(draft);
      case '#':
        // A comment may hide quotes.
        if (!draft.isInWord) return false;
        break;
    }
    draft.add(this.#at, character, '*?[{'.includes(character));
    this.#at += 1;
    return true;
  }

  /** A newline behind a backslash is nothing at all. */
  #takeEscape(draft: Draft): boolean {
    const next = this.#text.charAt(this.#at + 1);
    if (next === '') return false;
    if (next !== '\n') draft.add(this.#at, next, false);
    this.#at += 2;
    return true;
  }

  #takeSingleQuoted(draft: Draft): boolean {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end === -1) return false;
    draft.add(this.#at, this.#text.slice(this.#at + 1, end), false);
    this.#at = end + 1;
    return true;
  }

  #takeDoubleQuoted(draft: Draft): boolean {
    draft.add(this.#at, '', false);
    this.#at += 1;
    for (;;) {
      const character = this.#text.charAt(this.#at);
      if (character === '') return false;
      if (character === '"') break;
      if (!this.#takeWithinQuotes(draft, character)) return false;
    }
    this.#at += 1;
    return true;
  }

  #takeWithinQuotes(draft: Draft, character: string): boolean {
    if (character === '$') return this.#takeDollar(draft, true);
    if (character === '`') return this.#takeBackticks(draft);
    const next = this.#text.charAt(this.#at + 1);
    const isEscape = character === '\\' && next !== '' && '$`"\\\n'.includes(next);
    const taken = isEscape ? (next === '\n' ? '' : next) : character;
    draft.add(this.#at, taken, false);
    this.#at += isEscape ? 2 : 1;
    return true;
  }

  #takeDollar(draft: Draft, isQuoted: boolean): boolean {
    const start = this.#at;
    const next = this.#text.charAt(start + 1);
    if (next === '(') {
      this.#at += 2;
      if (!this.#takeNested()) return false;
      this.#expand(draft, start);
      return true;
    }
    // What stands in `${…}`, `$[…]` and `$'…'` has rules of its own.
    if (next === '[' || (next === "'" && !isQuoted)) return false;
    const [name] = namePattern.exec(this.#text.slice(start, start + LONGEST_NAME)) ?? [];
    if (name === undefined && next === '{') return false;
    this.#at += name?.length ?? 1;
    if (name !== undefined) this.#expand(draft, start);
    else if (next !== '"' || isQuoted) draft.add(start, '$', false);
    return true;
  }

  /** Within backticks a backslash escapes for two readers at once. */
  #takeBackticks(draft: Draft): boolean {
    const start = this.#at;
    const end = this.#text.indexOf('`', start + 1);
    if (end === -1) return false;
    const inner = this.#text.slice(start + 1, end);
    const depth = this.#depth + this.#nested + 1;
    if (inner.includes('\\') || !new Scan(inner, this.#found, depth).takeList('')) return false;
    this.#at = end + 1;
    this.#expand(draft, start);
    return true;
  }

  #expand(draft: Draft, start: number): void {
    this.#found.hasExpansion = true;
    draft.add(start, this.#text.slice(start, this.#at), true);
  }

  /** `<<` begins a heredoc, whose text is no command. */
  #takeRedirection(draft: Draft): boolean {
    const operator = this.#text.slice(this.#at, this.#at + 3);
    if (operator.startsWith('<<')) return false;
    const [taken = ''] = /^(&>>|&>|>>|>&|>\||<&|<>|>|<)/.exec(operator) ?? [];
    draft.redirect();
    this.#at += taken.length;
    return true;
  }
}

const LONGEST_NAME = 256;
const namePattern = /^\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]|\{[A-Za-z0-9_]+\})/;
