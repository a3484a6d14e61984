import { randomUUID } from 'node:crypto';
import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type { Approval } from './approval.ts';

/** One tool call. `args` is a JSON object whose text reaches the process unchanged. */
export interface ToolCall {
  readonly name: string;
  readonly callId: string;
  readonly args: Json;
  readonly approval?: Approval;
  /** The same for every repetition of a call; sent only to tools that are declared idempotent. */
  readonly idempotencyKey?: string;
}

export interface ToolOk {
  readonly status: 'ok';
  readonly result: Json;
  /** What a model reads of a result in the form of MCP. Absent: the result itself. */
  readonly text?: string;
}

export interface ToolFailed {
  readonly status: 'failed';
  readonly error: Fault;
  /** The tool's result in the form of MCP, with `isError`. */
  readonly result?: Json | undefined;
}

/** The tool requires a person's decision. `members` is the whole pending object, unknown members included. */
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

/** Stored ids and idempotency keys must be unique across processes: 74 random bits are drawn once, 48 bits count. */
export function createIds(prefix: string): () => string {
  // Created on first use, because loading the random generator takes long.
  let start: string | undefined;
  let count = 0;
  let high = '';
  return () => {
    start ??= `${prefix}${randomUUID().slice(0, -COUNT_DIGITS)}`;
    count += 1;
    if (high === '' || count % 256 === 0) high = start + hex(Math.floor(count / 256), COUNT_DIGITS - 2);
    return high + lowDigits(count);
  };
}

function hex(count: number, digits: number): string {
  return count.toString(16).padStart(digits, '0');
}

function lowDigits(count: number): string {
  const low = count % 256;
  known[low] ??= hex(low, 2);
  return known[low];
}

const known: string[] = [];
const COUNT_DIGITS = 12;

export const nextCallId = createIds('call_');
export const nextEventId = createIds('event_');
/** The id of an eval exchange or a session phase. */
export const nextExchangeId = createIds('');
