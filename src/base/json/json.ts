declare global {
  // Node 22 has these (V8's JSON.parse source text access); TypeScript's library does not list them.
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/**
 * A JSON value with its exact text. `JSON.parse` may round long integers, so a peer's value is written out
 * again as its text, never re-serialized from the parsed form.
 */
export class Json {
  /** The exact JSON text, without surrounding white space. */
  readonly text: string;
  #value: unknown;
  #parsed = false;

  constructor(text: string) {
    this.text = text;
  }

  /** The parsed value; integers beyond 2^53 are approximate. Throws SyntaxError if the text is not JSON. */
  get value(): unknown {
    if (!this.#parsed) {
      this.#value = JSON.parse(this.text);
      this.#parsed = true;
    }
    return this.#value;
  }

  /** The value of this text, parsed already. Throws SyntaxError if the text is not JSON. */
  static parse(text: string): Json {
    const json = new Json(text);
    json.#value = JSON.parse(text);
    json.#parsed = true;
    return json;
  }

  /** Whether `JSON.stringify` of the value gives the exact text; false also for a text that is long. */
  get isPlainlySpelt(): boolean {
    return this.text.length <= LONGEST_COMPARED && JSON.stringify(this.value) === this.text;
  }

  /** The text, or what is left of it where long parts stand apart (`PartedJson`): enough to find the members of. */
  get skeleton(): string {
    return this.text;
  }

  /** The value that stands between two positions of the skeleton. */
  slice(start: number, end: number): Json {
    return new Json(this.text.slice(start, end));
  }

  /** Lets a plain `JSON.stringify` keep long numbers as they were written. */
  toJSON(): unknown {
    return parseLossless(this.text);
  }

  static from(value: unknown): Json {
    return value instanceof Json ? value : new Json(stringifyJson(value));
  }
}

const LONGEST_COMPARED = 10_000;

/** JSON text of a value tree in which `Json` parts, bigints and raw numbers keep their exact digits. */
export function stringifyJson(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (value instanceof Json) return value.text;
  if (JSON.isRawJSON(value)) return value.rawJSON;
  return isNative(value, MAX_NATIVE_LEVELS) ? JSON.stringify(value) : stringifyTree(value);
}

/** Whether `JSON.stringify` writes the tree as `stringifyJson` does, and faster: nothing in it has an exact text. */
function isNative(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null)
    return typeof value !== 'bigint' && typeof value !== 'function';
  if (levels === 0 || hasExactForm(value)) return false;
  if (Array.isArray(value)) return value.every((element) => isNative(element, levels - 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key in value) if (!isNative(Reflect.get(value, key), levels - 1)) return false;
  return true;
}

/** What is nested deeper is not looked through again at every level. */
const MAX_NATIVE_LEVELS = 50;

function stringifyTree(value: object): string {
  const exact = ExactForm.of(value);
  if (exact !== undefined) return stringifyJson(exact);
  if (Array.isArray(value)) return `[${value.map(stringifyJson).join(',')}]`;
  if ('toJSON' in value && typeof value.toJSON === 'function') return stringifyJson(value.toJSON());
  return stringifyMembers(value);
}

function stringifyMembers(value: object): string {
  let members = '';
  for (const key of Object.keys(value)) {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined || typeof member === 'function') continue;
    members += `${members === '' ? '' : ','}${quoteKey(key)}:${stringifyJson(member)}`;
  }
  return `{${members}}`;
}

/** The key as JSON; keys are few, and come again with every row. */
function quoteKey(key: string): string {
  const known = quotedKeys.get(key);
  if (known !== undefined) return known;
  const quoted = JSON.stringify(key);
  if (quotedKeys.size < MAX_QUOTED_KEYS && key.length <= LONGEST_QUOTED_KEY) quotedKeys.set(key, quoted);
  return quoted;
}

const quotedKeys = new Map<string, string>();
const MAX_QUOTED_KEYS = 1000;
const LONGEST_QUOTED_KEY = 100;

