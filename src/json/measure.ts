/** What makes a plain value costly to look at again and again. */
export interface Measure {
  /** It has more parts than were allowed, or its parts stand too far inside of one another to be counted. */
  readonly isLarge: boolean;
  /** How far its parts stand inside of one another, as far as they were counted. */
  readonly depth: number;
}

/** Counts the parts of a plain value, and looks at no more of it than it must; so many letters are one more part. */
export function measure(value: unknown, most: number, letters = 1000): Measure {
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
  if (depth > DEEPEST) return true;
  for (const key in value) {
    if (overflows(Reflect.get(value, key), tally, depth + 1)) return true;
  }
  return false;
}

/** Far from the end of the stack. */
const DEEPEST = 500;
