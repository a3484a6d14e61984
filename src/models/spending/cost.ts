import { add, exact, multiply, toDouble } from '../../base/json/decimal.ts';

/** US dollars per 1,000 tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** US dollars that so many tokens cost; null without a price. */
export function costOf(
  { input, output }: { readonly input: number; readonly output: number },
  price: Price | undefined,
): number | null {
  if (price === undefined) return null;
  const [read, written] = [
    multiply(exact(input), exact(price.input)),
    multiply(exact(output), exact(price.output)),
  ];
  return toDouble(multiply(add(read, written), { over: 1n, under: 1n, exponent: -3 }));
}
