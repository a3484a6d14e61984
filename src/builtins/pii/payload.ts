import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The object; throws EVENT_INVALID when it is none. */
export function requireObject(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw invalidEventError(`${what} is not an object`);
}

/** The list, an empty one where there is none; throws EVENT_INVALID when it is something else. */
export function requireList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw invalidEventError(`${what} is not a list`);
}

/** The text, an empty one where there is none; throws EVENT_INVALID when it is something else. */
export function requireText(value: unknown, what: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw invalidEventError(`${what} is not a text`);
}

/** EVENT_INVALID; `problem` names members only, never their values. */
export function invalidEventError(problem: string): RuntimeError {
  return new RuntimeError('EVENT_INVALID', `the event cannot be filtered: ${problem}`);
}
