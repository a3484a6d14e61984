import type { PendingOrigin } from '../contract/approval.ts';
import type { Decision } from '../contract/hook.ts';
import { failed, ok, type ToolFailed, type ToolOk } from '../contract/tool.ts';
import type { Fault } from '../errors.ts';
import { Json } from '../json/json.ts';

/** A hook stopped the call: before it ran, or its result was withheld. */
export interface ToolDenied {
  readonly status: 'denied';
  readonly hook: string;
  readonly reason: string;
  /** How much more than the call the hook ended. */
  readonly abort?: 'turn' | 'session';
  /** Set when a fault of the hook, rather than its word, denied. */
  readonly error?: Fault;
}

/** The call waits for a person. `args` are those that the tool was given, or would be. */
export interface CallPaused {
  readonly status: 'pending';
  readonly origin: PendingOrigin;
  /** The hook that asked; null for other origins. */
  readonly hook: string | null;
  readonly args: Json;
  readonly reason: string;
  readonly message: string;
  /** The tool's whole pending object; `{}` for other origins. */
  readonly members: Json;
  /** How long a decision may take; null: for ever. */
  readonly expiresMs: number | null;
}

/** What a tool call came to, hooks included. */
export interface CallResult {
  readonly outcome: ToolOk | ToolFailed | ToolDenied | CallPaused;
  readonly callId: string;
  /** The text that a model is given for it. */
  readonly content: string;
  /** What the hooks had to say, merged in order; a denying hook's alone. */
  readonly metadata: Json;
  /** What hooks gave the model to read beside the result; it stands in `content` already. */
  readonly context?: readonly string[];
  /** What a hook that answered in the tool's place wants the caller to be told. */
  readonly handled?: string;
}

/** Which tool a result is of. */
export interface CallNames {
  readonly tool: string;
  readonly callId: string;
}

export const noMetadata = new Json('{}');

export function settled(
  { tool, callId }: CallNames,
  outcome: ToolOk | ToolFailed,
  metadata = noMetadata,
): CallResult {
  return { outcome, callId, content: modelText(tool, outcome), metadata };
}

export function paused({ callId }: CallNames, outcome: CallPaused, metadata = noMetadata): CallResult {
  return { outcome, callId, content: outcome.message, metadata };
}

export function denied({ tool, callId }: CallNames, decision: Decision): CallResult {
  const hook = decision.hook ?? '';
  const { reason, metadata, error, abort } = decision;
  const outcome: ToolDenied = {
    ...{ status: 'denied', hook, reason },
    ...(abort && { abort }),
    ...(error && { error }),
  };
  return { outcome, callId, content: `Tool "${tool}" was blocked by hook "${hook}": ${reason}`, metadata };
}

/** A person said no: the model reads who was asked and why not. */
export function rejected({ tool, callId }: CallNames, error: Fault, reason: string): CallResult {
  const said = reason === '' ? '' : `: ${reason}`;
  return {
    outcome: failed(error),
    callId,
    content: `Tool "${tool}" was rejected${said}`,
    metadata: noMetadata,
  };
}

/** What a model reads of an outcome: text as it is, any other result as its JSON text. */
export function modelText(tool: string, outcome: ToolOk | ToolFailed): string {
  if (outcome.status === 'failed') return `Tool "${tool}" failed: ${outcome.error.message}`;
  return typeof outcome.result.value === 'string' ? outcome.result.value : outcome.result.text;
}

/** An outcome whose text a filter replaced. A failure stays one, and its message gives nothing away. */
export function withContent(outcome: ToolOk | ToolFailed, content: string): ToolOk | ToolFailed {
  if (outcome.status === 'failed') {
    const { code, hint } = outcome.error;
    return failed({ code, message: content, hint });
  }
  return ok(resultFrom(outcome.result, content));
}

/** The result that a new text of it stands for. */
export function resultFrom(old: Json, content: string): Json {
  return typeof old.value === 'string' ? Json.from(content) : parsedOrText(content);
}

function parsedOrText(content: string): Json {
  const json = new Json(content.trim());
  try {
    void json.value;
    return json;
  } catch {
    return Json.from(content);
  }
}
