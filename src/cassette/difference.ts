import { isObject, stringifyJson } from '../json/json.ts';

/** The path of the first difference of two JSON values, such as `prompt[2].content[0].text`; keys have no order. */
export function findDifference(one: unknown, other: unknown, path = ''): string | undefined {
  if (Array.isArray(one) && Array.isArray(other)) {
    const longer = one.length > other.length ? one : other;
    return firstDefined(
      longer.map((_, index) => () => findDifference(one[index], other[index], `${path}[${index}]`)),
    );
  }
  if (isPlainObject(one) && isPlainObject(other)) {
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])].toSorted();
    return firstDefined(
      keys.map((key) => () => findDifference(one[key], other[key], path === '' ? key : `${path}.${key}`)),
    );
  }
  return stringifyJson(one ?? null) === stringifyJson(other ?? null) ? undefined : path;
}

/** How many characters two texts have in common at their beginnings. */
export function sharedPrefixLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !JSON.isRawJSON(value);
}

function firstDefined(searches: readonly (() => string | undefined)[]): string | undefined {
  for (const search of searches) {
    const found = search();
    if (found !== undefined) return found;
  }
  return undefined;
}
