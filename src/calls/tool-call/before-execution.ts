import { isCancelled, RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { fitsAnything } from '../../base/yaml/schema-check.ts';
import { answers, type Decision, type HookEvent, type Respond } from '../../contract/hook.ts';
import { failed, ok } from '../../contract/tool.ts';
import { createHookContext } from '../../contract/turn.ts';
import { mergeMetadata, noMetadata } from '../../dialects/metadata.ts';
import type { Next } from '../capability/invoke.ts';
import { type ChainResult, type GateOptions, passGate, passOnlyFilter } from '../hooks/gate.ts';
import { allowed, decisionOf } from '../hooks/hook-chain.ts';
import { isHeard } from '../hooks/links.ts';
import { notifyFinished, notifyHooks, passAfterHooks } from './after-execution.ts';
import {
  argsOf,
  type CallableTool,
  type CallPaused,
  type CallResult,
  deniedResult,
  type FilteredCall,
  findMisfits,
  namesOf,
  pauseMembers,
  pendingResult,
  readCheckedArgs,
  requestOf,
  resultOf,
} from './callable-tool.ts';
import { ContentResult, findContentFaults } from './result-texts.ts';

/**
 * Passes a call through its before_execution filters, then through the approver hooks. `approvals`: hook questions that
 * a person has approved; they are not repeated.
 */
export async function passBeforeHooks(
  first: FilteredCall,
  approvals: readonly HookApproval[] = [],
): Promise<FilteredCall> {
  const asking: QuestionState = { approvals, changedBy: [] };
  return await passRemaining(await passFilters(first, asking), asking);
}

/** Like `passBeforeHooks`, but without a promise if a single filter allows the call and says nothing else. */
export function passBeforeHooksThen(first: FilteredCall, { next, fail }: Next<FilteredCall>): void {
  const asking: QuestionState = { approvals: [], changedBy: [] };
  const { links } = first.call.tool;
  const finish = async (result: ChainResult) =>
    await passRemaining(await takeFilterResult(first, asking, result), asking);
  const onResult = (result: ChainResult) => {
    if (result.decision === allowed && !isHeard(links, 'approval')) next(first);
    else finish(result).then(next).catch(fail);
  };
  if (!passOnlyFilter(links, eventOf(first), gateOptionsOf(first, asking), { next: onResult, fail }))
    passBeforeHooks(first).then(next).catch(fail);
}

async function passRemaining(filtered: FilteredCall, asking: QuestionState): Promise<FilteredCall> {
  const { approvals } = asking;
  let before = filtered;
  if (isForApprovers(before)) before = await passApprovers(before, asking);
  if (before.stopped !== undefined || asking.changedBy.length === 0) return before;
  // If an approver changed the call, the filters run once more.
  const { args } = before;
  const hookApprovals = asking.changedBy.map((hook) => ({ hook, args }));
  const again: QuestionState = { approvals: [...approvals, ...hookApprovals], changedBy: [] };
  let second = await passFilters(before, again);
  if (isForApprovers(second)) second = await passApprovers(second, again);
  if (second.stopped !== undefined || again.changedBy.length === 0) return second;
  const reason = 'a hook that answers for a person changed the call a second time';
  const denial = decisionOf({ hook: again.changedBy[0] ?? null, dialect: null }, answers.deny(reason));
  return { ...second, stopped: await blockCall(second, denial, 'before_execution') };
}

function isForApprovers({ stopped, call }: FilteredCall): boolean {
  return stopped === undefined && isHeard(call.tool.links, 'approval');
}

interface QuestionState {
  readonly approvals: readonly HookApproval[];
  readonly changedBy: string[];
  /** A hook has renamed the call. */
  readonly isRenamed?: boolean;
}

async function passFilters(before: FilteredCall, asking: QuestionState): Promise<FilteredCall> {
  const result = await passGate(before.call.tool.links, eventOf(before), gateOptionsOf(before, asking));
  return await takeFilterResult(before, asking, result);
}

function eventOf({ call, args }: FilteredCall): HookEvent {
  return { hook: 'tool', phase: 'before_execution', request: requestOf(call, args) };
}

async function takeFilterResult(
  before: FilteredCall,
  asking: QuestionState,
  { decision, event, respond }: ChainResult,
): Promise<FilteredCall> {
  const { call } = before;
  const { tool } = call;
  const passed = withDecision(before, decision, event);
  if (decision.verdict !== 'allow' && decision.verdict !== 'modify') {
    return { ...passed, stopped: await endCall(passed, decision, { respond, stage: 'before_execution' }) };
  }
  const name = event.phase === 'before_execution' ? event.request.name : tool.name;
  if (name === tool.name) return passed;
  if (asking.isRenamed === true) {
    const reason = `a hook renamed the call a second time, to "${name}"`;
    const denial: Decision = { ...decision, verdict: 'deny', replace: null, reason };
    return { ...passed, stopped: await blockCall(passed, denial, 'before_execution') };
  }
  const renamed = { ...call, tool: call.find?.(name) ?? unknownTool(name, tool) };
  try {
    const renamedArgs = readCheckedArgs(renamed.tool, passed.args.text);
    const again = { ...passed, call: renamed, args: renamedArgs };
    return await passFilters(again, { ...asking, isRenamed: true });
  } catch (error) {
    return { ...passed, call: renamed, stopped: resultOf(namesOf(renamed), failed(toFault(error))) };
  }
}

export function hasHooksBefore({ links }: CallableTool): boolean {
  return isHeard(links, 'before_execution') || isHeard(links, 'approval');
}

export function unknownTool(name: string, { links }: Pick<CallableTool, 'links'>): CallableTool {
  return {
    name,
    port: undefined,
    checkArgs: fitsAnything,
    checkResult: fitsAnything,
    links,
    isUnknown: true,
  };
}

async function passApprovers(before: FilteredCall, asking: QuestionState): Promise<FilteredCall> {
  const { call, args } = before;
  const realPath = call.tool.findPath?.(args);
  const hookContext =
    realPath === undefined
      ? call.hookContext
      : { ...(call.hookContext ?? createHookContext(call.callId)), realPath };
  const { decision, event } = await passGate(
    call.tool.links,
    { hook: 'tool', phase: 'approval', request: requestOf(call, args), asked: null },
    { ...gateOptionsOf(before, asking), hookContext },
  );
  const passed = withDecision(before, decision, event);
  const isPassed = decision.verdict === 'allow' || decision.verdict === 'modify';
  return isPassed ? passed : { ...passed, stopped: await endCall(passed, decision, { stage: 'approval' }) };
}

function gateOptionsOf({ call, args }: FilteredCall, { approvals, changedBy }: QuestionState): GateOptions {
  const { callId, signal, hookContext, tool } = call;
  return {
    call: callId,
    signal,
    hookContext,
    check: (changed) => checkChangedArgs(tool, changed),
    isApproved: (hook, event) => isApproved(approvals, hook, argsOf(event, args)),
    onAsk: async ({ hook, reason, event }) => {
      if (!isHeard(tool.links, 'approval')) return allowed;
      const request = requestOf(call, argsOf(event, args));
      const asking = { hook: 'tool', phase: 'approval', request, asked: { hook, reason } } as const;
      const { decision } = await passGate(tool.links, asking, { call: callId, signal, hookContext });
      if (decision.verdict === 'modify') changedBy.push(hook);
      return decision;
    },
  };
}

function withDecision(before: FilteredCall, decision: Decision, event: HookEvent): FilteredCall {
  const args = argsOf(event, before.args);
  const saysNothing = decision.metadata === noMetadata && decision.context.length === 0;
  if (saysNothing && args === before.args && before.metadata === noMetadata) return before;
  return {
    ...before,
    args,
    metadata: mergeMetadata([before.metadata, decision.metadata]),
    context: [...before.context, ...decision.context],
  };
}

async function endCall(
  before: FilteredCall,
  decision: Decision,
  { stage, respond }: { readonly stage: DenialStage; readonly respond?: Respond | undefined },
): Promise<CallResult> {
  const { call, args } = before;
  const { hook, metadata, reason, dialect } = decision;
  if (decision.verdict === 'respond') {
    if (respond !== undefined) return await takeHookResponse(before, { respond, dialect });
    return await blockCall(before, { ...decision, reason: 'a hook cannot answer here' }, stage);
  }
  if (decision.verdict !== 'ask') return await blockCall(before, decision, stage);
  // A question without anyone to answer it is denied in the words of its dialect, if any.
  const groups = call.tool.links.flatMap((link) => ('group' in link ? [link.group] : []));
  const asking = groups.find((group) => group.dialect.name === dialect)?.dialect;
  if (call.isUnattended === true && asking?.noApproverReason !== undefined) {
    const denial: Decision = { ...decision, verdict: 'deny', replace: null, reason: asking.noApproverReason };
    return await blockCall(before, denial, stage);
  }
  const { source } = isObject(metadata.value) ? metadata.value : {};
  const sourceSuffix = typeof source === 'string' ? ` (${source})` : '';
  const message = `Hook "${hook}"${sourceSuffix} asks whether tool "${call.tool.name}" may run.`;
  const pause: CallPaused = { ...pauseMembers(call, args), origin: 'hook', hook, reason, message };
  return pendingResult(namesOf(call), pause, metadata);
}

type DenialStage = 'before_execution' | 'approval';

export function findRequiredApproval({ call, args, metadata }: FilteredCall): CallResult | undefined {
  const needed = call.tool.approval?.(args);
  if (needed === undefined) return undefined;
  const { reason, message } = needed;
  const pause: CallPaused = { ...pauseMembers(call, args), origin: 'approval', reason, message };
  return pendingResult(namesOf(call), pause, metadata);
}

/** Returns what is wrong with arguments that a filter changed; undefined if they fit. */
export function checkChangedArgs(tool: CallableTool | undefined, event: HookEvent): string | undefined {
  if (event.phase !== 'before_execution' && event.phase !== 'approval') return undefined;
  // The arguments of a renamed call must fit the other tool.
  if (tool === undefined || event.request.name !== tool.name) return undefined;
  const violations = findMisfits(tool.checkArgs, argsOf(event, noMetadata));
  return violations.length === 0
    ? undefined
    : `its arguments do not fit input_schema: ${violations.join('; ')}`;
}

/**
 * Takes a hook's answer in place of the tool's. No approval or process follows; only after_execution filters of other
 * dialects see it.
 */
async function takeHookResponse(
  before: FilteredCall,
  { respond, dialect }: { readonly respond: Respond; readonly dialect: string | null },
): Promise<CallResult> {
  const { call, args } = before;
  await notifyHooks(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const { result, isError = false, handled } = respond;
  const text = typeof result.value === 'string' ? result.value : result.text;
  const plain = isError ? failed(toFault(new RuntimeError('TOOL_ERROR', text))) : ok(result);
  const outcome = call.tool.isContent === true ? asContent(result, text, isError).toOutcome() : plain;
  const answered = await passAfterHooks(before, outcome, { latencyMs: 0, answeredBy: dialect });
  const isWithheld = answered.outcome.status === 'denied';
  return handled === undefined || isWithheld ? answered : { ...answered, handled };
}

/** An answer that has not the form of MCP becomes a text block. */
function asContent(result: Json, text: string, isError: boolean): ContentResult {
  const isFit = !isError && findContentFaults(result).length === 0;
  return new ContentResult(isFit ? result : Json.from({ content: [{ type: 'text', text }], isError }));
}

async function blockCall(before: FilteredCall, decision: Decision, stage: DenialStage): Promise<CallResult> {
  const { call, args } = before;
  const { tool, callId, signal, hookContext } = call;
  const denial = deniedResult(namesOf(call), decision);
  const result = { ...denial, content: [denial.content, ...before.context].join('\n') };
  // A cancelled hook has not denied the call.
  if (isCancelled(decision.error) || !isHeard(tool.links, 'blocked')) return result;
  const request = requestOf(call, args);
  const text = result.content;
  const response = { name: tool.name, call_id: callId, content: text, error: text, latency_ms: 0 };
  const { event } = await passGate(
    tool.links,
    { hook: 'tool', phase: 'blocked', request, response, reason: decision.reason, stage },
    { call: callId, signal, hookContext },
  );
  const content = event.phase === 'blocked' ? event.response.content : text;
  const blocked = { ...result, content };
  await notifyFinished(before, blocked, { response, stage });
  return blocked;
}

export interface HookApproval {
  readonly hook: string;
  readonly args: Json;
}

export function isApproved(approvals: readonly HookApproval[], hook: string, args: Json): boolean {
  return approvals.some((approval) => approval.hook === hook && isSameJson(approval.args, args));
}

/** Ignores white space and the spelling of numbers. */
export function isSameJson(one: Json, other: Json): boolean {
  return one.text === other.text || canonical(one) === canonical(other);
}

function canonical({ text }: Json): string {
  return stringifyJson(parseLossless(text));
}
