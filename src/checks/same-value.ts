import { isMembers } from './tools/exact-values.ts';

/** Whether two exact values are the same JSON value: numbers by value, objects in any order of keys. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSameValue(item, other[index]));
  }
  if (isMembers(one) && isMembers(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && isSameValue(one[key], other[key]))
    );
  }
  return one === other || isSameNumber(one, other);
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

/** One text for all spellings of a number: its digits without zeros at either end, and a power of ten. */
function canonicalNumber(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const zeros = countEndZeros(digits);
  if (zeros === digits.length) return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(zeros);
  return `${sign}${digits.slice(0, digits.length - zeros)}e${power}`;
}

/** A pattern such as `0+$` would take quadratic time. */
function countEndZeros(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.length - end;
}
