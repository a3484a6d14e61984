import { randomUUID } from 'node:crypto';
import type { Port } from '../capability/invoke.ts';
import { runTool } from '../capability/tool.ts';
import type { Approval } from '../contract/approval.ts';
import type { Decision, HookEvent, ToolHookRequest } from '../contract/hook.ts';
import { failed, type ToolCall, type ToolFailed, type ToolOk, type ToolOutcome } from '../contract/tool.ts';
import { RuntimeError, toFault } from '../errors.ts';
import { Json } from '../json.ts';
import type { AskApproval } from './approval-rule.ts';
import { readArgs, requireValidArgs } from './args.ts';
import {
  type CallPaused,
  type CallResult,
  denied,
  modelText,
  noMetadata,
  paused,
  settled,
  withContent,
} from './call-result.ts';
import { type Consent, hasConsent } from './consent.ts';
import { type Link, passGate } from './gate.ts';
import { mergeObjects } from './replace.ts';
import type { Check } from './schema.ts';

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
}

export interface CallContext {
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told to tools that are declared idempotent; default: the call's id. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * One tool call: schema, before_execution filters, schema again if one changed the arguments, the consent
 * that the config requires, process, output schema, after_execution filters (for failures too, not for a
 * call that waits for a person). Never rejects.
 */
export async function callTool(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<CallResult> {
  const call = { ...context, tool, callId: context.callId ?? `call_${randomUUID()}` };
  let json: Json;
  try {
    json = readCheckedArgs(tool, args);
  } catch (error) {
    return settled(namesOf(call), failed(toFault(error)));
  }
  const before = await passBefore(call, json);
  return before.stopped ?? askConsent(call, before) ?? (await execute(call, before));
}

/** One call on its way. */
export interface Call extends CallContext {
  readonly tool: CallableTool;
  readonly callId: string;
}

/** Arguments as text that fits the tool's schema. Throws ARGS_INVALID. */
export function readCheckedArgs(tool: CallableTool, args: unknown): Json {
  const json = readArgs(tool.name, args);
  requireValidArgs(tool.name, tool.checkArgs(json.value));
  return json;
}

/** The pause that the config's `approval` asks for before the tool is given these arguments, if it does. */
export function askConsent(call: Call, { args, metadata }: Before): CallResult | undefined {
  const needed = call.tool.approval?.(args);
  if (needed === undefined) return undefined;
  const { reason, message } = needed;
  const pause: CallPaused = { ...pausedBefore(call, args), origin: 'approval', reason, message };
  return paused(namesOf(call), pause, metadata);
}

/** What the filters before a tool made of its arguments; `stopped` when one ended the call. */
export interface Before {
  readonly args: Json;
  readonly metadata: Json;
  readonly stopped?: CallResult;
}

/** Takes a call through its before_execution filters; some of their questions have been answered already. */
export async function passBefore(call: Call, args: Json, consents: readonly Consent[] = []): Promise<Before> {
  const { tool, callId, signal } = call;
  const { decision, event } = await passGate(
    tool.links,
    { hook: 'tool', phase: 'before_execution', request: { name: tool.name, args, call_id: callId } },
    {
      call: callId,
      signal,
      hasConsent: (hook, event) => hasConsent(consents, hook, argsOf(event, args)),
      check: (changed) => checkChangedArgs(tool, changed),
    },
  );
  const passed = { args: argsOf(event, args), metadata: decision.metadata };
  if (decision.verdict === 'deny') return { ...passed, stopped: denied(namesOf(call), decision) };
  if (decision.verdict !== 'ask') return passed;
  const question = { hook: decision.hook, reason: decision.reason, message: questionOf(tool.name, decision) };
  const pause: CallPaused = { ...pausedBefore(call, passed.args), origin: 'hook', ...question };
  return { ...passed, stopped: paused(namesOf(call), pause, decision.metadata) };
}

function questionOf(tool: string, { hook }: Decision): string {
  return `Hook "${hook}" asks whether tool "${tool}" may run.`;
}

function pausedBefore({ tool }: Call, args: Json) {
  const expiresMs = tool.approval?.expiresMs ?? null;
  return { status: 'pending', hook: null, args, members: noMetadata, expiresMs } as const;
}

/** What is wrong with arguments that a filter has changed; undefined when they fit. */
export function checkChangedArgs(tool: CallableTool | undefined, event: HookEvent): string | undefined {
  if (event.phase !== 'before_execution' || tool === undefined) return undefined;
  const violations = tool.checkArgs(argsOf(event, noMetadata).value);
  return violations.length === 0
    ? undefined
    : `its arguments do not fit input_schema: ${violations.join('; ')}`;
}

function argsOf(event: HookEvent, original: Json): Json {
  return event.phase === 'before_execution' && event.request.args instanceof Json
    ? event.request.args
    : original;
}

/** Runs the process with what passed, and takes what it answers through the after_execution filters. */
export async function execute(
  call: Call,
  { args, metadata }: Before,
  approval?: Approval,
): Promise<CallResult> {
  const startedAt = performance.now();
  const outcome = await runChecked(call, args, approval);
  if (outcome.status === 'pending') {
    const { reason, message, members } = outcome;
    const pause: CallPaused = { ...pausedBefore(call, args), origin: 'tool', reason, message, members };
    return paused(namesOf(call), pause, metadata);
  }
  const latencyMs = Math.round(performance.now() - startedAt);
  return await passAfter(call, { outcome, args, latencyMs, metadata });
}

async function runChecked(call: Call, args: Json, approval: Approval | undefined): Promise<ToolOutcome> {
  const { tool, callId, signal, idempotencyKey = callId } = call;
  const request: ToolCall = {
    name: tool.name,
    callId,
    args,
    ...(approval && { approval }),
    ...(tool.idempotent === true && { idempotencyKey }),
  };
  if (tool.port === undefined) return failed(toFault(nothingToRun(tool.name)));
  const outcome = await runTool(tool.port, { input: request, call: callId, signal });
  return outcome.status === 'ok' ? checkResult(tool, outcome) : outcome;
}

/** The result, or a failure when it does not fit the tool's output schema. */
export function checkResult(tool: CallableTool, outcome: ToolOk): ToolOk | ToolFailed {
  const violations = tool.checkResult(outcome.result.value);
  if (violations.length === 0) return outcome;
  const message = `the result of tool "${tool.name}" does not fit output_schema: ${violations.join('; ')}`;
  return failed(toFault(new RuntimeError('RESULT_INVALID', message)));
}

function nothingToRun(name: string): RuntimeError {
  return new RuntimeError(
    'TOOL_NOT_RUNNABLE',
    `tool "${name}" has no exec binding, so there is nothing to run`,
  );
}

/** A call that has its outcome. */
export interface Finished {
  readonly outcome: ToolOk | ToolFailed;
  readonly args: Json;
  readonly latencyMs: number;
  /** Of the filters before. */
  readonly metadata: Json;
}

/** Takes an outcome through the after_execution filters. */
export async function passAfter(call: Call, finished: Finished): Promise<CallResult> {
  const { tool, callId, signal } = call;
  const { outcome, args, latencyMs } = finished;
  const request: ToolHookRequest = { name: tool.name, args, call_id: callId };
  const response = {
    name: tool.name,
    call_id: callId,
    content: modelText(tool.name, outcome),
    error: outcome.status === 'failed' ? outcome.error.message : '',
    latency_ms: latencyMs,
  };
  const { decision, event } = await passGate(
    tool.links,
    { hook: 'tool', phase: 'after_execution', request, response },
    { call: callId, signal },
  );
  if (decision.verdict === 'deny' || decision.verdict === 'ask') return denied(namesOf(call), decision);
  const metadata = mergeObjects([finished.metadata, decision.metadata]);
  if (decision.verdict === 'allow' || event.phase !== 'after_execution') {
    return settled(namesOf(call), outcome, metadata);
  }
  const { content } = event.response;
  return { outcome: withContent(outcome, content), callId, content, metadata };
}

export function namesOf({ tool, callId }: Call) {
  return { tool: tool.name, callId };
}
