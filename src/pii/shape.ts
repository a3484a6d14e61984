import { RuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The object; throws EVENT_INVALID when it is none. */
export function requireObject(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw refuse(`${what} is not an object`);
}

/** The list, an empty one where there is none; throws EVENT_INVALID when it is something else. */
export function requireList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw refuse(`${what} is not a list`);
}

/** The text, an empty one where there is none; throws EVENT_INVALID when it is something else. */
export function requireText(value: unknown, what: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw refuse(`${what} is not a text`);
}

/** What it says names members only, never what stands in them. */
export function refuse(problem: string): RuntimeError {
  return new RuntimeError('EVENT_INVALID', `the event cannot be filtered: ${problem}`);
}
