import type { Port } from '../capability/invoke.ts';
import type { HookEvent, ToolHookRequest } from '../contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../contract/tool.ts';
import type { Scene } from '../contract/turn.ts';
import { type CallResult, noMetadata } from '../hooks/call-result.ts';
import type { Link } from '../hooks/gate.ts';
import { Json } from '../json/json.ts';
import type { Check } from '../yaml/check-value.ts';
import type { AskApproval } from './approval-rule.ts';
import { readArgs, requireValidArgs } from './args.ts';

/** A tool that can be called, with everything around it. */
export interface CallableTool {
  readonly name: string;
  /** Undefined when there is nothing to run. */
  readonly port: Port<ToolCall, ToolOutcome> | undefined;
  readonly checkArgs: Check;
  readonly checkResult: Check;
  readonly links: readonly Link[];
  /** Says when a person must consent first; absent: never. */
  readonly approval?: AskApproval | undefined;
  /** false: a call that was cut off must not be made again without a person. */
  readonly idempotent?: boolean | undefined;
  /** What kind of work it does; permission hooks are asked by it. */
  readonly category?: string | undefined;
  /** Names that other systems have for it. */
  readonly aliases?: readonly string[] | undefined;
  /** Where the path that a call names really leads, links followed. */
  readonly findPath?: ((args: Json) => string | undefined) | undefined;
  /** Runs alone, after the other calls of its response. */
  readonly isExclusive?: boolean | undefined;
  /** Whether arguments are of a form that only a host may send; the schema says nothing of it. */
  readonly isDirect?: ((args: Json) => boolean) | undefined;
  /** Never started: the call itself says how the conversation goes on. */
  readonly flow?: { readonly endsTurn: boolean; readonly answer: (args: Json) => string } | undefined;
  /** No such tool is declared: only a hook can answer a call of it. */
  readonly isUnknown?: boolean | undefined;
}

export interface CallContext {
  readonly callId?: string | undefined;
  /** The model's own id for it, if a model asked. */
  readonly toolUseId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told to tools that are declared idempotent; default: the call's id. */
  readonly idempotencyKey?: string | undefined;
  /** Where the call happens; absent: on its own. */
  readonly scene?: Scene | undefined;
  /** The caller is a host: it may send what a model may not. */
  readonly isByHost?: boolean | undefined;
  /** Nobody is there to answer a hook's question, now or later. */
  readonly isUnattended?: boolean | undefined;
  /** Takes what is told of the call when all calls of its response have their results; absent: it is told at once. */
  readonly holdBack?: ((tell: () => Promise<void>) => void) | undefined;
  /** Resolves when the results of the calls before have passed their hooks; absent: nobody waits for them. */
  readonly results?: (() => Promise<void>) | undefined;
  /** The tool that a hook may rename the call to; absent: only the one that was called. */
  readonly find?: ((name: string) => CallableTool | undefined) | undefined;
}

/** One call on its way. */
export interface Call extends CallContext {
  readonly tool: CallableTool;
  readonly callId: string;
}

/** Arguments as text that fits the tool's schema, or of the form that a host may send. Throws ARGS_INVALID. */
export function readCheckedArgs(tool: CallableTool, args: unknown, isByHost = false): Json {
  const json = readArgs(tool.name, args);
  if (tool.isDirect?.(json) === true) {
    requireValidArgs(tool.name, isByHost ? [] : ['a list of `args` alone is for a host to send']);
    return json;
  }
  requireValidArgs(tool.name, tool.checkArgs(json.value));
  return json;
}

export function namesOf({ tool, callId }: Call) {
  return { tool: tool.name, callId };
}

/** The call as hooks are told of it. */
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

/** What the filters before a tool made of a call; `stopped` when one ended it. */
export interface Before {
  /** The call as it is now: a filter may have renamed it. */
  readonly call: Call;
  /** As the model wrote them. */
  readonly asked: Json;
  readonly args: Json;
  readonly metadata: Json;
  /** What the model is to read beside the result. */
  readonly context: readonly string[];
  readonly stopped?: CallResult;
}

/** What all pauses of a call have in common. */
export function pausedBefore({ tool }: Call, args: Json) {
  const expiresMs = tool.approval?.expiresMs ?? null;
  return { status: 'pending', hook: null, args, members: noMetadata, expiresMs } as const;
}

/** The arguments of an event of a call, or the original ones. */
export function argsOf(event: HookEvent, original: Json): Json {
  const isCall = event.phase === 'before_execution' || event.phase === 'approval';
  return isCall && event.request.args instanceof Json ? event.request.args : original;
}
