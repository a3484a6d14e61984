import { createHash } from 'node:crypto';
import { isCancelled, RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import type { Link } from '../../calls/hooks/gate.ts';
import { allowed, decisionOf } from '../../calls/hooks/hook-chain.ts';
import type { AgentTools } from '../../calls/tool-call/agent-tool.ts';
import {
  findRequiredApproval,
  type HookApproval,
  hasHooksBefore,
  passBeforeHooks,
} from '../../calls/tool-call/before-execution.ts';
import {
  type Call,
  type CallableTool,
  type CallResult,
  type FilteredCall,
  namesOf,
  pendingResult,
  readArgs,
  readCheckedArgs,
  rejectedResult,
  resultOf,
  unfilteredCall,
} from '../../calls/tool-call/callable-tool.ts';
import {
  type DecidedRecord,
  filterApproved,
  notifyPending,
  refuseDecider,
  toPendingCall,
} from '../../calls/tool-call/pending-call.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import { answers, type Decision } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { failed, ok } from '../../contract/tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { noMetadata } from '../../dialects/metadata.ts';
import type { JudgeContext } from '../ports.ts';
import type { WireAnswer } from '../wire/codec.ts';
import { type RefusedCall, refuse } from '../wire/refusal.ts';

export interface CallWaiting {
  readonly runId: string;
  readonly records: readonly PendingRecord[];
  /** Passes new calls to `tell` and waits as long as the config allows. Throws RefusedCall if one remains undecided. */
  decide(
    calls: readonly PendingCall[],
    tell: (kept: PendingRecord) => Promise<void>,
  ): Promise<readonly PendingRecord[]>;
}

interface CallJudging extends CallFiltering {
  readonly links: readonly Link[];
  openWaiting(): Promise<CallWaiting>;
}

/** Returns the messages of a response with the changes of hooks and people to its calls. Throws RefusedCall. */
export async function judgeCalls(
  answer: WireAnswer,
  messages: readonly ChatMessage[],
  context: JudgeContext,
  judging: CallJudging,
): Promise<readonly ChatMessage[]> {
  const calls = clientCallsOf(answer, messages);
  if (calls.length === 0) return messages;
  const waiting = await judging.openWaiting();
  let states = await mapCalls(judging.links, calls, async (call, at) =>
    firstState({ call, step: stepOf(call, at) }, waiting, judging),
  );
  for (;;) {
    const pending = states.flatMap((state) => pendingOf(state, waiting.runId));
    if (pending.length === 0) break;
    const waitingCalls = new Map(states.map((state) => [state.step, state.filtered.call]));
    const records = await waiting.decide(pending, async (kept) => {
      const call = waitingCalls.get(kept.step);
      if (call !== undefined) await notifyPending(call, kept, judging.hookContext);
    });
    states = await mapCalls(judging.links, states, (state) =>
      nextState(state, records, { waiting, judging }),
    );
  }
  for (const { filtered } of states) context.onDecision('before_execution', decisionAbout(filtered));
  return writeCalls(
    messages,
    states.map((state) => toJudged(state, judging)),
  );
}

interface CallState {
  readonly call: ClientCall;
  readonly step: string;
  readonly history: CallHistory;
  readonly filtered: FilteredCall;
}

function stepOf({ name, args }: ClientCall, at: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([name, args.text]))
    .digest('hex');
  return `call-${at + 1}-${digest.slice(0, 12)}`;
}

async function firstState(
  { call, step }: Pick<CallState, 'call' | 'step'>,
  waiting: CallWaiting,
  judging: CallJudging,
): Promise<CallState> {
  const history = noHistory;
  return {
    call,
    step,
    history,
    filtered: await filterOrRecall({ call, step, history }, { waiting, judging }),
  };
}

interface StateContext {
  readonly waiting: CallWaiting;
  readonly judging: CallJudging;
}

/** A call that waited once does not run its hooks again: the person's decision counts. */
async function filterOrRecall(
  { call, step, history }: Omit<CallState, 'filtered'>,
  { waiting, judging }: StateContext,
): Promise<FilteredCall> {
  const kept = findRecord(waiting.records, step, history.last?.id ?? null);
  if (kept === undefined) return await filterClientCall(call, history, judging);
  const { tools, hookContext, signal } = judging;
  const recalled = { tool: tools(kept.tool), callId: call.id, toolUseId: call.id, hookContext, signal };
  const { args } = kept;
  return {
    ...{ call: recalled, asked: args, args, context: [] },
    ...{ metadata: resultOfRecord(kept).metadata, stopped: resultOfRecord(kept) },
  };
}

