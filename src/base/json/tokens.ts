import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './ends.ts';

/**
 * Walks the tokens of a JSON text of any depth in one pass and without recursion, skipping colons. In text that is not
 * JSON it still finds brackets, strings and what is between them.
 */
export class JsonTokens {
  code = 0;
  start = 0;
  end = 0;
  /** The number of open objects and lists after the token. */
  depth = 0;
  isKey = false;
  readonly #text: string;
  readonly #isObject: boolean[] = [];
  readonly #keys: (Key | undefined)[] = [];
  #awaitsKey = false;

  constructor(text: string) {
    this.#text = text;
  }

  next(): boolean {
    let at = this.end;
    let code = this.#text.charCodeAt(at);
    while (isSpace(code) || code === COLON) {
      at += 1;
      code = this.#text.charCodeAt(at);
    }
    if (at >= this.#text.length) return false;
    this.start = at;
    this.code = code;
    this.isKey = false;
    this.end = this.#take(at);
    return true;
  }

  /** The key of this value, directly or through lists; at a key, the key itself. */
  get name(): string {
    const key = this.#keys[this.depth];
    if (key === undefined) return '';
    key.name ??= decodeString(this.#text, key.start, key.end);
    return key.name;
  }

  /** Extends the token to the end of the value that it begins, and skips the value's contents. */
  takeValue(): void {
    if (this.code !== OPEN_BRACE && this.code !== OPEN_BRACKET) return;
    this.end = endOfValue(this.#text, this.start);
    this.depth -= 1;
    this.#awaitsKey = false;
  }

  #take(at: number): number {
    switch (this.code) {
      case QUOTE:
        return this.#takeString(at, endOfString(this.#text, at));
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#keys[this.depth + 1] = this.#keys[this.depth];
        this.depth += 1;
        this.#awaitsKey = this.code === OPEN_BRACE;
        this.#isObject[this.depth] = this.#awaitsKey;
        return at + 1;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.depth -= 1;
        this.#awaitsKey = false;
        return at + 1;
      case COMMA:
        this.#awaitsKey = this.#isObject[this.depth] === true;
        return at + 1;
      default:
        return endOfToken(this.#text, at);
    }
  }

  #takeString(start: number, end: number): number {
    this.isKey = this.#awaitsKey;
    this.#awaitsKey = false;
    if (this.isKey) this.#keys[this.depth] = { start, end, name: undefined };
    return end;
  }
}

interface Key {
  readonly start: number;
  readonly end: number;
  name: string | undefined;
}

/** `start` and `end` include the quotes. */
export function decodeString(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes('\\') ? String(JSON.parse(text.slice(start, end))) : raw;
}

function endOfToken(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && endsToken[text.charCodeAt(at)] !== true) at += 1;
  return at;
}

const endsToken: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  /[\s"{}[\],:]/.test(String.fromCharCode(code)),
);
