import { isObject, stringifyJson, toLossless } from './json.ts';
import { parseJson } from './parse-json.ts';

// Three rules of JSON equality. All ignore the order of keys, white space and escapes.

/** One text for all spellings of a JSON value; numbers keep their spelling. */
export function canonicalJson(value: unknown): string {
  return stringifyJson(sortKeys(toLossless(value)));
}

/** One text for all spellings of a JSON text, in which numbers keep every character: `1` is not `1.0`. */
export function canonicalText(text: string): string {
  return stringifyJson(sortKeys(parseToTheDigit(text)));
}

/** A tree in which each number is a `JSON.rawJSON` with all its characters. */
export function parseToTheDigit(text: string): unknown {
  return parseJson(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value,
  );
}

/** Compares numbers as they are written: `1` is not `1.0`. */
export function isSameToTheDigit(one: unknown, other: unknown): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other);
}

/** Compares two lossless values, numbers by value: `1` equals `1.0` and `10e-1`. */
export function isSameByValue(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSameByValue(item, other[index]));
  }
  if (isMembers(one) && isMembers(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && isSameByValue(one[key], other[key]))
    );
  }
  return one === other || isSameNumber(one, other);
}

/**
 * The path of the first difference of two lossless values, such as `prompt[2].content[0].text`. Compares numbers as
 * they are written; an absent member equals null. Returns undefined if there is none.
 */
export function findDifference(one: unknown, other: unknown, path = ''): string | undefined {
  if (Array.isArray(one) && Array.isArray(other)) {
    const length = Math.max(one.length, other.length);
    for (let index = 0; index < length; index += 1) {
      const found = findDifference(one[index], other[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isMembers(one) && isMembers(other)) {
    for (const key of [...new Set([...Object.keys(one), ...Object.keys(other)])].toSorted()) {
      const found = findDifference(one[key], other[key], path === '' ? key : `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return stringifyJson(one ?? null) === stringifyJson(other ?? null) ? undefined : path;
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !JSON.isRawJSON(value);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isMembers(value)) return value;
  const sorted = Object.keys(value).toSorted();
  return Object.fromEntries(sorted.map((key) => [key, sortKeys(value[key])]));
}

function isSameNumber(one: unknown, other: unknown): boolean {
  const text = numberText(one);
  const otherText = numberText(other);
  if (text === undefined || otherText === undefined) return false;
  return text === otherText || canonicalNumber(text) === canonicalNumber(otherText);
}

function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

function canonicalNumber(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const zeros = countEndZeros(digits);
  if (zeros === digits.length) return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(zeros);
  return `${sign}${digits.slice(0, digits.length - zeros)}e${power}`;
}

/** A pattern such as `0+$` takes quadratic time. */
function countEndZeros(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.length - end;
}
