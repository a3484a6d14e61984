import { parseJson } from './parse-json.ts';

declare global {
  // Node 22 has these (V8's JSON.parse source text access); TypeScript's library does not declare them.
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/** A JSON value with its exact text. A peer's value is written out unchanged, since parsing may round integers. */
export class Json {
  /** Without surrounding white space. */
  readonly text: string;
  #value: unknown;
  #parsed = false;

  constructor(text: string) {
    this.text = text;
  }

  /** Integers beyond 2^53 are approximate. Throws SyntaxError. */
  get value(): unknown {
    if (!this.#parsed) {
      this.#value = parseJson(this.text);
      this.#parsed = true;
    }
    return this.#value;
  }

  static parse(text: string): Json {
    const json = new Json(text);
    json.#value = parseJson(text);
    json.#parsed = true;
    return json;
  }

  /**
   * Whether `JSON.stringify` of the value gives the exact text. Returns false for long texts. Parses again, since others
   * may have changed the value.
   */
  get isPlainlySpelt(): boolean {
    return this.text.length <= LONGEST_COMPARED && JSON.stringify(parseJson(this.text)) === this.text;
  }

  /** The text, with marks in place of its long parts in a `PartedJson`. It is enough to find members. */
  get skeleton(): string {
    return this.text;
  }

  slice(start: number, end: number): Json {
    return new Json(this.text.slice(start, end));
  }

  /** Lets plain `JSON.stringify` keep the digits of long numbers. */
  toJSON(): unknown {
    return parseLossless(this.text);
  }

  static from(value: unknown): Json {
    return value instanceof Json ? value : new Json(stringifyJson(value));
  }
}

const LONGEST_COMPARED = 10_000;

export function stringifyJson(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (value instanceof Json) return value.text;
  if (JSON.isRawJSON(value)) return value.rawJSON;
  return isNative(value, MAX_NATIVE_LEVELS) ? JSON.stringify(value) : stringifyTree(value);
}

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

/** Prevents a repeated check at every level of deep nesting. */
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

function quote(text: string): string {
  return text.length < 64 && asItStands.test(text) ? `"${text}"` : JSON.stringify(text);
}

const asItStands = /^[ !#-[\]-~]*$/;

/** Replaces each `Json` by its parsed value. `stringifyJson` still writes the exact text of all parts. */
export function toPlain(tree: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let plain: Record<string, unknown> | undefined;
  let isExact = true;
  for (const key of Object.keys(tree)) {
    const part = tree[key];
    const value = plainValue(part);
    if (value === part) continue;
    plain ??= { ...tree };
    // A plain object keeps its own form.
    if (!isObject(value)) isExact = false;
    if (key === '__proto__') define(plain, key, value);
    else plain[key] = value;
  }
  if (plain === undefined) return tree;
  if (!isExact) ExactForm.keep(plain, tree);
  return plain;
}

function holdsJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Json) return true;
  if (Array.isArray(value)) return value.some(holdsJson);
  for (const key in value) if (holdsJson(Reflect.get(value, key))) return true;
  return false;
}

function holdsOwnSpelling(value: unknown): boolean {
  if (value instanceof Json) return !value.isPlainlySpelt;
  if (typeof value !== 'object' || value === null) return false;
  return hasExactForm(value) || Object.values(value).some(holdsOwnSpelling);
}

function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The tree or Json that `stringifyJson` writes instead of the object's members. */
export function exactFormOf(value: object): object | undefined {
  return ExactForm.of(value);
}

/** Makes `stringifyJson` write `json` for the parsed object. */
export function keepExactForm(value: object, json: Json): void {
  ExactForm.keep(value, json, true);
}

/** Whether `stringifyJson` writes something other than the object's members. */
export function hasExactForm(value: object): boolean {
  return ExactForm.of(value) !== undefined;
}

function plainValue(value: unknown): unknown {
  if (value instanceof Json) return plainJson(value);
  if (Array.isArray(value)) return holdsJson(value) ? value.map(plainValue) : value;
  return isObject(value) ? toPlain(value) : value;
}

function plainJson(json: Json): unknown {
  const { value } = json;
  if (typeof value === 'object' && value !== null) ExactForm.keep(value, json);
  return value;
}

/** Its constructor returns the given object, so that a subclass adds private fields to that object. */
class Given {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is the one way to a private field of any object.
    return object;
  }
}

/**
 * What `stringifyJson` writes for a plain value. Whether it differs from the value's members is found when it is asked
 * for, since most values are never written. A WeakMap costs the garbage collector a hundred times as much.
 */
class ExactForm extends Given {
  #exact: object | undefined;
  #differs: boolean;

  private constructor(value: object, exact: object, differs: boolean) {
    super(value);
    this.#exact = exact;
    this.#differs = differs;
  }

  static of(value: object): object | undefined {
    if (!(#exact in value) || value.#exact === undefined) return undefined;
    value.#differs ||= holdsOwnSpelling(value.#exact);
    if (!value.#differs) value.#exact = undefined;
    return value.#exact;
  }

  static keep(value: object, exact: object, differs = false): void {
    if (!(#exact in value)) {
      new ExactForm(value, exact, differs);
      return;
    }
    value.#exact = exact;
    value.#differs = differs;
  }
}

/** Converts a tree with `Json` parts to plain values that keep their digits. Throws SyntaxError. */
export function toLossless(tree: unknown): unknown {
  return parseLossless(stringifyJson(tree));
}

/** Parses JSON; a number that a double cannot hold stays as its digits (`JSON.rawJSON`). */
export function parseLossless(text: string): unknown {
  if (mayParsePlainly(text)) return parseJson(text);
  return parseJson(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return keepsNumber(value, context.source) ? value : JSON.rawJSON(context.source);
  });
}

/** Parses JSON; a number that `JSON.stringify` would spell otherwise stays as its text (`JSON.rawJSON`). */
export function parseSpelt(json: Json): unknown {
  if (json.isPlainlySpelt) return json.value;
  return parseJson(json.text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return JSON.stringify(value) === context.source ? value : JSON.rawJSON(context.source);
  });
}

/**
 * Whether no number in the text can lose digits: none has more than 15 characters, an exponent, or is -0. Also requires
 * little nesting, since only a parse with a reviver refuses nesting that is too deep to walk.
 */
export function mayParsePlainly(text: string): boolean {
  return !riskyNumber.test(text) && countOpeners(text) <= MAX_PLAIN_OPENERS;
}

/** A match inside a string costs only time. */
const riskyNumber = /[\d.]{15}|\d[eE]|-0/;
const MAX_PLAIN_OPENERS = 500;

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

/** Smaller doubles lose digits long before they become 0. */
const SMALLEST_EXACT = 2 ** -1022;

function keepsNumber(value: number, source: string): boolean {
  if (String(value) === source) return true;
  if (source.length > 15 || !Number.isFinite(value) || Object.is(value, -0)) return false;
  return Math.abs(value) >= SMALLEST_EXACT || !/[1-9]/.test(source);
}

/** Returns false for arrays. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