function pendingOf({ step, history, filtered }: CallState, runId: string): PendingCall[] {
  const outcome = filtered.stopped?.outcome;
  if (outcome?.status !== 'pending') return [];
  const { tool, callId } = filtered.call;
  const planned = { name: step, tool, args: filtered.args, callId };
  const previous = history.last?.id ?? null;
  return [toPendingCall(planned, { runId, outcome, round: history.round + 1, previous })];
}

async function nextState(
  state: CallState,
  records: readonly PendingRecord[],
  context: StateContext,
): Promise<CallState> {
  const record = findRecord(records, state.step, state.history.last?.id ?? null);
  if (record === undefined || !isDecided(record)) return state;
  const next = { ...state, history: withDecision(state.history, record) };
  return { ...next, filtered: await filterOrRecall(next, context) };
}

function toJudged({ call, filtered }: CallState, { tools }: CallJudging): JudgedCall {
  const { stopped, args, call: made } = filtered;
  // The client knows the tool by the model's name for it, unless a hook chose another tool.
  const name = made.tool.name === tools(call.name).name ? call.name : made.tool.name;
  if (stopped !== undefined) return { kind: 'withheld', call, text: textOfStopped(name, stopped) };
  try {
    if (name === call.name && args.text === argsForHooks(name, call.args).text) return { kind: 'same', call };
    return { kind: 'changed', call, name, args: argsForClient(name, call.args, args) };
  } catch (error) {
    return { kind: 'withheld', call, text: `Tool "${name}" failed: ${toRuntimeError(error).message}` };
  }
}

function textOfStopped(tool: string, { outcome, content }: CallResult): string {
  if (outcome.status === 'ok') return `Tool "${tool}" was answered in its place: ${content}`;
  if (outcome.status !== 'denied') return content;
  const { hook, abort, reason } = outcome;
  if (abort !== undefined) throw abortedBy(hook, reason);
  return content;
}

function abortedBy(hook: string, reason: string): RefusedCall {
  return refuse(400, 'content_filter', `hook "${hook}" ended the turn: ${reason}`, {
    verdict: { verdict: 'abort', hook, phase: 'before_execution' },
  });
}

type JudgedCall =
  | { readonly kind: 'same'; readonly call: ClientCall }
  | { readonly kind: 'changed'; readonly call: ClientCall; readonly name: string; readonly args: Json }
  /** The text replaces the call in the response. */
  | { readonly kind: 'withheld'; readonly call: ClientCall; readonly text: string };

function writeCalls(messages: readonly ChatMessage[], judged: readonly JudgedCall[]): readonly ChatMessage[] {
  if (judged.every(({ kind }) => kind === 'same')) return messages;
  return messages.map((message, choice) => {
    const own = judged.filter(({ call, kind }) => call.choice === choice && kind !== 'same');
    return own.length === 0 ? message : writeMessage(message, own);
  });
}

function writeMessage(message: ChatMessage, judged: readonly JudgedCall[]): ChatMessage {
  const byIndex = new Map(judged.map((one) => [one.call.index, one]));
  const calls = callEntriesOf(message).flatMap((entry, index) => {
    const one = byIndex.get(index);
    if (one === undefined || one.kind === 'same') return [entry];
    return one.kind === 'withheld' ? [] : [{ ...entry, name: one.name, args: one.args }];
  });
  const texts = judged.flatMap((one) => (one.kind === 'withheld' ? [one.text] : []));
  const { tool_calls: _, ...others } = message;
  const kept = { ...others, ...(calls.length > 0 && { tool_calls: calls }) };
  return texts.length === 0 ? withRole(message, kept) : withText(withRole(message, kept), texts);
}

/** Repeats both members, because a rest type with an index signature loses the named ones. */
function withRole({ role, content }: ChatMessage, kept: Readonly<Record<string, unknown>>): ChatMessage {
  return { ...kept, role, content };
}

function withText(message: ChatMessage, texts: readonly string[]): ChatMessage {
  const paragraphs = message.content === '' ? texts : [message.content, ...texts];
  const { parts, ...others } = message;
  const told = withRole({ ...message, content: paragraphs.join('\n\n') }, others);
  const list: readonly unknown[] =
    parts instanceof Json ? elementsOf(parts) : Array.isArray(parts) ? parts : [];
  if (list.every(isTextPart)) return told;
  const added = `${message.content === '' ? '' : '\n\n'}${texts.join('\n\n')}`;
  return { ...told, parts: [...list, { type: 'text', text: added }] };
}

function isTextPart(part: unknown): boolean {
  const value = part instanceof Json ? part.value : part;
  return isObject(value) && value['type'] === 'text';
}

