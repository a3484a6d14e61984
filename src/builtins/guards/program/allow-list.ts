import { RuntimeError } from '../../../base/errors.ts';
import { compileExclusivePattern } from '../../../base/text/safe-pattern.ts';

/**
 * Compiles a list of values and `/patterns/` to a test; patterns must match the whole text. Throws USAGE.
 */
export function readAllowList(entries: readonly string[]): (text: string) => boolean {
  const rules = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  const values = new Set(rules.filter((rule) => !isPattern(rule)).map((rule) => rule.toLowerCase()));
  const patterns = rules.filter(isPattern).map(compile);
  return (text) => {
    if (values.has(text.toLowerCase())) return true;
    return text.length <= maxLength && patterns.some((pattern) => pattern.test(text));
  };
}

/** Patterns are not tried on longer texts. */
const maxLength = 1000;

function isPattern(rule: string): boolean {
  return /^\/.+\/[iu]*$/s.test(rule);
}

function compile(rule: string): ReturnType<typeof compileExclusivePattern> {
  const end = rule.lastIndexOf('/');
  const flags = new Set([...rule.slice(end + 1), 'u']);
  try {
    return compileExclusivePattern(`^(?:${rule.slice(1, end)})$`, [...flags].join(''));
  } catch {
    const hint =
      'A pattern is a regular expression of JavaScript between slashes, with the flag i if need be.';
    throw new RuntimeError('USAGE', `the pattern ${rule} of --allow cannot be compiled`, { hint });
  }
}
