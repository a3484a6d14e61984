import { isSameByValue } from '../../../base/json/equal.ts';
import type { Params } from '../check.ts';

/** The conditions of `json_path` that the value does not meet, one sentence each. */
export function findUnmetConditions(found: unknown, params: Params): string[] {
  const given = Object.keys(conditions).filter((name) => name in params);
  if (given.length === 0) return found === null ? ['nothing was found'] : [];
  return given.flatMap((name) => conditions[name]?.(found, params[name]) ?? []);
}

/** Undefined when it is met. */
type Condition = (found: unknown, wanted: unknown) => string | undefined;

const conditions: Readonly<Record<string, Condition>> = {
  expected: (found, wanted) =>
    isSameByValue(found, wanted) ? undefined : `found ${excerpt(found)}, not ${excerpt(wanted)}`,
  contains: (found, wanted) => {
    if (!Array.isArray(found)) return `found ${excerpt(found)}, which is no list`;
    const items: readonly unknown[] = Array.isArray(wanted) ? wanted : [];
    const missing = items.filter((item) => !found.some((element) => isSameByValue(element, item)));
    return missing.length === 0 ? undefined : `the list lacks ${missing.map(excerpt).join(', ')}`;
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
  comparison: string,
): string | undefined {
  if (typeof found !== 'number') return `found ${excerpt(found)}, which is no number or list to compare`;
  return isMet(found, Number(wanted))
    ? undefined
    : `found ${found}, which is ${comparison} than ${excerpt(wanted)}`;
}

/** The number of a list's elements, 0 for null; another value wrapped, so that it is no number to compare. */
function lengthOf(found: unknown): unknown {
  if (found === null) return 0;
  return Array.isArray(found) ? found.length : { found };
}

function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
