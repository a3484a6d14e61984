import { randomUUID } from 'node:crypto';
import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type { Approval } from './approval.ts';

/** One call of one tool. `args` is a JSON object whose text reaches the process unchanged. */
export interface ToolCall {
  readonly name: string;
  readonly callId: string;
  readonly args: Json;
  readonly approval?: Approval;
  /** The same for every repetition of one call; sent only to tools that are declared idempotent. */
  readonly idempotencyKey?: string;
}

export interface ToolOk {
  readonly status: 'ok';
  readonly result: Json;
}

export interface ToolFailed {
  readonly status: 'failed';
  readonly error: Fault;
}

/** The tool asks for a person. `members` holds the whole pending object, unknown members included. */
export interface ToolPending {
  readonly status: 'pending';
  readonly reason: string;
  readonly message: string;
  readonly members: Json;
}

export type ToolOutcome = ToolOk | ToolFailed | ToolPending;

export const ok = (result: Json): ToolOk => ({ status: 'ok', result });
export const failed = (error: Fault): ToolFailed => ({ status: 'failed', error });
export const pending = (reason: string, message: string, members: Json): ToolPending => ({
  status: 'pending',
  reason,
  message,
  members,
});

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