/** Most names are short, and plain as they stand. */
function quote(text: string): string {
  return text.length < 64 && asItStands.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Visible ASCII characters but quote and backslash, and spaces. */
const asItStands = /^[ !#-[\]-~]*$/;

/**
 * The tree with each `Json` replaced by its parsed value. `stringifyJson` of the result, or of such a value
 * in it, still gives the exact text.
 */
export function toPlain(tree: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!holdsJson(tree)) return tree;
  const plain: Record<string, unknown> = {};
  for (const key of Object.keys(tree)) {
    const value = plainValue(tree[key]);
    if (key === '__proto__') define(plain, key, value);
    else plain[key] = value;
  }
  if (holdsOwnSpelling(tree)) ExactForm.keep(plain, tree);
  return plain;
}

/** Whether a `Json` stands somewhere in the tree: without one it is plain already. */
function holdsJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Json || Object.values(value).some(holdsJson);
}

/** Whether some text in the tree is not what `JSON.stringify` makes of its value. */
function holdsOwnSpelling(value: unknown): boolean {
  if (value instanceof Json) return !value.isPlainlySpelt;
  if (typeof value !== 'object' || value === null) return false;
  return hasExactForm(value) || Object.values(value).some(holdsOwnSpelling);
}

/** A member of whatever name. */
function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The tree or Json that `stringifyJson` writes in place of the object's members, if there is one. */
export function exactFormOf(value: object): object | undefined {
  return ExactForm.of(value);
}

/** Makes `stringifyJson` write an object that was parsed with the text that it was parsed from. */
export function keepExactForm(value: object, json: Json): void {
  ExactForm.keep(value, json);
}

/** Whether `stringifyJson` writes something else of the object than its members. */
export function hasExactForm(value: object): boolean {
  return ExactForm.of(value) !== undefined;
}

function plainValue(value: unknown): unknown {
  if (value instanceof Json) return plainJson(value);
  if (Array.isArray(value)) return value.map(plainValue);
  return isObject(value) ? toPlain(value) : value;
}

function plainJson(json: Json): unknown {
  const { value } = json;
  if (typeof value === 'object' && value !== null && !json.isPlainlySpelt) ExactForm.keep(value, json);
  return value;
}

/** A class whose constructor gives back what it is given, so that a class that extends it adds its fields to that. */
class Given {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is the one way to a private field of any object.
    return object;
  }
}

/** What `stringifyJson` writes of a plain value. A WeakMap would keep the same at a hundred times the cost for the collector. */
class ExactForm extends Given {
  #exact: object;

  private constructor(value: object, exact: object) {
    super(value);
    this.#exact = exact;
  }

  static of(value: object): object | undefined {
    return #exact in value ? value.#exact : undefined;
  }

  static keep(value: object, exact: object): void {
    if (#exact in value) value.#exact = exact;
    else new ExactForm(value, exact);
  }
}

/** A tree with `Json` in it as plain values that keep their digits. Throws SyntaxError. */
export function toLossless(tree: unknown): unknown {
  return parseLossless(stringifyJson(tree));
}

/** Parses JSON into plain values; a number that a double cannot hold stays as its digits (`JSON.rawJSON`). */
export function parseLossless(text: string): unknown {
  if (mayParsePlainly(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return keepsNumber(value, context.source) ? value : JSON.rawJSON(context.source);
  });
}

/**
 * Whether no number in the text can lose digits: none is longer than 15 characters, has an exponent or is -0. Also asks for
 * little nesting, since only a parse with a reviver refuses what is nested too deeply to be walked.
 */
export function mayParsePlainly(text: string): boolean {
  return !riskyNumber.test(text) && countOpeners(text) <= MAX_PLAIN_OPENERS;
}

/** Seen in a text it may be no number at all, which costs time and nothing else. */
const riskyNumber = /[\d.]{15}|\d[eE]|-0/;
const MAX_PLAIN_OPENERS = 500;

/** As many brackets and braces as there are, or a few more than matter. */
function countOpeners(text: string): number {
  let count = 0;
  for (const opener of ['{', '[']) {
    for (let at = text.indexOf(opener); at !== -1; at = text.indexOf(opener, at + 1)) {
      count += 1;
      if (count > MAX_PLAIN_OPENERS) return count;
    }
  }
  return count;
}

/** Below this a double loses digits, long before it is 0. */
const SMALLEST_EXACT = 2 ** -1022;

/** Whether the double is the number that the source spells; up to 15 characters are exact between the extremes. */
function keepsNumber(value: number, source: string): boolean {
  if (String(value) === source) return true;
  if (source.length > 15 || !Number.isFinite(value) || Object.is(value, -0)) return false;
  return Math.abs(value) >= SMALLEST_EXACT || !/[1-9]/.test(source);
}

/** Whether a parsed JSON value is an object, as opposed to an array, null or a scalar. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
