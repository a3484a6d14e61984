import type { Fault } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/try-parse.ts';
import type { PendingOrigin } from '../../contract/approval.ts';
import type { Decision } from '../../contract/hook.ts';
import { failed, ok, type ToolFailed, type ToolOk } from '../../contract/tool.ts';
import { noMetadata } from '../../dialects/metadata.ts';

/** A hook stopped the call: before it ran, or its result was withheld. */
export interface ToolDenied {
  readonly status: 'denied';
  readonly hook: string;
  readonly reason: string;
  /** How much more than the call the hook ended. */
  readonly abort?: 'turn' | 'session';
  /** Set when the hook failed, rather than answered deny. */
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
  /** How long a decision may take; null: no limit. */
  readonly expiresMs: number | null;
}

/** The result of a tool call after its hooks. */
export interface CallResult {
  readonly outcome: ToolOk | ToolFailed | ToolDenied | CallPaused;
  readonly callId: string;
  /** The text that a model is given for it. */
  readonly content: string;
  /** The metadata of all hooks, merged in order; of a denied call that of the denying hook. */
  readonly metadata: Json;
  /** Texts that hooks added for the model; `content` includes them already. */
  readonly context?: readonly string[];
  /** The text for the caller of a hook that answered in the tool's place. */
  readonly handled?: string;
  /** The arguments that the tool was given, where hooks or a person changed what was asked for. */
  readonly sent?: Json;
}

/** Which tool a result is of. */
export interface CallNames {
  readonly tool: string;
  readonly callId: string;
}

export function resultOf(
  { tool, callId }: CallNames,
  outcome: ToolOk | ToolFailed,
  metadata = noMetadata,
): CallResult {
  return { outcome, callId, content: modelText(tool, outcome), metadata };
}

export function pendingResult({ callId }: CallNames, outcome: CallPaused, metadata = noMetadata): CallResult {
  return { outcome, callId, content: outcome.message, metadata };
}

export function deniedResult({ tool, callId }: CallNames, decision: Decision): CallResult {
  const hook = decision.hook ?? '';
  const { reason, metadata, error, abort } = decision;
  const outcome: ToolDenied = {
    ...{ status: 'denied', hook, reason },
    ...(abort && { abort }),
    ...(error && { error }),
  };
  return { outcome, callId, content: `Tool "${tool}" was blocked by hook "${hook}": ${reason}`, metadata };
}

/** The result of a call that a person rejected, with the reason for the model. */
export function rejectedResult({ tool, callId }: CallNames, error: Fault, reason: string): CallResult {
  const suffix = reason === '' ? '' : `: ${reason}`;
  return {
    outcome: failed(error),
    callId,
    content: `Tool "${tool}" was rejected${suffix}`,
    metadata: noMetadata,
  };
}

/** The text that the model reads of an outcome: a string as it is, any other result as its JSON text. */
export function modelText(tool: string, outcome: ToolOk | ToolFailed): string {
  if (outcome.status === 'failed') return `Tool "${tool}" failed: ${outcome.error.message}`;
  const { result } = outcome;
  // Anything but a text is given as it is, and need not be read for that.
  return result.text.startsWith('"') ? String(result.value) : result.text;
}

/**
 * The outcome with the text of a filter. A failure stays a failure, without its original message and details.
 */
export function withContent(outcome: ToolOk | ToolFailed, content: string): ToolOk | ToolFailed {
  if (outcome.status === 'failed') {
    const { code, hint } = outcome.error;
    return failed({ code, message: content, hint });
  }
  return ok(resultFrom(outcome.result, content));
}

/** The result for a replaced text: a string if the old one was, else parsed as JSON, or the text itself. */
export function resultFrom(old: Json, content: string): Json {
  const parsed = typeof old.value === 'string' ? undefined : tryJson(content.trim());
  return parsed ?? Json.from(content);
}
