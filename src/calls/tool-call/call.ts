import { type Fault, RuntimeError, toFault, withCatalogueText } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import { fitsAnything } from '../../base/yaml/schema-check.ts';
import type { Approval } from '../../contract/approval.ts';
import { type Emit, emitNothing, type OperationEnd } from '../../contract/event.ts';
import type { HookEvent } from '../../contract/hook.ts';
import { trackedOperation, trackOperation } from '../../contract/operation.ts';
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
  type CallNames,
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
import { ContentResult, findContentFaults } from './result-texts.ts';

export interface PreparedCall {
  /** The result if a hook or a required approval stopped the call. */
  readonly stopped?: CallResult | undefined;
  /** Makes the call, or returns `stopped`. Never rejects. */
  readonly finish: () => Promise<CallResult>;
}

/** Prepares and makes one tool call. Never rejects. */
export async function callTool(
  tool: CallableTool,
  args: unknown,
  { emit = emitNothing, callId = nextCallId(), ...context }: CallContext = {},
): Promise<CallResult> {
  const make = async () => await (await prepareCall(tool, args, { ...context, callId })).finish();
  return await trackToolCall(emit, { tool: tool.name, callId }, make, ({ outcome }) => outcome);
}

/** Makes a tool call, with its hooks, as an operation. */
export function trackToolCall<Result>(
  emit: Emit,
  { tool: name, callId: call }: CallNames,
  make: () => Promise<Result>,
  outcomeOf: (result: Result) => Pick<OperationEnd, 'status' | 'error'>,
): Promise<Result> {
  const about = () => ({ operation: 'tool', name, call }) as const;
  return trackOperation(emit, about, make, (result) => {
    const { status, error } = outcomeOf(result);
    return { status, error };
  });
}

/** Prepares a tool call. All calls of a model's response are prepared in order before any is made. Never rejects. */
export async function prepareCall(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<PreparedCall> {
  const call: Call = { ...context, tool, callId: context.callId ?? nextCallId() };
  let before = unfilteredCall(call, noArgs);
  try {
    before = unfilteredCall(call, readCheckedArgs(tool, args, context.isByHost));
    // Filters may change, rename, answer or deny the call. Then approvers judge the result.
    if (hasHooksBefore(tool)) before = await passBeforeHooks(before);
  } catch (error) {
    return stoppedCall(resultOf(namesOf(call), failed(toFault(error))));
  }
  const stopped = before.stopped ?? findRequiredApproval(before);
  return stopped === undefined ? { finish: () => executeCall(before) } : stoppedCall(stopped);
}

/** Runs the tool and passes its outcome through the after_execution hooks. Never rejects. */
export async function executeCall(before: FilteredCall, approval?: Approval): Promise<CallResult> {
  const { call, args, metadata } = before;
  const { tool, callId, signal, idempotencyKey = callId } = call;
  const { links, flow, port } = tool;
  if (isHeard(links, 'started'))
    await notifyHooks(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const watch = isHeardAfter(links) ? startStopwatch() : undefined;

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
    const { reason, message, members } = outcome;
    const pause = { ...pauseMembers(call, args), origin: 'tool', reason, message, members } as const;
    result = pendingResult(namesOf(call), pause, metadata);
  } else {
    // Hooks see results in the order of the calls.
    await call.waitForResults?.();
    const latencyMs = watch === undefined ? 0 : wholeMs(watch.read()).durationMs;
    result = watch ? await passAfterHooks(before, outcome, { latencyMs }) : passedResult(before, outcome);
  }
  const { outcome: left } = result;
  trackedOperation()?.keepContent?.({ args, ...(left.status === 'ok' && { result: left.result }) });
  return args.text === before.asked.text ? result : { ...result, sent: args };
}

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
 * Runs a tool's process once. Every fault is a failed outcome; never rejects. `toReportable` removes unfiltered text of
 * a failure from events.
 */
export async function runTool(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable: (error: Fault) => Fault = (error) => error,
): Promise<ToolOutcome> {
  if (port.emit.hears?.('call.started') === false)
    return await invokeOr(port, invocation, { onFault: failed });
  const { name } = port.binding;
  const { clock, finish } = trackCall(port.emit, 'tool', { name, call: invocation.call });
  const outcome = await invokeOr(port, invocation, { onFault: failed, clock });
  const { status } = outcome;
  finish({ status, error: status === 'failed' ? toReportable(outcome.error) : undefined });
  return outcome;
}

function failureEvent(call: Call, args: Json, message: string): HookEvent {
  const { callId: call_id, tool } = call;
  const response = { name: tool.name, call_id, content: message, error: message, latency_ms: 0 };
  return { hook: 'tool', phase: 'after_execution', request: requestOf(call, args), response };
}

/**
 * Returns a failure if the result does not fit the tool's output schema, or has not the form of MCP that it declares,
 * or reports a failure in that form.
 */
export function checkResult(tool: CallableTool, outcome: ToolOk): ToolOk | ToolFailed {
  const invalid = (what: string, faults: readonly string[]) =>
    failed(
      toFault(
        new RuntimeError('RESULT_INVALID', `the result of tool "${tool.name}" ${what}: ${faults.join('; ')}`),
      ),
    );
  if (tool.isContent !== true) {
    const violations = findMisfits(tool.checkResult, outcome.result);
    return violations.length === 0 ? outcome : invalid('does not fit output_schema', violations);
  }
  const faults = findContentFaults(outcome.result);
  if (faults.length > 0) return invalid('is not a tool result of MCP', faults);
  const content = new ContentResult(outcome.result);
  const { structured, isError, isIncomplete } = content;
  if (!isError && !isIncomplete && tool.checkResult !== fitsAnything) {
    const violations =
      structured === undefined ? ['it is missing'] : findMisfits(tool.checkResult, structured);
    if (violations.length > 0)
      return invalid('has a structuredContent that does not fit output_schema', violations);
  }
  return content.toOutcome();
}
