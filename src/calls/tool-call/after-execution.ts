import { type Fault, RuntimeError, toFault, withCatalogueText } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import type { Approval } from '../../contract/approval.ts';
import type { Decision, EndedCall, HookEvent, ToolHookResponse } from '../../contract/hook.ts';
import {
  failed,
  ok,
  type ToolCall,
  type ToolFailed,
  type ToolOk,
  type ToolOutcome,
} from '../../contract/tool.ts';
import { mergeMetadata } from '../../dialects/metadata.ts';
import { isCancelled } from '../capability/cancellation.ts';
import { type Invocation, invokeOr, type Port, trackCall } from '../capability/invoke.ts';
import {
  type CallPaused,
  type CallResult,
  deniedResult,
  modelText,
  pendingResult,
  withContent,
} from '../hooks/call-result.ts';
import { isFiltered, type Link, passGate } from '../hooks/gate.ts';
import { isHeard } from '../hooks/steps.ts';
import {
  type Call,
  type CallableTool,
  type FilteredCall,
  namesOf,
  pauseMembers,
  requestOf,
} from './callable-tool.ts';
import { findMisfits } from './tool-args.ts';

/** Runs the tool with the filtered arguments and passes its outcome through the after_execution hooks. */
export async function executeCall(before: FilteredCall, approval?: Approval): Promise<CallResult> {
  const result = await execute(before, approval);
  return before.args.text === before.asked.text ? result : { ...result, sent: before.args };
}

