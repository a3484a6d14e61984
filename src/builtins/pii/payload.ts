import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Throws EVENT_INVALID unless the value is an object. */
export function requireObject(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw invalidEventError(`${what} is not an object`);
}

/** Returns an empty list for a missing one. Throws EVENT_INVALID for other values. */
export function requireList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw invalidEventError(`${what} is not a list`);
}

/** Returns an empty text for a missing one. Throws EVENT_INVALID for other values. */
export function requireText(value: unknown, what: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw invalidEventError(`${what} is not text`);
}

/** `problem` names members only, never their values. */
export function invalidEventError(problem: string): RuntimeError {
  return new RuntimeError('EVENT_INVALID', `the event is not valid: ${problem}`);
}
