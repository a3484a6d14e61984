import type { RuntimeError } from '../base/errors.ts';

/**
 * The lines that REPLY_MALFORMED errors are about. Kept beside the errors, so that they are never printed.
 */
const lines = new WeakMap<RuntimeError, string>();

/**
 * Keeps the unusable line beside the error, so that a codec can look for a denial in it. Returns the error.
 */
export function attachUnusableLine(error: RuntimeError, bytes: Uint8Array): RuntimeError {
  lines.set(error, Buffer.from(bytes).toString());
  return error;
}

/** The line that could not be used; undefined where an error is not about one. */
export function unusableLineOf(error: RuntimeError): string | undefined {
  return lines.get(error);
}
