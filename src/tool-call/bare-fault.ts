import { catalogue, type Fault } from '../errors.ts';

/** Members of `details` that are words of our own. */
const ownWords = new Set(['signal', 'stage', 'problem']);

/**
 * The fault as filters that were shown its message have seen it: of its details only what is no text of a peer, such
 * as an exit code. What a process wrote to stderr, or in the place of a reply, has passed nobody.
 */
export function bareFault({ code, message, hint, details = {} }: Fault): Fault {
  const kept = Object.entries(details).filter(
    ([key, value]) => value === null || /^(?:number|boolean)$/.test(typeof value) || ownWords.has(key),
  );
  return { code, message, hint, ...(kept.length > 0 && { details: Object.fromEntries(kept) }) };
}

/** The fault in words of our own, which quote nothing. */
export function mutedFault({ code }: Fault): Fault {
  const { summary: message, hint } = catalogue[code];
  return { code, message, hint };
}
