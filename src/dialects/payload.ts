import { isObject, Json } from '../json/json.ts';
import type { Payload } from './foreign-dialect.ts';

/** A value of a payload as plain data, whether it came as a tree or as text. */
export function toPlainValue(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

/** A member of an object of a payload as a plain value; undefined when there is none. */
export function valueAt(tree: unknown, key: string): unknown {
  const plain = toPlainValue(tree);
  return isObject(plain) && Object.hasOwn(plain, key) ? toPlainValue(plain[key]) : undefined;
}

/** The same, where it is a text. */
export function textAt(tree: unknown, key: string): string | undefined {
  const value = valueAt(tree, key);
  return typeof value === 'string' ? value : undefined;
}

/** The members that have a value. */
export function omitUndefined(payload: Payload): Payload {
  return Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
}

/** Of which type a JSON value is: as `typeof`, but `list` and `null` for what JavaScript calls objects. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}
