import { compareDecimals, isWhole } from './decimal.ts';
import { hasExactForm, Json, mayParsePlainly, stringifyJson } from './json.ts';
import { parseJson } from './parse-json.ts';

/** A JSON value as plain JavaScript, with the digits of those numbers that no double holds. */
export interface ExactValue {
  /** A number in `digits` has a double in its place, which is an integer if the number is one. */
  readonly value: unknown;
  /** By container, then by key. Undefined if doubles hold all numbers. */
  readonly digits: ReadonlyMap<object, ReadonlyMap<string, string>> | undefined;
  /** The digits, if the value itself is such a number. */
  readonly own: string | undefined;
}

/** Accepts a `Json`, or a tree that may contain some, raw numbers and bigints. */
export function readExactly(tree: unknown): ExactValue {
  if (tree instanceof Json)
    return mayParsePlainly(tree.text) ? plainValue(tree.value) : parseExactly(tree.text);
  return hasOwnSpelling(tree) ? parseExactly(stringifyJson(tree)) : plainValue(tree);
}

function hasOwnSpelling(tree: unknown): boolean {
  if (typeof tree !== 'object' || tree === null) return typeof tree === 'bigint';
  if (tree instanceof Json || JSON.isRawJSON(tree) || hasExactForm(tree)) return true;
  return Object.values(tree).some(hasOwnSpelling);
}

function plainValue(value: unknown): ExactValue {
  return { value, digits: undefined, own: undefined };
}

function parseExactly(text: string): ExactValue {
  const digits = new Map<object, Map<string, string>>();
  // The reviver's last call has the object around the whole value as `this`.
  let holder: object | undefined;
  function revive(this: object, key: string, member: unknown, context?: { source?: string }): unknown {
    holder = this;
    const source = context?.source;
    if (typeof member !== 'number' || source === undefined || isDouble(member, source)) return member;
    const inHere = digits.get(this) ?? new Map<string, string>();
    digits.set(this, inHere);
    inHere.set(key, source);
    if (!isWhole(source)) return Number.isInteger(member) ? 0.5 : member;
    return Number.isFinite(member) ? member : Math.sign(member) * Number.MAX_VALUE;
  }
  const value: unknown = parseJson(text, revive);
  const own = holder === undefined ? undefined : digits.get(holder)?.get('');
  if (own !== undefined) return { value, digits: new Map(), own };
  return digits.size === 0 ? plainValue(value) : { value, digits, own };
}

function isDouble(number: number, source: string): boolean {
  return Number.isFinite(number) && compareDecimals(number, source) === 0;
}
