/** The number with twelve digits: what binary sums and products leave behind those is no part of what was meant. */
export function toDecimal(number: number): number {
  return Number(number.toPrecision(12));
}

/** A number for people: four decimals, or as many more as it takes to tell it from each of `others` that it is not. */
export function formatNumber(number: number, others: readonly number[] = []): string {
  const isTold = (short: number) =>
    short === number || (!others.includes(short) && (short !== 0 || number === 0));
  const rounded = Math.abs(number) < 0.01 ? number.toPrecision(4) : number.toFixed(4);
  const shorts = [Number(rounded), toDecimal(number)];
  return String(shorts.find(isTold) ?? number);
}
