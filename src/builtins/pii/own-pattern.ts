import { compileLinear, compileLinearFromJs, type LinearSearch } from '../../base/text/linear-pattern.ts';
import type { Finder, Finding } from './finding.ts';
import { checksums } from './lazy-libraries.ts';

/** A kind of personal data that a user declares. */
export interface OwnPattern {
  /** What stands in place of a value, in brackets: capitals, digits and `_`. */
  readonly name: string;
  /** A regular expression of JavaScript without lookaround and back references, or of RE2. */
  readonly pattern: string;
  /** Words of which one must stand in the same line, near the value; none: it stands alone. */
  readonly context: readonly string[];
  readonly checksum: Checksum | undefined;
}

export const checksumNames = ['luhn', 'mod97', 'mod11_10', 'verhoeff'] as const;
type Checksum = (typeof checksumNames)[number];

export const ownName = /^[A-Z][A-Z0-9_]{1,39}$/;

/** Compiles the pattern on the linear engine, so that no text makes it slow. Throws Error where it cannot be. */
export function compileOwnPattern(pattern: string): LinearSearch {
  // Throws SyntaxError for what is no pattern of either kind.
  const compiled = compileLinearFromJs(pattern, 'u') ?? compileLinear(pattern);
  if (compiled.test('')) throw new Error('it matches the empty text');
  return compiled;
}

/** What stands before a value in its line, and right behind it. */
const NEAR = { before: 60, behind: 30 };

/** Throws Error for a pattern that cannot be compiled. */
export function createOwnFinder({ name, pattern, context, checksum }: OwnPattern): Finder {
  const compiled = compileOwnPattern(pattern);
  const words = context.map((word) => word.toLowerCase());
  return function* findOwn({ text }): Generator<Finding> {
    const isNear = (start: number, end: number) => {
      const before = text.slice(Math.max(0, start - NEAR.before), start);
      const line = before.slice(before.lastIndexOf('\n') + 1);
      const around = `${line} ${text.slice(end, end + NEAR.behind).split('\n', 1)[0]}`.toLowerCase();
      return words.length === 0 || words.some((word) => around.includes(word));
    };
    for (const { start, end } of compiled.matches(text)) {
      if (start === end || !isNear(start, end)) continue;
      const digits = text
        .slice(start, end)
        .replaceAll(/[^\p{L}\p{N}]/gu, '')
        .toUpperCase();
      if (checksum !== undefined && !checksums()[checksum](digits)) continue;
      yield { entity: name, start, end, isConfirmed: true };
    }
  };
}
