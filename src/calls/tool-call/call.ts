import { type Fault, RuntimeError, toFault, withCatalogueText } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import type { Approval } from '../../contract/approval.ts';
import type { HookEvent } from '../../contract/hook.ts';
import {
  failed,
  nextCallId,
  ok,
  type ToolCall,
  type ToolFailed,
  type ToolOk,
  type ToolOutcome,
} from '../../contract/tool.ts';
import { type Invocation, invokeOr, type Port, trackCall } from '../capability/invoke.ts';
import { isFiltered } from '../hooks/gate.ts';
import { isHeard } from '../hooks/links.ts';
import { isHeardAfter, notifyHooks, passAfterHooks, passedResult } from './after-execution.ts';
import { findRequiredApproval, hasHooksBefore, passBeforeHooks } from './before-execution.ts';
import {
  type Call,
  type CallableTool,
  type CallContext,
  type CallResult,
  type FilteredCall,
  findMisfits,
  namesOf,
  noArgs,
  pauseMembers,
  pendingResult,
  readCheckedArgs,
  requestOf,
  resultOf,
  unfilteredCall,
} from './callable-tool.ts';

/** A call after its before_execution hooks, ready to be made. */
export interface PreparedCall {
  /** The result, if a hook or a required approval stopped the call. */
  readonly stopped?: CallResult | undefined;
  /** Makes the call, or returns what stopped it. Never rejects. */
  readonly finish: () => Promise<CallResult>;
}

/** Prepares and makes one tool call. Never rejects. */
export async function callTool(
  tool: CallableTool,
  args: unknown,
  context?: CallContext,
): Promise<CallResult> {
  return await (await prepareCall(tool, args, context)).finish();
}

/**
 * The first half of a tool call: all calls of a model's response pass it in order, before any of them is made. `finish` is
 * the second. Never rejects.
 */
export async function prepareCall(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<PreparedCall> {
  const call: Call = { ...context, tool, callId: context.callId ?? nextCallId() };
  let before = unfilteredCall(call, noArgs);
  try {
    // The arguments are one JSON object that fits `input_schema`.
    before = unfilteredCall(call, readCheckedArgs(tool, args, context.isByHost));
    // Filters may change, rename, answer or deny the call; then approvers judge what the filters left.
    if (hasHooksBefore(tool)) before = await passBeforeHooks(before);
  } catch (error) {
    return stoppedCall(resultOf(namesOf(call), failed(toFault(error))));
  }
  // A person decides where the config says so.
  const stopped = before.stopped ?? findRequiredApproval(before);
  return stopped === undefined ? { finish: () => executeCall(before) } : stoppedCall(stopped);
}

/** The second half of a tool call: runs the tool and passes its outcome through the after_execution hooks. Never rejects. */
export async function executeCall(before: FilteredCall, approval?: Approval): Promise<CallResult> {
  const { call, args, metadata } = before;
  const { tool, callId, signal, idempotencyKey = callId } = call;
  const { links, flow, port } = tool;
  if (isHeard(links, 'started'))
    await notifyHooks(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  // How long it took is for hooks to read.
  const watch = isHeardAfter(links) ? startStopwatch() : undefined;

  // The process runs once; every fault of it is a failed outcome.
  let outcome: ToolOutcome;
  if (flow !== undefined) outcome = ok(Json.from(flow.answer(args)));
  else if (port === undefined) outcome = failed(toFault(nothingToRun(tool)));
  else {
    const input: ToolCall = {
      ...{ name: tool.name, callId, args },
      ...(approval && { approval }),
      ...(tool.idempotent === true && { idempotencyKey }),
    };
    const run = () =>
      runTool(port, { input, call: callId, signal }, (error) =>
        isFiltered(links, failureEvent(call, args, error.message)) ? withCatalogueText(error) : error,
      );
    outcome = await (watch?.run(run) ?? run());
  }
  if (outcome.status === 'ok') outcome = checkResult(tool, outcome);

  let result: CallResult;
  if (outcome.status === 'pending') {
    // The tool itself asks for a person.
    const { reason, message, members } = outcome;
    const pause = { ...pauseMembers(call, args), origin: 'tool', reason, message, members } as const;
    result = pendingResult(namesOf(call), pause, metadata);
  } else {
    // Hooks see results in the order of the calls; filters may replace or withhold what the model reads.
    await call.waitForResults?.();
    const latencyMs = watch === undefined ? 0 : wholeMs(watch.read()).durationMs;
    result = watch ? await passAfterHooks(before, outcome, { latencyMs }) : passedResult(before, outcome);
  }
  return args.text === before.asked.text ? result : { ...result, sent: args };
}

/** A prepared call that is not made: `finish` returns this result. */
export function stoppedCall(stopped: CallResult): PreparedCall {
  return { stopped, finish: async () => stopped };
}

function nothingToRun({ name, isUnknown }: CallableTool): RuntimeError {
  if (isUnknown === true) return new RuntimeError('NAME_UNKNOWN', `there is no tool "${name}"`);
  return new RuntimeError(
    'TOOL_NOT_RUNNABLE',
    `tool "${name}" has no exec binding, so there is nothing to run`,
  );
}

/**
 * Runs a tool's process once. A fault of any kind is a failed outcome; never rejects. `toReportable` gives what events may
 * say of a failure, which no filter has seen yet.
 */
export async function runTool(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable: (error: Fault) => Fault = (error) => error,
): Promise<ToolOutcome> {
  // Nobody would read how long it took.
  if (port.emit.hears?.('call.started') === false)
    return await invokeOr(port, invocation, { onFault: failed });
  const { name } = port.binding;
  const { clock, finish } = trackCall(port.emit, 'tool', { name, call: invocation.call });
  const outcome = await invokeOr(port, invocation, { onFault: failed, clock });
  const { status } = outcome;
  finish({ status, error: status === 'failed' ? toReportable(outcome.error) : undefined });
  return outcome;
}

/** The after_execution event that the filters of a failed call will be asked about. */
function failureEvent(call: Call, args: Json, message: string): HookEvent {
  const { callId: call_id, tool } = call;
  const response = { name: tool.name, call_id, content: message, error: message, latency_ms: 0 };
  return { hook: 'tool', phase: 'after_execution', request: requestOf(call, args), response };
}

/** The result, or a failure when it does not fit the tool's output schema. */
export function checkResult(tool: CallableTool, outcome: ToolOk): ToolOk | ToolFailed {
  const violations = findMisfits(tool.checkResult, outcome.result);
  if (violations.length === 0) return outcome;
  const message = `the result of tool "${tool.name}" does not fit output_schema: ${violations.join('; ')}`;
  return failed(toFault(new RuntimeError('RESULT_INVALID', message)));
}
