import { type Fault, RuntimeError, toFault, withCatalogueText } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import { fitsAnything } from '../../base/yaml/schema-check.ts';
import type { Approval } from '../../contract/approval.ts';
import { type Emit, emitNothing, type OperationEnd } from '../../contract/event.ts';
import type { HookEvent } from '../../contract/hook.ts';
import {
  type Operation,
  trackedOperation,
  trackOperation,
  tracksOperations,
} from '../../contract/operation.ts';
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
import {
  type Continuation,
  type Invocation,
  invokeOr,
  invokeThen,
  type Next,
  type Port,
  trackCall,
} from '../capability/invoke.ts';
import { isFiltered } from '../hooks/gate.ts';
import { isHeard } from '../hooks/links.ts';
import { isHeardAfter, notifyHooks, passAfterHooks, passedResult } from './after-execution.ts';
import { findRequiredApproval, hasHooksBefore, passBeforeHooksThen } from './before-execution.ts';
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
  return new Promise((resolve, reject) => prepare(call, args, new CallRun(end, resolve, reject)));
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
  const before = await new Promise<FilteredCall>((next, fail) => prepare(call, args, { next, fail }));
  return before.stopped === undefined ? { finish: () => executeCall(before) } : stoppedCall(before.stopped);
}

/**
 * Waits only for hooks. `stopped` is set if a hook or a required approval stops the call. `then` does not throw, and
 * only its `next` is called.
 */
function prepare(call: Call, args: unknown, then: Next<FilteredCall>): void {
  let before: FilteredCall;
  try {
    before = unfilteredCall(call, readCheckedArgs(call.tool, args, call.isByHost));
    // Filters may change, rename, answer or deny the call. Then approvers judge the result.
    if (hasHooksBefore(call.tool)) {
      passBeforeHooksThen(before, {
        next: (passed) => then.next(requireApproval(passed)),
        fail: (thrown) => then.next(failedCall(call, thrown)),
      });
      return;
    }
    before = requireApproval(before);
  } catch (error) {
    before = failedCall(call, error);
  }
  then.next(before);
}

function failedCall(call: Call, error: unknown): FilteredCall {
  return { ...unfilteredCall(call, noArgs), stopped: resultOf(namesOf(call), failed(toFault(error))) };
}

function requireApproval(before: FilteredCall): FilteredCall {
  const stopped = before.stopped ?? findRequiredApproval(before);
  return stopped === before.stopped ? before : { ...before, ...(stopped && { stopped }) };
}

/** Runs the tool and passes its outcome through the after_execution hooks. Never rejects. */
export function executeCall(before: FilteredCall, approval?: Approval): Promise<CallResult> {
  return new Promise((resolve, reject) => {
    new CallRun((result) => result, resolve, reject).execute(before, approval);
  });
}

/**
 * A call from its preparation to its end. It continues as soon as an answer is there, so that a call has one promise,
 * its caller's.
 */
class CallRun<Result> implements Next<FilteredCall>, Continuation<ToolOutcome> {
  readonly #end: EndCall<Result>;
  readonly #resolve: (result: Result | PromiseLike<Result>) => void;
  readonly fail: (thrown: unknown) => void;
  #before: FilteredCall | undefined;
  #keepContent: Operation['keepContent'];

  constructor(
    end: EndCall<Result>,
    resolve: (result: Result | PromiseLike<Result>) => void,
    reject: (thrown: unknown) => void,
  ) {
    this.#end = end;
    this.#resolve = resolve;
    this.fail = reject;
  }

  next(before: FilteredCall): void {
    try {
      if (before.stopped === undefined) this.execute(before);
      else this.#resolve(this.#end(before.stopped));
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  execute(before: FilteredCall, approval?: Approval): void {
    const { tool, waitForResults } = before.call;
    const { links, port, flow } = tool;
    this.#before = before;
    // A reply may come in another async context.
    this.#keepContent = trackedOperation()?.keepContent;
    const isHeardOf = isHeard(links, 'started') || isHeardAfter(links) || waitForResults !== undefined;
    if (port !== undefined && flow === undefined && !isHeardOf && isUntracked(port))
      invokeThen(port, invocationOf(before, approval), this);
    else
      executeHeard(before, approval)
        .then((result) => this.#finish(before, result))
        .catch(this.fail);
  }

  onOutput(outcome: ToolOutcome): void {
    const before = this.#before;
    if (before === undefined) throw new RuntimeError('INTERNAL', 'a tool answered before it was called');
    const checked = checkOutcome(before.call.tool, outcome);
    const isPaused = checked.status === 'pending';
    this.#finish(before, isPaused ? pausedResult(before, checked) : passedResult(before, checked));
  }

  onFault(fault: Fault): void {
    this.onOutput(failed(fault));
  }

  #finish({ args, asked }: FilteredCall, result: CallResult): void {
    const { outcome } = result;
    this.#keepContent?.({ args, ...(outcome.status === 'ok' && { result: outcome.result }) });
    this.#resolve(this.#end(args.text === asked.text ? result : { ...result, sent: args }));
  }
}

function invocationOf({ call, args }: FilteredCall, approval: Approval | undefined): Invocation<ToolCall> {
  const { tool, callId, signal, idempotencyKey = callId } = call;
  const plain: ToolCall = { name: tool.name, callId, args };
  const input =
    approval === undefined && tool.idempotent !== true
      ? plain
      : { ...plain, ...(approval && { approval }), ...(tool.idempotent === true && { idempotencyKey }) };
  return { input, call: callId, signal };
}

async function executeHeard(before: FilteredCall, approval: Approval | undefined): Promise<CallResult> {
  const { call, args } = before;
  const { tool } = call;
  if (isHeard(tool.links, 'started'))
    await notifyHooks(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const watch = isHeardAfter(tool.links) ? startStopwatch() : undefined;
  const make = () => run(before, approval);
  const outcome = checkOutcome(tool, await (watch?.run(make) ?? make()));
  if (outcome.status === 'pending') return pausedResult(before, outcome);
  // Hooks see results in the order of the calls.
  await call.waitForResults?.();
  const latencyMs = watch === undefined ? 0 : wholeMs(watch.read()).durationMs;
  return watch ? await passAfterHooks(before, outcome, { latencyMs }) : passedResult(before, outcome);
}

async function run(before: FilteredCall, approval: Approval | undefined): Promise<ToolOutcome> {
  const { call, args } = before;
  const { flow, port, links } = call.tool;
  if (flow !== undefined) return ok(Json.from(flow.answer(args)));
  if (port === undefined) return failed(toFault(nothingToRun(call.tool)));
  return await runTool(port, invocationOf(before, approval), (error) =>
    isFiltered(links, failureEvent(call, args, error.message)) ? withCatalogueText(error) : error,
  );
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
