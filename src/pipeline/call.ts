import { randomUUID } from 'node:crypto';
import type { Port } from '../capability/invoke.ts';
import { runTool } from '../capability/tool.ts';
import type { Approval } from '../contract/approval.ts';
import type { Decision, HookEvent, ToolHookRequest } from '../contract/hook.ts';
import {
  failed,
  ok,
  type ToolCall,
  type ToolFailed,
  type ToolOk,
  type ToolOutcome,
  type ToolPending,
} from '../contract/tool.ts';
import { type Fault, RuntimeError, toFault } from '../errors.ts';
import { Json } from '../json.ts';
import { readArgs, requireValidArgs } from './args.ts';
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
}

/** A hook stopped the call: before it ran, or its result was withheld. */
export interface ToolDenied {
  readonly status: 'denied';
  readonly hook: string;
  readonly reason: string;
  /** Set when a fault of the hook, rather than its word, denied. */
  readonly error?: Fault;
}

/** What a tool call came to, hooks included. */
export interface CallResult {
  readonly outcome: ToolOk | ToolFailed | ToolPending | ToolDenied;
  readonly callId: string;
  /** The text that a model is given for it. */
  readonly content: string;
  /** What the hooks had to say, merged in order; a denying hook's alone. */
  readonly metadata: Json;
}

/** A pending call that waits for somebody's word. */
export interface Pause {
  readonly id: string;
  readonly tool: string;
  readonly callId: string;
  readonly reason: string;
  readonly message: string;
}

export interface CallOptions {
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Decides a pending call on the spot; undefined leaves it pending. */
  readonly approve?: ((pause: Pause) => Promise<Approval | undefined>) | undefined;
}

/**
 * One tool call: schema, before_execution filters, schema again if one changed the arguments, process,
 * output schema, after_execution filters (for failures too, not for a pending call). Never rejects.
 */
export async function callTool(
  tool: CallableTool,
  args: unknown,
  options: CallOptions = {},
): Promise<CallResult> {
  const callId = options.callId ?? `call_${randomUUID()}`;
  const context = { tool, callId, signal: options.signal };
  let json: Json;
  try {
    json = readArgs(tool.name, args);
    requireValidArgs(tool.name, tool.checkArgs(json.value));
  } catch (error) {
    return settle(context, failed(toFault(error)), noMetadata);
  }
  const request = { name: tool.name, args: json, call_id: callId };
  const before = await passGate(
    tool.links,
    { hook: 'tool', phase: 'before_execution', request },
    { call: callId, signal: options.signal, check: (event) => checkChangedArgs(tool, event) },
  );
  if (before.decision.verdict === 'deny') return deny(context, before.decision);
  const passed = argsOf(before.event, json);
  const startedAt = performance.now();
  const outcome = await runApproved(context, passed, options.approve);
  if (outcome.status === 'pending') return settle(context, outcome, before.decision.metadata);
  const latencyMs = Math.round(performance.now() - startedAt);
  return await passAfter(context, {
    outcome,
    request: { ...request, args: passed },
    latencyMs,
    before: before.decision,
  });
}

const noMetadata = new Json('{}');

interface CallContext {
  readonly tool: CallableTool;
  readonly callId: string;
  readonly signal: AbortSignal | undefined;
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

/** Runs the tool; when it asks for a person and somebody consents on the spot, once more with the approval. */
async function runApproved(
  context: CallContext,
  args: Json,
  approve: CallOptions['approve'],
): Promise<ToolOutcome> {
  const first = await runChecked(context, args);
  if (first.status !== 'pending' || approve === undefined) return first;
  const { tool, callId } = context;
  const { reason, message } = first;
  const pause = { id: `pending_${randomUUID()}`, tool: tool.name, callId, reason, message };
  try {
    const approval = await approve(pause);
    return approval === undefined ? first : await runChecked(context, args, approval);
  } catch (error) {
    return failed(toFault(error));
  }
}

async function runChecked(
  { tool, callId, signal }: CallContext,
  args: Json,
  approval?: Approval,
): Promise<ToolOutcome> {
  const call: ToolCall = { name: tool.name, callId, args, ...(approval && { approval }) };
  if (tool.port === undefined) return failed(toFault(nothingToRun(tool.name)));
  const outcome = await runTool(tool.port, { input: call, call: callId, signal });
  if (outcome.status !== 'ok') return outcome;
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

interface Finished {
  readonly outcome: ToolOk | ToolFailed;
  readonly request: ToolHookRequest;
  readonly latencyMs: number;
  readonly before: Decision;
}

async function passAfter(
  context: CallContext,
  { outcome, request, latencyMs, before }: Finished,
): Promise<CallResult> {
  const { tool, callId, signal } = context;
  const response = {
    name: tool.name,
    call_id: callId,
    content: modelText(tool.name, outcome),
    error: outcome.status === 'failed' ? outcome.error.message : '',
    latency_ms: latencyMs,
  };
  const after = await passGate(
    tool.links,
    { hook: 'tool', phase: 'after_execution', request, response },
    { call: callId, signal },
  );
  if (after.decision.verdict === 'deny') return deny(context, after.decision);
  const metadata = mergeObjects([before.metadata, after.decision.metadata]);
  if (after.decision.verdict === 'allow' || after.event.phase !== 'after_execution') {
    return settle(context, outcome, metadata);
  }
  const { content } = after.event.response;
  return { outcome: withContent(outcome, content), callId, content, metadata };
}

/** What a model reads of an outcome: text as it is, any other result as its JSON text. */
function modelText(name: string, outcome: ToolOk | ToolFailed | ToolPending): string {
  switch (outcome.status) {
    case 'ok':
      return typeof outcome.result.value === 'string' ? outcome.result.value : outcome.result.text;
    case 'failed':
      return `Tool "${name}" failed: ${outcome.error.message}`;
    case 'pending':
      return outcome.message;
  }
}

/** An outcome whose text a filter replaced. A failure stays one, and its message gives nothing away. */
function withContent(outcome: ToolOk | ToolFailed, content: string): ToolOk | ToolFailed {
  if (outcome.status === 'failed') {
    const { code, hint } = outcome.error;
    return failed({ code, message: content, hint });
  }
  return ok(typeof outcome.result.value === 'string' ? Json.from(content) : parsedOrText(content));
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

function deny({ tool, callId }: CallContext, decision: Decision): CallResult {
  const hook = decision.hook ?? '';
  const { reason, metadata, error } = decision;
  const outcome: ToolDenied = { status: 'denied', hook, reason, ...(error && { error }) };
  return {
    outcome,
    callId,
    content: `Tool "${tool.name}" was blocked by hook "${hook}": ${reason}`,
    metadata,
  };
}

function settle(
  { tool, callId }: CallContext,
  outcome: ToolOk | ToolFailed | ToolPending,
  metadata: Json,
): CallResult {
  return { outcome, callId, content: modelText(tool.name, outcome), metadata };
}
