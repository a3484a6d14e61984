import { randomUUID } from 'node:crypto';

/**
 * A function that gives ids which no other gives, in this process or another, since they are stored and sent as
 * idempotency keys: UUIDs of version 4 whose first 74 random bits are drawn once, and whose last 48 count.
 */
function createIds(prefix: string): () => string {
  // Not before the first: what makes random bits takes long to load.
  let start: string | undefined;
  let count = 0;
  return () => {
    start ??= `${prefix}${randomUUID().slice(0, -COUNT_DIGITS)}`;
    count += 1;
    return start + count.toString(16).padStart(COUNT_DIGITS, '0');
  };
}

const COUNT_DIGITS = 12;

/** Names a tool call that its caller has not named. */
export const nextCallId = createIds('call_');
/** Names an event that is no part of a call. */
export const nextEventId = createIds('event_');
/** Names an eval that is asked, or a phase of a session. */
export const nextExchangeId = createIds('');
