import type { RuntimeError } from '../errors.ts';

/** What a server wrote that an error of ours says cannot be used. No part of the error: it is told to nobody. */
const lines = new WeakMap<RuntimeError, string>();

/** Keeps the line that was to be an answer beside the error, for whoever must look for a denial in it. */
export function keepLine(error: RuntimeError, bytes: Uint8Array): RuntimeError {
  lines.set(error, Buffer.from(bytes).toString());
  return error;
}

/** The line that could not be used; undefined where an error is not about one. */
export function unreadLine(error: RuntimeError): string | undefined {
  return lines.get(error);
}