interface CallFiltering {
  readonly tools: AgentTools;
  readonly hookContext: HookContext;
  readonly signal: AbortSignal;
  /** Whether no one can decide later. */
  readonly isUnattended: boolean;
}

/** Runs the hooks and the approval rule on a call and applies people's decisions. Throws the signal's reason. */
async function filterClientCall(
  client: ClientCall,
  history: CallHistory,
  filtering: CallFiltering,
): Promise<FilteredCall> {
  const { tools, hookContext, signal, isUnattended } = filtering;
  const { last } = history;
  // The approval rule judged the call under the name that hooks had given it.
  const name = last?.origin === 'approval' ? last.tool : client.name;
  const call: Call = {
    ...{ tool: tools(name), callId: client.id, toolUseId: client.id },
    ...{ signal, hookContext, isUnattended, find: tools },
  };
  const filtered =
    last === undefined
      ? await filterFirst(call, client)
      : await filterDecided(call, client, { ...history, last });
  const { outcome } = filtered.stopped ?? {};
  if (outcome?.status === 'denied' && isCancelled(outcome.error)) signal.throwIfAborted();
  return filtered;
}

async function filterFirst(call: Call, { args: asked }: ClientCall): Promise<FilteredCall> {
  try {
    const args = checkedArgsForHooks(call.tool, asked);
    const unfiltered = unfilteredCall(call, args);
    const before = hasHooksBefore(call.tool) ? await passBeforeHooks(unfiltered) : unfiltered;
    if (before.stopped !== undefined) return before;
    const stopped = before.call.tool.approval && findRequiredApproval(before);
    return stopped === undefined ? before : { ...before, stopped };
  } catch (error) {
    const stopped = resultOf(namesOf(call), failed(toFault(error)));
    return { ...unfilteredCall(call, noMetadata), stopped };
  }
}

async function filterDecided(
  call: Call,
  client: ClientCall,
  { last, editedArgs, approvals }: CallHistory & { readonly last: DecidedRecord },
): Promise<FilteredCall> {
  const { ruling, ...pending } = last;
  const unfiltered = unfilteredCall(call, pending.args);
  switch (ruling.kind) {
    case 'approved':
      return await filterApproved(call, {
        ...{
          pending,
          decision: ruling,
          asked: editedArgs ?? argsForHooks(client.name, client.args),
          approvals,
        },
      });
    case 'responded': {
      const refused = refuseDecider(call, pending, ruling);
      const stopped = refused ?? resultOf(namesOf(call), ok(ruling.result));
      return { ...unfiltered, stopped };
    }
    case 'rejected':
    case 'cancelled': {
      const error = new RuntimeError('REJECTED', `tool "${call.tool.name}" was rejected`);
      return { ...unfiltered, stopped: rejectedResult(namesOf(call), toFault(error), ruling.reason) };
    }
    case 'expired': {
      const message = `nobody decided about tool "${call.tool.name}" in time`;
      const error = toFault(new RuntimeError('PENDING_EXPIRED', message));
      return { ...unfiltered, stopped: resultOf(namesOf(call), failed(error)) };
    }
  }
}

interface ClientCall {
  readonly name: string;
  readonly id: string;
  /** A JSON object, or a JSON string with the raw text. */
  readonly args: Json;
  /** The index of its message; `index` is its position in `tool_calls`. */
  readonly choice: number;
  readonly index: number;
}

function clientCallsOf(answer: WireAnswer, messages: readonly ChatMessage[]): readonly ClientCall[] {
  return messages.flatMap((message, choice) => {
    const servedIds = idsOfServedCalls(answer, choice);
    return callEntriesOf(message).flatMap((entry, index) => {
      const call = { ...readEntry(entry), choice, index };
      return servedIds.has(call.id) ? [] : [call];
    });
  });
}

function idsOfServedCalls({ messages, toolCalls }: WireAnswer, choice: number): ReadonlySet<string> {
  const message = messages[choice];
  const entries = message === undefined ? [] : callEntriesOf(message);
  const ofClient = toolCalls.filter((call) => call.choice === choice);
  if (entries.length === ofClient.length) return none;
  const indexes = new Set(ofClient.map(({ index }) => index));
  const ids = new Set(entries.flatMap((entry, index) => (indexes.has(index) ? [] : [readEntry(entry).id])));
  // An ID shared by both kinds of call is judged.
  for (const { callId } of ofClient) ids.delete(callId);
  return ids;
}

const none: ReadonlySet<string> = new Set();

function callEntriesOf(message: ChatMessage): readonly Readonly<Record<string, unknown>>[] {
  const { tool_calls: calls } = message;
  if (calls instanceof Json) return elementsOf(calls).map(membersOf);
  return Array.isArray(calls) ? calls.map(membersOf) : [];
}

