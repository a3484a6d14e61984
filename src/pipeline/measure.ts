/** What makes a value costly to compare. */
export interface Measure {
  /** It has many thousands of parts, or cannot be measured. */
  readonly isLarge: boolean;
  /** It is large, or its parts stand inside of one another further than a hand would write them. */
  readonly isDeep: boolean;
}

/** Measures a plain value, and looks at no more of it than it must. */
export function measure(value: unknown): Measure {
  const tally = { parts: 0, depth: 0 };
  const isLarge = isComposite(value) && overflows(value, tally, 1);
  return { isLarge, isDeep: isLarge || tally.depth > MOST_LEVELS };
}

function overflows(composite: object, tally: { parts: number; depth: number }, depth: number): boolean {
  if (depth > tally.depth) tally.depth = depth;
  if (depth > DEEPEST) return true;
  for (const key in composite) {
    const member: unknown = Reflect.get(composite, key);
    tally.parts += 1;
    if (tally.parts > MOST_PARTS) return true;
    if (isComposite(member) && overflows(member, tally, depth + 1)) return true;
  }
  return false;
}

const MOST_PARTS = 10_000;
/** A schema that tries three ways at each level has tried thousands at this one. */
const MOST_LEVELS = 8;
/** Far from the end of the stack. */
const DEEPEST = 500;

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
