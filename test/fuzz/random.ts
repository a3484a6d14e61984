/** A deterministic random number generator. */
export interface Random {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number;
  /** Throws Error if the list is empty. */
  oneOf<Value>(values: readonly Value[]): Value;
}

/** The generator sfc32 of PractRand, https://pracrand.sourceforge.net. */
export function newRandom(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next();
  const below = (limit: number) => Math.floor((next() / 0x1_0000_0000) * limit);
  return {
    below,
    oneOf: (values) => {
      const value = values[below(values.length)];
      if (value === undefined) throw new Error('there is nothing to choose from');
      return value;
    },
  };
}
