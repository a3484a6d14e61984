/**
 * Returns the integer digits of a number in any notation: `-4.5e3` gives 4500. Undefined for other text and for numbers
 * longer than any that the finders look for.
 */
export function integerDigits(written: string): string | undefined {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d{1,40})(?:\.(\d{1,40}))?(?:e([+-]?\d{1,3}))?$/i.exec(written) ?? [];
  const shift = Number(exponent);
  const length = whole.length + shift;
  if (whole === '' || length > MAX_DIGITS) return undefined;
  const digits = `${whole}${fraction}`.slice(0, Math.max(0, length));
  return digits.padEnd(Math.max(0, length), '0').replace(/^0+(?=.)/, '');
}

const MAX_DIGITS = 40;
