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
