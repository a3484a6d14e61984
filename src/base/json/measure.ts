export interface Measure {
  readonly isLarge: boolean;
  readonly depth: number;
}

/** Counts parts up to `most`. Every `letters` characters of a text count as one more part. */
export function measureValue(value: unknown, most: number, letters = 1000): Measure {
  const tally: Tally = { most, letters, parts: 0, depth: 0 };
  const isLarge = overflows(value, tally, 1);
  return { isLarge, depth: tally.depth };
}

interface Tally {
  readonly most: number;
  readonly letters: number;
  parts: number;
  depth: number;
}

function overflows(value: unknown, tally: Tally, depth: number): boolean {
  tally.parts += typeof value === 'string' ? 1 + value.length / tally.letters : 1;
  if (tally.parts > tally.most) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (depth > tally.depth) tally.depth = depth;
  if (depth > MAX_DEPTH) return true;
  for (const key in value) {
    if (overflows(Reflect.get(value, key), tally, depth + 1)) return true;
  }
  return false;
}

/** Far from the end of the stack. */
const MAX_DEPTH = 500;
