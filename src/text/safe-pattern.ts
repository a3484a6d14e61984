import { withinLimit } from '../time/time-limit.ts';
import { carryOver, type LinearPattern } from './linear-pattern.ts';
import { readCost } from './pattern-cost.ts';

/** A regular expression of JavaScript's that no text can keep busy. */
export interface SafePattern {
  /** Whether it is found in the text. Throws RangeError when that takes longer than a second. */
  test(text: string): boolean;
  toString(): string;
}

/**
 * Compiles it. Where the text is so short that no text could take long, JavaScript's own engine looks; else one whose time
 * grows with the text only; and where the pattern needs JavaScript's own, it is given a second. Throws SyntaxError.
 */
export function compileSafe(source: string, flags = ''): SafePattern {
  const native = new RegExp(source, flags);
  const isQuick = readCost(source, flags);
  let linear: { readonly engine: LinearPattern | undefined } | undefined;
  const testSlowly = (text: string): boolean => {
    linear ??= { engine: carryOver(source, flags) };
    const engine = readsAlike(text, flags) ? (linear.engine ?? native) : native;
    if ('size' in engine && engine.size * text.length <= STEPS) return engine.test(text);
    return withinLimit('looking for a pattern', () => engine.test(text));
  };
  return {
    test: (text) => (isQuick(text.length) ? native.test(text) : testSlowly(text)),
    toString: () => String(native),
  };
}

/** Without the flag `u` JavaScript sees the halves of a character; with it, halves that stand alone. */
function readsAlike(text: string, flags: string): boolean {
  return flags.includes('u') ? !/\p{Surrogate}/u.test(text) : !/[\ud800-\udfff]/.test(text);
}

/** Some hundred milliseconds of the linear engine. */
const STEPS = 10_000_000;

/** A pattern that says who hears of something; where it takes longer than a second, it is taken to be found. Undefined of none. */
export function compileGuard(source: string, flags = ''): Pick<SafePattern, 'test'> | undefined {
  const pattern = tryCompile(source, flags);
  return pattern && { test: (text) => testOr(true, pattern, text) };
}

/** A pattern that says what may pass; where it takes longer than a second, it is taken not to be found. Throws SyntaxError. */
export function compileExemption(source: string, flags = ''): Pick<SafePattern, 'test'> {
  const pattern = compileSafe(source, flags);
  return { test: (text) => testOr(false, pattern, text) };
}

function tryCompile(source: string, flags: string): SafePattern | undefined {
  try {
    return compileSafe(source, flags);
  } catch {
    return undefined;
  }
}

function testOr(inDoubt: boolean, pattern: SafePattern, text: string): boolean {
  try {
    return pattern.test(text);
  } catch (thrown) {
    if (thrown instanceof RangeError) return inDoubt;
    throw thrown;
  }
}
