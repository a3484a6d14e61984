import type { Fault } from '../../base/errors.ts';

/** Keys of `details` whose values Signalbox itself writes. */
const ownKeys = new Set(['signal', 'stage', 'problem']);

/**
 * The fault with its message, and of its details only what is not a peer’s text, such as an exit code. Output
 * of a process (stderr, a malformed reply) has passed no filter and is left out.
 */
export function withoutPeerText({ code, message, hint, details = {} }: Fault): Fault {
  const kept = Object.entries(details).filter(
    ([key, value]) => value === null || /^(?:number|boolean)$/.test(typeof value) || ownKeys.has(key),
  );
  return { code, message, hint, ...(kept.length > 0 && { details: Object.fromEntries(kept) }) };
}
