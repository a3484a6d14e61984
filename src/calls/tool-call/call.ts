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
  type ToolPending,
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
export function callTool(tool: CallableTool, args: unknown, context: CallContext = {}): Promise<CallResult> {
  const { emit = emitNothing, callId = nextCallId() } = context;
  const make = () => makeCall(tool, args, { ...context, callId }, (result) => result);
  return trackToolCall(emit, { tool: tool.name, callId }, make, ({ outcome }) => outcome);
}

/** Like `callTool`, but resolves to what `end` makes of the result, and rejects with what it throws. */
export function makeCall<Result>(
  tool: CallableTool,
  args: unknown,
  context: CallContext & { readonly callId: string },
  end: EndCall<Result>,
): Promise<Result> {
  const before = prepare(tool, args, context);
  return before instanceof Promise ? before.then((passed) => finish(passed, end)) : finish(before, end);
}

type EndCall<Result> = (result: CallResult) => Result | PromiseLike<Result>;

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
  const before = await prepare(tool, args, { ...context, callId: context.callId ?? nextCallId() });
  return before.stopped === undefined ? { finish: () => executeCall(before) } : stoppedCall(before.stopped);
}

/** Waits only for hooks. `stopped` is set if a hook or a required approval stops the call. Never rejects. */
function prepare(
  tool: CallableTool,
  args: unknown,
  context: CallContext & { readonly callId: string },
): FilteredCall | Promise<FilteredCall> {
  const call: Call = { ...context, tool };
  const fail = (error: unknown): FilteredCall => ({
    ...unfilteredCall(call, noArgs),
    stopped: resultOf(namesOf(call), failed(toFault(error))),
  });
  try {
    const before = unfilteredCall(call, readCheckedArgs(tool, args, context.isByHost));
    // Filters may change, rename, answer or deny the call. Then approvers judge the result.
    return hasHooksBefore(tool)
      ? passBeforeHooks(before).then(requireApproval).catch(fail)
      : requireApproval(before);
  } catch (error) {
    return fail(error);
  }
}

function requireApproval(before: FilteredCall): FilteredCall {
  const stopped = before.stopped ?? findRequiredApproval(before);
  return stopped === before.stopped ? before : { ...before, ...(stopped && { stopped }) };
}

function finish<Result>(before: FilteredCall, end: EndCall<Result>): Promise<Result> {
  return before.stopped === undefined ? execute(before, end) : makeOf(end, before.stopped);
}

/** Runs the tool and passes its outcome through the after_execution hooks. Never rejects. */
export function executeCall(before: FilteredCall, approval?: Approval): Promise<CallResult> {
  return execute(before, (result) => result, approval);
}

/** Like `executeCall`, but resolves to what `end` makes of the result, and rejects with what it throws. */
function execute<Result>(before: FilteredCall, end: EndCall<Result>, approval?: Approval): Promise<Result> {
  const { call, args } = before;
  const { tool, callId, signal, idempotencyKey = callId } = call;
  const { links, flow, port } = tool;
  const run = <Ended>(take: (outcome: ToolOutcome) => Ended | PromiseLike<Ended>): Promise<Ended> => {
    if (flow !== undefined) return makeOf(take, ok(Json.from(flow.answer(args))));
    if (port === undefined) return makeOf(take, failed(toFault(nothingToRun(tool))));
    const input: ToolCall = {
      ...{ name: tool.name, callId, args },
      ...(approval && { approval }),
      ...(tool.idempotent === true && { idempotencyKey }),
    };
    return runToolTo(port, { input, call: callId, signal }, take, (error) =>
      isFiltered(links, failureEvent(call, args, error.message)) ? withCatalogueText(error) : error,
    );
  };
  // A reply may come in another async context.
  const keepContent = trackedOperation()?.keepContent;
  const endCall = (result: CallResult) => {
    const { outcome } = result;
    keepContent?.({ args, ...(outcome.status === 'ok' && { result: outcome.result }) });
    return end(args.text === before.asked.text ? result : { ...result, sent: args });
  };
  if (isHeard(links, 'started') || isHeardAfter(links) || call.waitForResults !== undefined)
    return executeHeard(before, run).then(endCall);
  return run((outcome) => {
    const checked = checkOutcome(tool, outcome);
    return endCall(
      checked.status === 'pending' ? pausedResult(before, checked) : passedResult(before, checked),
    );
  });
}

async function executeHeard(
  before: FilteredCall,
  run: (take: (outcome: ToolOutcome) => ToolOutcome) => Promise<ToolOutcome>,
): Promise<CallResult> {
  const { call, args } = before;
  const { tool } = call;
  if (isHeard(tool.links, 'started'))
    await notifyHooks(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const watch = isHeardAfter(tool.links) ? startStopwatch() : undefined;
  const make = () => run((outcome) => checkOutcome(tool, outcome));
  const outcome = await (watch?.run(make) ?? make());
  if (outcome.status === 'pending') return pausedResult(before, outcome);
  // Hooks see results in the order of the calls.
  await call.waitForResults?.();
  const latencyMs = watch === undefined ? 0 : wholeMs(watch.read()).durationMs;
  return watch ? await passAfterHooks(before, outcome, { latencyMs }) : passedResult(before, outcome);
}

function makeOf<Given, Result>(
  make: (given: Given) => Result | PromiseLike<Result>,
  given: Given,
): Promise<Result> {
  return new Promise((resolve) => resolve(make(given)));
}

function checkOutcome(tool: CallableTool, outcome: ToolOutcome): ToolOutcome {
  return outcome.status === 'ok' ? checkResult(tool, outcome) : outcome;
}

function pausedResult({ call, args, metadata }: FilteredCall, { reason, message, members }: ToolPending) {
  const pause = { ...pauseMembers(call, args), origin: 'tool', reason, message, members } as const;
  return pendingResult(namesOf(call), pause, metadata);
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
export function runTool(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable?: (error: Fault) => Fault,
): Promise<ToolOutcome> {
  return runToolTo(port, invocation, (outcome) => outcome, toReportable);
}

/** Like `runTool`, but resolves to what `take` makes of the outcome, and rejects with what it throws. */
function runToolTo<Result>(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  take: (outcome: ToolOutcome) => Result | PromiseLike<Result>,
  toReportable: (error: Fault) => Fault = (error) => error,
): Promise<Result> {
  if (port.emit.hears?.('call.started') === false)
    return invokeOr(port, invocation, { onOutput: take, onFault: (fault) => take(failed(fault)) });
  const { name } = port.binding;
  const { clock, finish } = trackCall(port.emit, 'tool', { name, call: invocation.call });
  const tell = (outcome: ToolOutcome) => {
    const { status } = outcome;
    finish({ status, error: status === 'failed' ? toReportable(outcome.error) : undefined });
    return outcome;
  };
  return invokeOr(port, invocation, { onFault: failed, clock }).then((outcome) => take(tell(outcome)));
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
