/**
 * The number rounded to twelve significant digits, which removes binary rounding noise of sums and products.
 */
export function toDecimal(number: number): number {
  return Number(number.toPrecision(12));
}

/** The number as text with four decimals, or as many more as it takes to differ from each of `others`. */
export function formatNumber(number: number, others: readonly number[] = []): string {
  const isTold = (short: number) =>
    short === number || (!others.includes(short) && (short !== 0 || number === 0));
  const rounded = Math.abs(number) < 0.01 ? number.toPrecision(4) : number.toFixed(4);
  const shorts = [Number(rounded), toDecimal(number)];
  return String(shorts.find(isTold) ?? number);
}
