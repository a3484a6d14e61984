import { isObject } from '../../json.ts';

/** Whether two plain JSON values are the same; the order of keys says nothing, and 0 is -0. */
export function equalJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => equalJson(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && equalJson(one[key], other[key]))
  );
}
