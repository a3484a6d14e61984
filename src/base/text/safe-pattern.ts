import { withinLimit } from '../time/time-limit.ts';
import { compileLinearFromJs, type LinearPattern } from './linear-pattern.ts';
import { estimateCost } from './pattern-cost.ts';

/** A JavaScript regular expression whose running time is bounded for any text. */
export interface SafePattern {
  /** Throws RangeError after one second. */
  test(text: string): boolean;
  toString(): string;
}

/**
 * Matches short texts with JavaScript's engine and longer ones with the linear engine. A pattern that needs
 * JavaScript's engine gets at most a second. Throws SyntaxError.
 */
export function compileSafe(source: string, flags = ''): SafePattern {
  const native = new RegExp(source, flags);
  const isQuick = estimateCost(source, flags);
  let linear: { readonly engine: LinearPattern | undefined } | undefined;
  const testSlowly = (text: string): boolean => {
    linear ??= { engine: compileLinearFromJs(source, flags) };
    const engine = matchesAlike(text, flags) ? (linear.engine ?? native) : native;
    if ('size' in engine && engine.size * text.length <= STEPS) return engine.test(text);
    return withinLimit('looking for a pattern', () => engine.test(text));
  };
  return {
    test: (text) => (isQuick(text.length) ? native.test(text) : testSlowly(text)),
    toString: () => String(native),
  };
}

/** The engines agree without surrogates; with the flag `u`, without lone ones. */
function matchesAlike(text: string, flags: string): boolean {
  return flags.includes('u') ? !/\p{Surrogate}/u.test(text) : !/[\ud800-\udfff]/.test(text);
}

const STEPS = 10_000_000;

/** A pattern that selects a hook; a match that takes too long counts as found. Undefined if invalid. */
export function compileInclusivePattern(source: string, flags = ''): Pick<SafePattern, 'test'> | undefined {
  const pattern = tryCompile(source, flags);
  return pattern && { test: (text) => testOr(true, pattern, text) };
}

/** A pattern that exempts something; a match that takes too long counts as not found. Throws SyntaxError. */
export function compileExclusivePattern(source: string, flags = ''): Pick<SafePattern, 'test'> {
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
