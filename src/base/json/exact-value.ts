import { compareDecimals, isWhole } from './decimal.ts';
import { hasExactForm, Json, mayParsePlainly, stringifyJson } from './json.ts';

/** A JSON value as plain JavaScript, beside the digits of the numbers in it that no double holds. */
export interface ExactValue {
  /** A number that is in `digits` has a double in its place that is whole if it is. */
  readonly value: unknown;
  /** By what they stand in, and their key there. Undefined where every number is its double. */
  readonly digits: ReadonlyMap<object, ReadonlyMap<string, string>> | undefined;
  /** Where the value itself is such a number. */
  readonly own: string | undefined;
}

/** Reads a `Json`, or a tree that may hold some, raw numbers and bigints. */
export function readExactly(tree: unknown): ExactValue {
  if (tree instanceof Json)
    return mayParsePlainly(tree.text) ? plainValue(tree.value) : parseExactly(tree.text);
  return hasOwnSpelling(tree) ? parseExactly(stringifyJson(tree)) : plainValue(tree);
}

/** Whether digits or a text of its own stand somewhere in the tree. */
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
  // The value itself is the only member of an object that holds nothing else.
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
  const value: unknown = JSON.parse(text, revive);
  const own = holder === undefined ? undefined : digits.get(holder)?.get('');
  if (own !== undefined) return { value, digits: new Map(), own };
  return digits.size === 0 ? plainValue(value) : { value, digits, own };
}

function isDouble(number: number, source: string): boolean {
  return Number.isFinite(number) && compareDecimals(number, source) === 0;
}
