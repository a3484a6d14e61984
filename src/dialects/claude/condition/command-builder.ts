interface Word {
  readonly start: number;
  /** Without its quotes. */
  text: string;
  /** Whether the shell makes something else of it. */
  isExpanded: boolean;
}

/** Collects the words of one simple command of a shell line. */
export class SimpleCommandBuilder {
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
