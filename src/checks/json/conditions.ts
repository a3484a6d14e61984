import type { Params } from '../check.ts';
import { isSameValue } from '../same-value.ts';

/** Which conditions of `json_path` the value does not meet, a sentence each. */
export function findMisses(found: unknown, params: Params): string[] {
  const given = Object.keys(conditions).filter((name) => name in params);
  if (given.length === 0) return found === null ? ['nothing was found'] : [];
  return given.flatMap((name) => conditions[name]?.(found, params[name]) ?? []);
}

/** Undefined when it is met. */
type Condition = (found: unknown, wanted: unknown) => string | undefined;

const conditions: Readonly<Record<string, Condition>> = {
  expected: (found, wanted) =>
    isSameValue(found, wanted) ? undefined : `found ${show(found)}, not ${show(wanted)}`,
  contains: (found, wanted) => {
    if (!Array.isArray(found)) return `found ${show(found)}, which is no list`;
    const items: readonly unknown[] = Array.isArray(wanted) ? wanted : [];
    const missing = items.filter((item) => !found.some((element) => isSameValue(element, item)));
    return missing.length === 0 ? undefined : `the list lacks ${missing.map(show).join(', ')}`;
  },
  min: (found, wanted) => compare(found, wanted, (a, b) => a >= b, 'less'),
  max: (found, wanted) => compare(found, wanted, (a, b) => a <= b, 'more'),
  min_results: (found, wanted) => compare(lengthOf(found), wanted, (a, b) => a >= b, 'fewer'),
  max_results: (found, wanted) => compare(lengthOf(found), wanted, (a, b) => a <= b, 'more'),
};

function compare(
  found: unknown,
  wanted: unknown,
  isMet: (found: number, wanted: number) => boolean,
  word: string,
): string | undefined {
  if (typeof found !== 'number') return `found ${show(found)}, which is no number or list to compare`;
  return isMet(found, Number(wanted)) ? undefined : `found ${found}, which is ${word} than ${show(wanted)}`;
}

/** How many elements a list has; what is no list is left as it is. */
function lengthOf(found: unknown): unknown {
  if (found === null) return 0;
  return Array.isArray(found) ? found.length : { found };
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