async function execute(before: FilteredCall, approval: Approval | undefined): Promise<CallResult> {
  const { call, args, metadata } = before;
  const { links } = call.tool;
  const isHooked = links.length > 0;
  if (isHooked && isHeard(links, 'started'))
    await notifyHooks(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const isHeardAfter = isHooked && phasesAfter.some((phase) => isHeard(links, phase));
  // How long it took is for hooks to read.
  const watch = isHeardAfter ? startStopwatch() : undefined;
  const outcome = await (watch?.run(() => runChecked(call, args, approval)) ??
    runChecked(call, args, approval));
  if (outcome.status === 'pending') {
    const { reason, message, members } = outcome;
    const pause: CallPaused = { ...pauseMembers(call, args), origin: 'tool', reason, message, members };
    return pendingResult(namesOf(call), pause, metadata);
  }
  const latencyMs = watch === undefined ? 0 : wholeMs(watch.read()).durationMs;
  if (call.waitForResults !== undefined) await call.waitForResults();
  return isHeardAfter ? await passAfterHooks(before, outcome, { latencyMs }) : passedResult(before, outcome);
}

const phasesAfter = ['after_execution', 'finished', 'returned'] as const;

async function runChecked(call: Call, args: Json, approval: Approval | undefined): Promise<ToolOutcome> {
  const { tool, callId, signal, idempotencyKey = callId } = call;
  const request: ToolCall = {
    name: tool.name,
    callId,
    args,
    ...(approval && { approval }),
    ...(tool.idempotent === true && { idempotencyKey }),
  };
  if (tool.flow !== undefined) return ok(Json.from(tool.flow.answer(args)));
  if (tool.port === undefined) return failed(toFault(nothingToRun(tool)));
  const outcome = await runTool(tool.port, { input: request, call: callId, signal }, (error) =>
    isFiltered(tool.links, toFailureEvent(call, { args, message: error.message }))
      ? withCatalogueText(error)
      : error,
  );
  return outcome.status === 'ok' ? checkResult(tool, outcome) : outcome;
}

/** The result, or a failure when it does not fit the tool's output schema. */
export function checkResult(tool: CallableTool, outcome: ToolOk): ToolOk | ToolFailed {
  const violations = findMisfits(tool.checkResult, outcome.result);
  if (violations.length === 0) return outcome;
  const message = `the result of tool "${tool.name}" does not fit output_schema: ${violations.join('; ')}`;
  return failed(toFault(new RuntimeError('RESULT_INVALID', message)));
}

/** The after_execution event that the filters of a failed call will be asked about. */
function toFailureEvent(
  call: Call,
  { args, message }: { readonly args: Json; readonly message: string },
): HookEvent {
  const { callId: call_id } = call;
  const response = { name: call.tool.name, call_id, content: message, error: message, latency_ms: 0 };
  return { hook: 'tool', phase: 'after_execution', request: requestOf(call, args), response };
}

function nothingToRun({ name, isUnknown }: CallableTool): RuntimeError {
  if (isUnknown === true) return new RuntimeError('NAME_UNKNOWN', `there is no tool "${name}"`);
  return new RuntimeError(
    'TOOL_NOT_RUNNABLE',
    `tool "${name}" has no exec binding, so there is nothing to run`,
  );
}

/** Where an outcome came from. */
interface OutcomeSource {
  readonly latencyMs: number;
  /** The dialect whose hook answered in the tool's place: it is not asked about its own answer. */
  readonly answeredBy?: string | null;
}

/** Takes an outcome through the after_execution filters. */
export async function passAfterHooks(
  before: FilteredCall,
  outcome: ToolOk | ToolFailed,
  { latencyMs, answeredBy = null }: OutcomeSource,
): Promise<CallResult> {
  const { call, args } = before;
  const { tool, callId, signal, hookContext } = call;
  const asked = requestOf(call, args);
  // An answer of a hook for an unknown tool is an ordinary result.
  const request = answeredBy === null ? asked : { ...asked, isUnknown: undefined };
  const response: ToolHookResponse = {
    name: tool.name,
    call_id: callId,
    content: modelText(tool.name, outcome),
    error: outcome.status === 'failed' ? outcome.error.message : '',
    latency_ms: latencyMs,
    ...(outcome.status === 'ok' && { result: outcome.result }),
  };
  let hasFilterAnswered = false;
  const onAnswer = () => {
    hasFilterAnswered = true;
  };
  const { decision, event } = await passGate(
    withoutDialect(tool.links, answeredBy),
    { hook: 'tool', phase: 'after_execution', request, response },
    { call: callId, signal, hookContext, onAnswer },
  );
  const visibleOutcome =
    hasFilterAnswered && outcome.status === 'failed' ? failed(withoutPeerText(outcome.error)) : outcome;
  const result = { ...toCallResult(before, { outcome: visibleOutcome, decision, event }), callId };
  if (!isCancelled(decision.error))
    await notifyFinished(before, result, { response, stage: 'after_execution' });
  return result;
}

function withoutDialect(links: readonly Link[], dialect: string | null): readonly Link[] {
  return dialect === null
    ? links
    : links.filter((link) => !('group' in link) || link.group.dialect.name !== dialect);
}

interface FilteredOutcome {
  readonly outcome: ToolOk | ToolFailed;
  readonly decision: Decision;
  readonly event: HookEvent;
}

function toCallResult(before: FilteredCall, { outcome, decision, event }: FilteredOutcome): CallResult {
  const { verdict } = decision;
  if (verdict !== 'allow' && verdict !== 'modify') return deniedResult(namesOf(before.call), decision);
  const metadata = mergeMetadata([before.metadata, decision.metadata]);
  const context = [...before.context, ...decision.context];
  const passed = { call: before.call, metadata, context };
  if (verdict !== 'modify' || event.phase !== 'after_execution') return passedResult(passed, outcome);
  const { content } = event.response;
  return passedResult(passed, withContent(outcome, content), content);
}

/** The result of a call that no hook stopped; `content` is what a filter made of its text. */
function passedResult(
  { call, metadata, context }: Pick<FilteredCall, 'call' | 'metadata' | 'context'>,
  outcome: ToolOk | ToolFailed,
  content = modelText(call.tool.name, outcome),
): CallResult {
  const { callId } = call;
  if (context.length === 0) return { outcome, callId, content, metadata };
  return { outcome, callId, content: [content, ...context].join('\n'), metadata, context };
}

/** How a call ended. */
interface CallEnd {
  readonly response: ToolHookResponse;
  /** The stage at which the call ended. */
  readonly stage: NonNullable<EndedCall['denial']>['stage'];
}

/** Notifies hooks (`finished`, then `returned`) of a finished call and of what the model reads of it. */
export async function notifyFinished(
  { call, asked, args }: FilteredCall,
  { outcome, content }: CallResult,
  { response, stage }: CallEnd,
): Promise<void> {
  if (outcome.status === 'pending') return;
  const { links } = call.tool;
  if (!isHeard(links, 'finished') && !isHeard(links, 'returned')) return;
  const request = requestOf(call, args);
  const final = { ...response, content };
  const { status } = outcome;
  const isFlow = call.tool.flow !== undefined;
  const denial = outcome.status === 'denied' ? { reason: outcome.reason, stage } : undefined;
  const event = { hook: 'tool', request, asked, response: final, status, denial, isFlow } as const;
  await notifyHooks(call, { ...event, phase: 'finished' });
  const notifyReturned = () => notifyHooks(call, { ...event, phase: 'returned' });
  if (call.deferNotification === undefined) await notifyReturned();
  else call.deferNotification(notifyReturned);
}

/** Notifies hooks of an event. Waits for those whose dialect waits for them, or until the call is aborted. */
export async function notifyHooks(
  { tool, callId, hookContext, signal }: Call,
  event: HookEvent,
): Promise<void> {
  await passGate(tool.links, event, { call: callId, hookContext, signal });
}

/** Keys of `details` whose values Signalbox itself writes. */
const ownKeys = new Set(['signal', 'stage', 'problem']);

/**
 * The fault with its message, and of its details only what is not a peer’s text, such as an exit code. Output
 * of a process (stderr, a malformed reply) has passed no filter and is left out.
 */
function withoutPeerText({ code, message, hint, details = {} }: Fault): Fault {
  const kept = Object.entries(details).filter(
    ([key, value]) => value === null || /^(?:number|boolean)$/.test(typeof value) || ownKeys.has(key),
  );
  return { code, message, hint, ...(kept.length > 0 && { details: Object.fromEntries(kept) }) };
}

/**
 * Runs a tool's process once. A fault of any kind is a failed outcome; never rejects. `tellable` is what events may
 * say of a failure, which no filter has seen yet.
 */
export function runTool(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable: (error: Fault) => Fault = (error) => error,
): Promise<ToolOutcome> {
  // Nobody would read how long it took.
  if (port.emit.hears?.('call.started') === false) return invokeOr(port, invocation, { onFault: failed });
  return runTracked(port, invocation, toReportable);
}

async function runTracked(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
  toReportable: (error: Fault) => Fault,
): Promise<ToolOutcome> {
  const { clock, finish } = trackCall(port.emit, 'tool', {
    name: port.binding.name,
    call: invocation.call,
  });
  const outcome = await invokeOr(port, invocation, { onFault: failed, clock });
  finish({
    status: outcome.status,
    error: outcome.status === 'failed' ? toReportable(outcome.error) : undefined,
  });
  return outcome;
}
