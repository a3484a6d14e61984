import { Json } from '../../base/json/json.ts';
import type { SchemaCheck } from '../../base/yaml/schema-check.ts';
import type { HookEvent, ToolHookRequest } from '../../contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../../contract/tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { noMetadata } from '../../dialects/metadata.ts';
import type { Port } from '../capability/invoke.ts';
import type { CallResult } from '../hooks/call-result.ts';
import type { Link } from '../hooks/gate.ts';
import type { ApprovalCheck } from './approval-rule.ts';

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
  /**
   * Whether the arguments have the direct form that only a host may send; it is not checked by the schema.
   */
  readonly isDirect?: ((args: Json) => boolean) | undefined;
  /** A flow control tool: no process runs, the call itself says how the conversation goes on. */
  readonly flow?: { readonly endsTurn: boolean; readonly answer: (args: Json) => string } | undefined;
  /** No such tool is declared: only a hook can answer a call of it. */
  readonly isUnknown?: boolean | undefined;
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
  /**
   * Defers the `returned` notification until all calls of the response have results; absent: it is sent at
   * once.
   */
  readonly deferNotification?: ((notify: () => Promise<void>) => void) | undefined;
  /** Resolves when the results of earlier calls have passed their hooks; absent: there is no such order. */
  readonly waitForResults?: (() => Promise<void>) | undefined;
  /** The tool that a hook may rename the call to; absent: only the one that was called. */
  readonly find?: ((name: string) => CallableTool | undefined) | undefined;
}

/** One call in progress. */
export interface Call extends CallContext {
  readonly tool: CallableTool;
  readonly callId: string;
}

export function namesOf({ tool, callId }: Call) {
  return { tool: tool.name, callId };
}

/** The call as hooks see it. */
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

/** The members that all pending outcomes of a call share. */
export function pauseMembers({ tool }: Call, args: Json) {
  const expiresMs = tool.approval?.expiresMs ?? null;
  return { status: 'pending', hook: null, args, members: noMetadata, expiresMs } as const;
}

/** The arguments of an event of a call, or the original ones. */
export function argsOf(event: HookEvent, original: Json): Json {
  const isCall = event.phase === 'before_execution' || event.phase === 'approval';
  return isCall && event.request.args instanceof Json ? event.request.args : original;
}
