import { type Fault, RuntimeError, toFault, withCatalogueText } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import { fitsAnything } from '../../base/yaml/schema-check.ts';
import type { Approval } from '../../contract/approval.ts';
import { type Emit, emitNothing, type OperationEnd } from '../../contract/event.ts';
import type { HookEvent } from '../../contract/hook.ts';
import { trackedOperation, trackOperation, tracksOperations } from '../../contract/operation.ts';
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
  const make = () => makeCall({ ...context, callId, tool }, args, (result) => result);
  return trackToolCall(emit, { tool: tool.name, callId }, make, ({ outcome }) => outcome);
}

/** Like `callTool`, but resolves to what `end` makes of the result, and rejects with what it throws. */
export function makeCall<Result>(call: Call, args: unknown, end: EndCall<Result>): Promise<Result> {
  return prepare(call, args, (before) => finish(before, end));
}

type EndCall<Result> = (result: CallResult) => Result | PromiseLike<Result>;

/** Makes a tool call, with its hooks, as an operation. */
export function trackToolCall<Result>(
  emit: Emit,
  { tool: name, callId: call }: CallNames,
  make: () => Promise<Result>,
  outcomeOf: (result: Result) => Pick<OperationEnd, 'status' | 'error'>,
): Promise<Result> {
  if (!tracksOperations(emit)) return make();
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
  const call = { ...context, tool, callId: context.callId ?? nextCallId() };
  const before = await prepare(call, args, async (prepared) => prepared);
  return before.stopped === undefined ? { finish: () => executeCall(before) } : stoppedCall(before.stopped);
}

/**
 * Waits only for hooks. `stopped` is set if a hook or a required approval stops the call. Rejects only with what `next`
 * throws.
 */
function prepare<Result>(
  call: Call,
  args: unknown,
  next: (before: FilteredCall) => Promise<Result>,
): Promise<Result> {
  let before: FilteredCall;
  try {
    before = unfilteredCall(call, readCheckedArgs(call.tool, args, call.isByHost));
    // Filters may change, rename, answer or deny the call. Then approvers judge the result.
    if (hasHooksBefore(call.tool)) return prepareHeard(before, next);
    before = requireApproval(before);
  } catch (error) {
    before = failedCall(call, error);
  }
  return next(before);
}

async function prepareHeard<Result>(
  before: FilteredCall,
  next: (before: FilteredCall) => Promise<Result>,
): Promise<Result> {
  let passed: FilteredCall;
  try {
    passed = requireApproval(await passBeforeHooks(before));
  } catch (error) {
    passed = failedCall(before.call, error);
  }
  return await next(passed);
}

function failedCall(call: Call, error: unknown): FilteredCall {
  return { ...unfilteredCall(call, noArgs), stopped: resultOf(namesOf(call), failed(toFault(error))) };
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
  const { tool } = call;
  const { links } = tool;
  // A reply may come in another async context.
  const keepContent = trackedOperation()?.keepContent;
  const endCall = (result: CallResult) => {
    const { outcome } = result;
    keepContent?.({ args, ...(outcome.status === 'ok' && { result: outcome.result }) });
    return end(args.text === before.asked.text ? result : { ...result, sent: args });
  };
  if (isHeard(links, 'started') || isHeardAfter(links) || call.waitForResults !== undefined)
    return executeHeard(before, approval).then(endCall);
  const take = (outcome: ToolOutcome) => {
    const checked = checkOutcome(tool, outcome);
    return endCall(
      checked.status === 'pending' ? pausedResult(before, checked) : passedResult(before, checked),
    );
  };
  return run(before, take, approval);
}

function run<Result>(
  { call, args }: FilteredCall,
  take: TakeOutcome<Result>,
  approval?: Approval,
): Promise<Result> {
  const { tool, callId, signal, idempotencyKey = callId } = call;
  const { flow, port } = tool;
  if (flow !== undefined) return makeOf(take, ok(Json.from(flow.answer(args))));
  if (port === undefined) return makeOf(take, failed(toFault(nothingToRun(tool))));
  const plain: ToolCall = { name: tool.name, callId, args };
  const input =
    approval === undefined && tool.idempotent !== true
      ? plain
      : { ...plain, ...(approval && { approval }), ...(tool.idempotent === true && { idempotencyKey }) };
  const invocation = { input, call: callId, signal };
  if (isUntracked(port)) return runUntracked(port, invocation, take);
  return runTracked(port, invocation, (error) =>
    isFiltered(tool.links, failureEvent(call, args, error.message)) ? withCatalogueText(error) : error,
  ).then(take);
}

type TakeOutcome<Result> = (outcome: ToolOutcome) => Result | PromiseLike<Result>;

async function executeHeard(before: FilteredCall, approval: Approval | undefined): Promise<CallResult> {
  const { call, args } = before;
  const { tool } = call;
  if (isHeard(tool.links, 'started'))
    await notifyHooks(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const watch = isHeardAfter(tool.links) ? startStopwatch() : undefined;
  const make = () => run(before, (outcome) => checkOutcome(tool, outcome), approval);
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
  return isUntracked(port)
    ? invokeOr(port, invocation, { onFault: failed })
    : runTracked(port, invocation, toReportable);
}

function isUntracked({ emit }: Port<ToolCall, ToolOutcome>): boolean {
  return emit.hears?.('call.started') === false;
}

/** Resolves to what `take` makes of the outcome, and rejects with what it throws. */
function runUntracked<Result>(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  take: TakeOutcome<Result>,
): Promise<Result> {
  return invokeOr(port, invocation, { onOutput: take, onFault: (fault) => take(failed(fault)) });
}

async function runTracked(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable: (error: Fault) => Fault = (error) => error,
): Promise<ToolOutcome> {
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
