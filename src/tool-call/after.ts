import { isCutOff } from '../capability/cut-off.ts';
import { runTool } from '../capability/tool.ts';
import type { Approval } from '../contract/approval.ts';
import type { Decision, EndedCall, HookEvent, Respond, ToolHookResponse } from '../contract/hook.ts';
import {
  failed,
  ok,
  type ToolCall,
  type ToolFailed,
  type ToolOk,
  type ToolOutcome,
} from '../contract/tool.ts';
import { mergeMetadata } from '../dialects/metadata.ts';
import { RuntimeError, toFault } from '../errors.ts';
import {
  type CallPaused,
  type CallResult,
  denied,
  modelText,
  paused,
  settled,
  withContent,
} from '../hooks/call-result.ts';
import { isFiltered, type Link, passGate } from '../hooks/gate.ts';
import { Json } from '../json/json.ts';
import { startStopwatch, wholeMs } from '../time/stopwatch.ts';
import { bareFault, mutedFault } from './bare-fault.ts';
import { type Before, type Call, type CallableTool, namesOf, pausedBefore, requestOf } from './callable.ts';

/** Runs the process with what passed, and takes what it answers through the after_execution filters. */
export async function execute(before: Before, approval?: Approval): Promise<CallResult> {
  const { call, args, metadata } = before;
  await tell(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const watch = startStopwatch();
  const outcome = await watch.run(() => runChecked(call, args, approval));
  if (outcome.status === 'pending') {
    const { reason, message, members } = outcome;
    const pause: CallPaused = { ...pausedBefore(call, args), origin: 'tool', reason, message, members };
    return paused(namesOf(call), pause, metadata);
  }
  const { durationMs: latencyMs } = wholeMs(watch.read());
  await call.results?.();
  return await passAfter(before, outcome, { latencyMs });
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
  if (tool.flow !== undefined) return ok(Json.from(tool.flow.answer(args)));
  if (tool.port === undefined) return failed(toFault(nothingToRun(tool)));
  const outcome = await runTool(tool.port, { input: request, call: callId, signal }, (error) =>
    isFiltered(tool.links, failureOf(call, { args, message: error.message })) ? mutedFault(error) : error,
  );
  return outcome.status === 'ok' ? checkResult(tool, outcome) : outcome;
}

/** The result, or a failure when it does not fit the tool's output schema. */
export function checkResult(tool: CallableTool, outcome: ToolOk): ToolOk | ToolFailed {
  const violations = tool.checkResult(outcome.result.value);
  if (violations.length === 0) return outcome;
  const message = `the result of tool "${tool.name}" does not fit output_schema: ${violations.join('; ')}`;
  return failed(toFault(new RuntimeError('RESULT_INVALID', message)));
}

/** What its filters will be asked about. */
function failureOf(
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

/** How an outcome came about. */
interface Origin {
  readonly latencyMs: number;
  /** The dialect whose hook answered in the tool's place: it is not asked about its own answer. */
  readonly answeredBy?: string | null;
}

/** Takes an outcome through the after_execution filters. */
export async function passAfter(
  before: Before,
  outcome: ToolOk | ToolFailed,
  { latencyMs, answeredBy = null }: Origin,
): Promise<CallResult> {
  const { call, args } = before;
  const { tool, callId, signal, scene } = call;
  const asked = requestOf(call, args);
  // What a hook answers for a tool that there is not is a result like any other.
  const request = answeredBy === null ? asked : { ...asked, isUnknown: undefined };
  const response: ToolHookResponse = {
    name: tool.name,
    call_id: callId,
    content: modelText(tool.name, outcome),
    error: outcome.status === 'failed' ? outcome.error.message : '',
    latency_ms: latencyMs,
    ...(outcome.status === 'ok' && { result: outcome.result }),
  };
  let wasShown = false;
  const onAnswer = () => {
    wasShown = true;
  };
  const { decision, event } = await passGate(
    withoutDialect(tool.links, answeredBy),
    { hook: 'tool', phase: 'after_execution', request, response },
    { call: callId, signal, scene, onAnswer },
  );
  const seen = wasShown && outcome.status === 'failed' ? failed(bareFault(outcome.error)) : outcome;
  const result = { ...judged(before, { outcome: seen, decision, event }), callId };
  if (!isCutOff(decision.error)) await tellEnd(before, result, { response, stage: 'after_execution' });
  return result;
}

function withoutDialect(links: readonly Link[], dialect: string | null): readonly Link[] {
  return dialect === null
    ? links
    : links.filter((link) => !('group' in link) || link.group.dialect.name !== dialect);
}

interface Judged {
  readonly outcome: ToolOk | ToolFailed;
  readonly decision: Decision;
  readonly event: HookEvent;
}

function judged(before: Before, { outcome, decision, event }: Judged): CallResult {
  const names = namesOf(before.call);
  const { verdict } = decision;
  if (verdict !== 'allow' && verdict !== 'modify') return denied(names, withoutQuotes(decision));
  const metadata = mergeMetadata([before.metadata, decision.metadata]);
  const context = [...before.context, ...decision.context];
  const isChanged = verdict === 'modify' && event.phase === 'after_execution';
  const { content } = isChanged ? event.response : settled(names, outcome);
  const left = isChanged ? withContent(outcome, content) : outcome;
  const said = context.length > 0 ? { context } : {};
  return {
    outcome: left,
    callId: names.callId,
    content: [content, ...context].join('\n'),
    metadata,
    ...said,
  };
}

/** A hook that failed may have said what it was to withhold, on its way out. */
function withoutQuotes(decision: Decision): Decision {
  if (decision.error === undefined) return decision;
  const error = mutedFault(decision.error);
  return { ...decision, reason: `the hook failed: ${error.message}`, error };
}

/** A hook answered in the tool's place: no approval, no process; other dialects' filters see the answer. */
export async function answerFor(
  before: Before,
  { respond, dialect }: { readonly respond: Respond; readonly dialect: string | null },
): Promise<CallResult> {
  const { call, args } = before;
  await tell(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const { result, isError = false, handled } = respond;
  const text = typeof result.value === 'string' ? result.value : result.text;
  const outcome = isError ? failed(toFault(new RuntimeError('TOOL_ERROR', text))) : ok(result);
  const answered = await passAfter(before, outcome, { latencyMs: 0, answeredBy: dialect });
  const isWithheld = answered.outcome.status === 'denied';
  return handled === undefined || isWithheld ? answered : { ...answered, handled };
}

/** A call that a hook stopped: what the model reads of that passes the hooks that want to see it. */
export async function block(
  before: Before,
  decision: Decision,
  stage: 'before_execution' | 'approval',
): Promise<CallResult> {
  const { call, args } = before;
  const { tool, callId, signal, scene } = call;
  const refused = denied(namesOf(call), decision);
  const result = { ...refused, content: [refused.content, ...before.context].join('\n') };
  // Whoever was cut off has not refused it.
  if (isCutOff(decision.error) || !tool.links.some((link) => 'group' in link)) return result;
  const request = requestOf(call, args);
  const response = { ...unanswered(call), content: result.content, error: result.content };
  const { event } = await passGate(
    tool.links,
    { hook: 'tool', phase: 'blocked', request, response, reason: decision.reason, stage },
    { call: callId, signal, scene },
  );
  const content = event.phase === 'blocked' ? event.response.content : result.content;
  const blocked = { ...result, content };
  await tellEnd(before, blocked, { response, stage });
  return blocked;
}

function unanswered({ tool, callId }: Call): ToolHookResponse {
  return { name: tool.name, call_id: callId, content: '', error: '', latency_ms: 0 };
}

interface End {
  readonly response: ToolHookResponse;
  /** How far the call had come. */
  readonly stage: NonNullable<EndedCall['denial']>['stage'];
}

/** Tells hooks what the model reads of a call that is over. */
async function tellEnd(
  { call, asked, args }: Before,
  { outcome, content }: CallResult,
  { response, stage }: End,
): Promise<void> {
  if (outcome.status === 'pending') return;
  const request = requestOf(call, args);
  const final = { ...response, content };
  const { status } = outcome;
  const isFlow = call.tool.flow !== undefined;
  const denial = outcome.status === 'denied' ? { reason: outcome.reason, stage } : undefined;
  const event = { hook: 'tool', request, asked, response: final, status, denial, isFlow } as const;
  await tell(call, { ...event, phase: 'finished' });
  const tellReturn = () => tell(call, { ...event, phase: 'returned' });
  if (call.holdBack === undefined) await tellReturn();
  else call.holdBack(tellReturn);
}

/** Waits for hooks whose own system waits for them, unless the call is given up meanwhile. */
async function tell({ tool, callId, scene, signal }: Call, event: HookEvent): Promise<void> {
  await passGate(tool.links, event, { call: callId, scene, signal });
}
