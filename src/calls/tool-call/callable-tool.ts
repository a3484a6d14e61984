import { type Fault, RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isTextTooDeep, isTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { plainText } from '../../base/json/plain-text.ts';
import { fitsAnything, type SchemaCheck } from '../../base/yaml/schema-check.ts';
import type { PendingOrigin } from '../../contract/approval.ts';
import type { Emit } from '../../contract/event.ts';
import type { Decision, HookEvent, ToolHookRequest } from '../../contract/hook.ts';
import {
  failed,
  ok,
  type ToolCall,
  type ToolFailed,
  type ToolOk,
  type ToolOutcome,
} from '../../contract/tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { noMetadata } from '../../dialects/metadata.ts';
import type { Port } from '../capability/invoke.ts';
import type { Link } from '../hooks/gate.ts';
import { resultFrom } from '../hooks/replace.ts';

export interface CallableTool {
  readonly name: string;
  /** Undefined if there is nothing to run. */
  readonly port: Port<ToolCall, ToolOutcome> | undefined;
  readonly checkArgs: SchemaCheck;
  /** Checks the result, or its structured content if it has the form of MCP. */
  readonly checkResult: SchemaCheck;
  /** The result has the form of MCP. */
  readonly isContent?: boolean | undefined;
  readonly links: readonly Link[];
  /** Determines when a person must approve first; absent: never. */
  readonly approval?: ApprovalCheck | undefined;
  /** false: an interrupted call must not be repeated without a person's decision. */
  readonly idempotent?: boolean | undefined;
  readonly category?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  /** Returns the real path of the path argument, with symbolic links resolved. */
  readonly findPath?: ((args: Json) => string | undefined) | undefined;
  /** Runs alone, after the other calls of its response. */
  readonly isExclusive?: boolean | undefined;
  /** Whether the arguments have the direct form, which only a host may send and the schema does not check. */
  readonly isDirect?: ((args: Json) => boolean) | undefined;
  /** A flow control tool: no process runs; the call itself determines how the conversation continues. */
  readonly flow?: { readonly endsTurn: boolean; readonly answer: (args: Json) => string } | undefined;
  /** The tool is not declared: only a hook can answer a call of it. */
  readonly isUnknown?: boolean | undefined;
}

export interface RequiredApproval {
  readonly reason: string;
  readonly message: string;
  readonly expiresMs: number | null;
}

/**
 * Returns the approval that these arguments need, or undefined. Never throws: a rule that fails to evaluate requires
 * approval.
 */
export interface ApprovalCheck {
  (args: Json): RequiredApproval | undefined;
  /** Whether some arguments may need no approval. */
  readonly isConditional: boolean;
  /** Milliseconds for a decision about this tool; null: no limit. */
  readonly expiresMs: number | null;
  /** The people who may decide; undefined: anyone with a name. */
  readonly by?: readonly string[] | undefined;
  /** The number of people who must approve; undefined: one. */
  readonly quorum?: number | undefined;
}

export interface CallContext {
  /** Receives the events of the call as an operation; absent: the call is a part of the current one. */
  readonly emit?: Emit | undefined;
  readonly callId?: string | undefined;
  /** The model's id of the call, if a model requested it. */
  readonly toolUseId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Sent to tools that are declared idempotent; default: the call's id. */
  readonly idempotencyKey?: string | undefined;
  /** The session and turn of the call; absent: a direct call. */
  readonly hookContext?: HookContext | undefined;
  /** The caller is a host, which may send the direct form of arguments. */
  readonly isByHost?: boolean | undefined;
  /** No person can answer a hook's question, now or later. */
  readonly isUnattended?: boolean | undefined;
  /** Defers the `returned` notification until all calls of the response have results; absent: it is sent at once. */
  readonly deferNotification?: ((notify: () => Promise<void>) => void) | undefined;
  /** Resolves when the results of earlier calls have passed their hooks; absent: no order is required. */
  readonly waitForResults?: (() => Promise<void>) | undefined;
  /** Finds the tool that a hook may rename the call to; absent: renaming is not possible. */
  readonly find?: ((name: string) => CallableTool | undefined) | undefined;
}

export interface Call extends CallContext {
  readonly tool: CallableTool;
  readonly callId: string;
}

export function namesOf({ tool, callId }: Call) {
  return { tool: tool.name, callId };
}

export function requestOf({ tool, callId, toolUseId }: Call, args: Json): ToolHookRequest {
  const { name, category, aliases, isUnknown } = tool;
  return {
    name,
    args,
    call_id: callId,
    ...(toolUseId && { tool_use_id: toolUseId }),
    ...(category && { category }),
    ...(aliases && { aliases }),
    ...(isUnknown && { isUnknown }),
  };
}

export interface FilteredCall {
  readonly call: Call;
  readonly asked: Json;
  readonly args: Json;
  readonly metadata: Json;
  readonly context: readonly string[];
  readonly stopped?: CallResult;
}

export function pauseMembers({ tool }: Call, args: Json) {
  const expiresMs = tool.approval?.expiresMs ?? null;
  return { status: 'pending', hook: null, args, members: noMetadata, expiresMs } as const;
}

export function argsOf(event: HookEvent, original: Json): Json {
  const isCall = event.phase === 'before_execution' || event.phase === 'approval';
  return isCall && event.request.args instanceof Json ? event.request.args : original;
}

/**
 * Reads tool call arguments as one JSON object and keeps its text. Undefined, blank text and null mean no arguments.
 * Throws ARGS_INVALID for anything but an object, and for a duplicate key at any depth.
 */
export function readArgs(name: string, args: unknown): Json {
  if (args === undefined || args === null) return noArgs;
  const plain = isObject(args) ? plainText(args) : undefined;
  if (plain !== undefined) return new Json(plain);
  const text = typeof args === 'string' ? args.trim() : toJsonText(name, args);
  if (isTextTooDeep(text)) throw tooDeep(name);
  if (text === '' || text === 'null') return noArgs;
  const json = new Json(text);
  let value: unknown;
  try {
    value = json.value;
  } catch (error) {
    throw invalid(name, `the arguments are not JSON: ${toRuntimeError(error).message}`);
  }
  if (!isObject(value)) throw invalid(name, 'the arguments are not a JSON object');
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) throw invalid(name, `duplicate argument "${duplicate}"`);
  return json;
}