function membersOf(entry: unknown): Readonly<Record<string, unknown>> {
  if (entry instanceof Json) return Object.fromEntries(exactMembers(entry));
  return isObject(entry) ? entry : {};
}

function readEntry({ id, name, args }: Readonly<Record<string, unknown>>) {
  const json = args instanceof Json ? args : Json.from(args ?? '');
  return { id: textOf(id), name: textOf(name), args: json };
}

function textOf(value: unknown): string {
  const plain = value instanceof Json ? value.value : value;
  return typeof plain === 'string' ? plain : '';
}

/** Processes the calls of one round: in sequence if foreign hooks run, otherwise in parallel. */
export async function mapCalls<Item, Result>(
  links: readonly Link[],
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  if (!links.some((link) => 'group' in link)) return await Promise.all(items.map(work));
  const results: Result[] = [];
  for (const [at, item] of items.entries()) results.push(await work(item, at));
  return results;
}

function decisionAbout({ stopped, args, asked, metadata }: FilteredCall): Decision {
  if (stopped === undefined) return { ...allowed, verdict: args === asked ? 'allow' : 'modify', metadata };
  const { outcome } = stopped;
  switch (outcome.status) {
    case 'denied': {
      const { hook, reason, error, abort } = outcome;
      const denial = decisionOf({ hook, dialect: null }, answers.deny(reason, { metadata }));
      return { ...denial, ...(error && { error }), ...(abort && { verdict: 'abort', abort }) };
    }
    case 'pending':
      return decisionOf({ hook: outcome.hook, dialect: null }, answers.ask(outcome.reason, { metadata }));
    case 'failed':
      return decisionOf({ hook: null, dialect: null }, answers.deny(outcome.error.message, { metadata }));
    case 'ok':
      return decisionOf({ hook: null, dialect: null }, answers.respond(outcome.result, { metadata }));
  }
}

export function denialText(tool: string, hook: string | null, reason: string): string {
  return `Tool "${tool}" was blocked by hook "${hook ?? ''}": ${reason}`;
}

/**
 * Custom tools give `{"input": text}`. Throws ARGS_INVALID for text that only starts like an object, because readers
 * could disagree about it.
 */
export function argsForHooks(name: string, args: Json): Json {
  const { value } = args;
  if (typeof value !== 'string') return readArgs(name, args.text);
  const text = value.trim();
  return text === '' || text.startsWith('{') ? readArgs(name, text) : Json.from({ input: value });
}

function checkedArgsForHooks(tool: CallableTool, args: Json): Json {
  return readCheckedArgs(tool, argsForHooks(tool.name, args).text);
}

/** Converts changed arguments back to the response's format. Throws ARGS_INVALID if the format cannot hold them. */
function argsForClient(name: string, original: Json, changed: Json): Json {
  const { value } = original;
  if (typeof value !== 'string' || value.trim() === '') return changed;
  const given = changed.value;
  const { input } = isObject(given) ? given : {};
  if (isObject(given) && Object.keys(given).length === 1 && typeof input === 'string')
    return Json.from(input);
  throw new RuntimeError(
    'ARGS_INVALID',
    `tool "${name}": its input is a text, so it can only be changed as \`input\``,
  );
}

interface CallHistory {
  readonly last: DecidedRecord | undefined;
  readonly round: number;
  readonly editedArgs: Json | null;
  readonly approvals: readonly HookApproval[];
}

const noHistory: CallHistory = { last: undefined, round: 0, editedArgs: null, approvals: [] };

function withDecision(before: CallHistory, record: DecidedRecord): CallHistory {
  const { hook, args, ruling } = record;
  const edited = ruling.kind === 'approved' ? ruling.args : null;
  const isApproved = ruling.kind === 'approved' && hook !== null;
  return {
    last: record,
    round: before.round + 1,
    editedArgs: edited ?? before.editedArgs,
    approvals: [...before.approvals, ...(isApproved ? [{ hook, args: edited ?? args }] : [])],
  };
}

export function isDecided(record: PendingRecord): record is DecidedRecord {
  return record.ruling !== null;
}

function findRecord(
  records: readonly PendingRecord[],
  step: string,
  previous: string | null,
): PendingRecord | undefined {
  return records.find((record) => record.step === step && record.previous === previous);
}

function resultOfRecord(record: PendingCall): CallResult {
  const { tool, callId, origin, hook, args, reason, message, members } = record;
  const paused = { status: 'pending', origin, hook, args, reason, message, members } as const;
  return pendingResult({ tool, callId }, { ...paused, expiresMs: null }, noMetadata);
}
