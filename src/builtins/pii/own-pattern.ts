import { compileLinear, compileLinearFromJs, type LinearSearch } from '../../base/text/linear-pattern.ts';
import type { Finder, Finding } from './finding.ts';
import { checksums } from './lazy-libraries.ts';

export interface OwnPattern {
  /** The replacement of a value, in brackets: capitals, digits and `_`. */
  readonly name: string;
  /** A JavaScript regular expression without lookaround and back references, or an RE2 one. */
  readonly pattern: string;
  /** At least one of these words must be near the value in the same line; empty: no word is needed. */
  readonly context: readonly string[];
  readonly checksum: Checksum | undefined;
}

export const checksumNames = ['luhn', 'mod97', 'mod11_10', 'verhoeff'] as const;
type Checksum = (typeof checksumNames)[number];

export const ownName = /^[A-Z][A-Z0-9_]{1,39}$/;

/** Compiles to the linear engine, so that no text makes it slow. Throws Error if that is impossible. */
export function compileOwnPattern(pattern: string): LinearSearch {
  // Throws SyntaxError if the pattern is valid in neither syntax.
  const compiled = compileLinearFromJs(pattern, 'u') ?? compileLinear(pattern);
  if (compiled.test('')) throw new Error('it matches empty text');
  return compiled;
}

const NEAR = { before: 60, behind: 30 };

/** Throws Error for a pattern that does not compile. */
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