export const noArgs = new Json('{}');

/** Like `readArgs`, for edited arguments: refuses empty or null ones too. Throws ARGS_INVALID. */
export function readGivenArgs(name: string, args: unknown): Json {
  const isBlank = typeof args === 'string' && /^(null)?$/.test(args.trim());
  if (args === null || isBlank)
    throw invalid(name, 'the edited arguments are empty; write {} for no arguments');
  return readArgs(name, args);
}

/** Returns arguments that fit the tool's schema, or have the direct form of a host. Throws ARGS_INVALID. */
export function readCheckedArgs(tool: CallableTool, args: unknown, isByHost = false): Json {
  const json = readArgs(tool.name, args);
  if (tool.isDirect?.(json) === true) {
    requireValidArgs(tool.name, isByHost ? [] : ['only a host may send a list of `args` alone']);
    return json;
  }
  requireValidArgs(tool.name, findMisfits(tool.checkArgs, json));
  return json;
}

export function findMisfits(check: SchemaCheck, json: Json): readonly string[] {
  return check === fitsAnything ? [] : check(json);
}

function requireValidArgs(name: string, violations: readonly string[]): void {
  if (violations.length > 0)
    throw invalid(name, `the arguments do not fit input_schema: ${violations.join('; ')}`);
}

function toJsonText(name: string, args: unknown): string {
  if (!isObject(args)) throw invalid(name, 'the arguments are not a JSON object');
  if (isTooDeep(args)) throw tooDeep(name);
  try {
    return stringifyJson(args);
  } catch (error) {
    throw invalid(name, `the arguments cannot be written as JSON: ${toRuntimeError(error).message}`);
  }
}

function tooDeep(name: string): RuntimeError {
  return invalid(
    name,
    `the arguments are nested more than ${MAX_JSON_DEPTH} levels deep, or contain themselves`,
  );
}

function invalid(name: string, why: string): RuntimeError {
  return new RuntimeError('ARGS_INVALID', `tool "${name}": ${why}`);
}

/** A hook stopped the call before it ran, or withheld its result. */
export interface ToolDenied {
  readonly status: 'denied';
  readonly hook: string;
  readonly reason: string;
  /** Set if the hook ended the turn or the session too. */
  readonly abort?: 'turn' | 'session';
  /** Set if the hook failed instead of denying. */
  readonly error?: Fault;
}

/** The call waits for a person. `args` are the arguments for the tool. */
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
  readonly expiresMs: number | null;
}

export interface CallResult {
  readonly outcome: ToolOk | ToolFailed | ToolDenied | CallPaused;
  readonly callId: string;
  readonly content: string;
  /** The metadata of all hooks, merged in order; for a denied call, that of the denying hook. */
  readonly metadata: Json;
  /** Texts that hooks added for the model; `content` includes them. */
  readonly context?: readonly string[];
  /** The text for the caller from a hook that answered in the tool's place. */
  readonly handled?: string;
  /** The arguments sent to the tool, if hooks or a person changed them. */
  readonly sent?: Json;
}

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

export function rejectedResult({ tool, callId }: CallNames, error: Fault, reason: string): CallResult {
  const suffix = reason === '' ? '' : `: ${reason}`;
  return {
    outcome: failed(error),
    callId,
    content: `Tool "${tool}" was rejected${suffix}`,
    metadata: noMetadata,
  };
}

/** A string as it is, any other result as its JSON text. */
export function modelText(tool: string, outcome: ToolOk | ToolFailed): string {
  if (outcome.status === 'failed') return `Tool "${tool}" failed: ${outcome.error.message}`;
  const { result, text } = outcome;
  if (text !== undefined) return text;
  return result.text.startsWith('"') ? String(result.value) : result.text;
}

/** Replaces the text. A failure stays a failure, but loses its original message and details. */
export function withContent(outcome: ToolOk | ToolFailed, content: string): ToolOk | ToolFailed {
  if (outcome.status === 'failed') {
    const { code, hint } = outcome.error;
    return failed({ code, message: content, hint });
  }
  return ok(resultFrom(outcome.result, content));
}

export function unfilteredCall(call: Call, args: Json): FilteredCall {
  return { call, asked: args, args, metadata: noMetadata, context: noContext };
}

const noContext: readonly string[] = [];
