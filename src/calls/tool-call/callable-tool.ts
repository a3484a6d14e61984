import { type Fault, RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isTextTooDeep, isTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { plainText } from '../../base/json/plain-text.ts';
import { fitsAnything, type SchemaCheck } from '../../base/yaml/schema-check.ts';
import type { PendingOrigin } from '../../contract/approval.ts';
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

/** A tool that can be called, with everything around it. */
export interface CallableTool {
  readonly name: string;
  /** Undefined when there is nothing to run. */
  readonly port: Port<ToolCall, ToolOutcome> | undefined;
  readonly checkArgs: SchemaCheck;
  readonly checkResult: SchemaCheck;
  readonly links: readonly Link[];
  /** Says when a person must approve first; absent: never. */
  readonly approval?: ApprovalCheck | undefined;
  /** false: a call that was cut off must not be made again without a person. */
  readonly idempotent?: boolean | undefined;
  /** What kind of work it does; permission hooks are asked by it. */
  readonly category?: string | undefined;
  /** Names that other systems have for it. */
  readonly aliases?: readonly string[] | undefined;
  /** The real path, symbolic links resolved, of the path among the arguments. */
  readonly findPath?: ((args: Json) => string | undefined) | undefined;
  /** Runs alone, after the other calls of its response. */
  readonly isExclusive?: boolean | undefined;
  /** Whether the arguments have the direct form that only a host may send; it is not checked by the schema. */
  readonly isDirect?: ((args: Json) => boolean) | undefined;
  /** A flow control tool: no process runs, the call itself says how the conversation goes on. */
  readonly flow?: { readonly endsTurn: boolean; readonly answer: (args: Json) => string } | undefined;
  /** No such tool is declared: only a hook can answer a call of it. */
  readonly isUnknown?: boolean | undefined;
}

/** The approval a call needs: reason, message for the person, and time limit (`expiresMs` null: none). */
export interface RequiredApproval {
  readonly reason: string;
  readonly message: string;
  readonly expiresMs: number | null;
}

/** The approval these arguments need, or undefined. Never throws: a rule that fails to evaluate needs one. */
export interface ApprovalCheck {
  (args: Json): RequiredApproval | undefined;
  /** How long a decision about this tool may take; null: no limit. */
  readonly expiresMs: number | null;
  /** Who may decide about calls of this tool; undefined: whoever has a name. */
  readonly by?: readonly string[] | undefined;
  /** How many of them must approve; undefined: one. */
  readonly quorum?: number | undefined;
}

export interface CallContext {
  readonly callId?: string | undefined;
  /** The model's own id for it, if a model asked. */
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
  /** Resolves when the results of earlier calls have passed their hooks; absent: there is no such order. */
  readonly waitForResults?: (() => Promise<void>) | undefined;
  /** The tool that a hook may rename the call to; absent: only the one that was called. */
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
    ...{ name, args, call_id: callId },
    ...(toolUseId && { tool_use_id: toolUseId }),
    ...(category && { category }),
    ...(aliases && { aliases }),
    ...(isUnknown && { isUnknown }),
  };
}

/** A call as the before_execution filters left it; `stopped` is its result when one of them ended it. */
export interface FilteredCall {
  /** The current call, which a filter may have renamed. */
  readonly call: Call;
  /** As the model wrote them. */
  readonly asked: Json;
  readonly args: Json;
  readonly metadata: Json;
  /** What the model is to read beside the result. */
  readonly context: readonly string[];
  readonly stopped?: CallResult;
}

export function pauseMembers({ tool }: Call, args: Json) {
  const expiresMs = tool.approval?.expiresMs ?? null;
  return { status: 'pending', hook: null, args, members: noMetadata, expiresMs } as const;
}

/** The arguments of an event of a call, or the original ones. */
export function argsOf(event: HookEvent, original: Json): Json {
  const isCall = event.phase === 'before_execution' || event.phase === 'approval';
  return isCall && event.request.args instanceof Json ? event.request.args : original;
}

/**
 * The arguments of a tool call as one JSON object, its text as it came. Nothing, blank text and null mean no
 * arguments. Throws ARGS_INVALID for anything but an object, and for a duplicate key at any depth.
 */
export function readArgs(name: string, args: unknown): Json {
  if (args === undefined || args === null) return noArgs;
  // What is written so is an object that keys stand in once, and need not be read again to know it.
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
  if (duplicate !== undefined) throw invalid(name, `the argument "${duplicate}" stands twice`);
  return json;
}

export const noArgs = new Json('{}');

/** Like `readArgs`, for edited arguments: empty or null ones are refused too. Throws ARGS_INVALID. */
export function readGivenArgs(name: string, args: unknown): Json {
  const isBlank = typeof args === 'string' && /^(null)?$/.test(args.trim());
  if (args === null || isBlank) throw invalid(name, 'the edited arguments are empty; for none write {}');
  return readArgs(name, args);
}

/** Arguments as text that fits the tool's schema, or of the form that a host may send. Throws ARGS_INVALID. */
export function readCheckedArgs(tool: CallableTool, args: unknown, isByHost = false): Json {
  const json = readArgs(tool.name, args);
  if (tool.isDirect?.(json) === true) {
    requireValidArgs(tool.name, isByHost ? [] : ['a list of `args` alone is for a host to send']);
    return json;
  }
  requireValidArgs(tool.name, findMisfits(tool.checkArgs, json));
  return json;
}

/** What is wrong with a value, which is not parsed where nothing is asked of it. */
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
    `the arguments are nested in more than ${MAX_JSON_DEPTH} levels, or contain themselves`,
  );
}

function invalid(name: string, why: string): RuntimeError {
  return new RuntimeError('ARGS_INVALID', `tool "${name}": ${why}`);
}

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

/** The outcome with the text of a filter. A failure stays a failure, without its original message and details. */
export function withContent(outcome: ToolOk | ToolFailed, content: string): ToolOk | ToolFailed {
  if (outcome.status === 'failed') {
    const { code, hint } = outcome.error;
    return failed({ code, message: content, hint });
  }
  return ok(resultFrom(outcome.result, content));
}

/** The call with these arguments, which no filter was asked about. */
export function unfilteredCall(call: Call, args: Json): FilteredCall {
  return { call, asked: args, args, metadata: noMetadata, context: noContext };
}

const noContext: readonly string[] = [];
