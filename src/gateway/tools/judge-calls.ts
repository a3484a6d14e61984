import { createHash } from 'node:crypto';
import { toRuntimeError } from '../../base/errors.ts';
import type { Link } from '../../calls/hooks/gate.ts';
import type { FilteredCall } from '../../calls/tool-call/callable-tool.ts';
import { notifyPending, toPendingCall } from '../../calls/tool-call/pending-call.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { JudgeContext } from '../ports.ts';
import type { WireAnswer } from '../wire/codec.ts';
import { argsForClient, argsForHooks } from './call-args.ts';
import {
  type CallHistory,
  findRecord,
  isDecided,
  noHistory,
  resultOfRecord,
  withDecision,
} from './call-decisions.ts';
import { type ClientCall, clientCallsOf } from './client-calls.ts';
import { type CallFiltering, filterClientCall } from './filter-call.ts';
import { type JudgedCall, writeCalls } from './judged-call.ts';
import { mapCalls } from './map-calls.ts';
import { textOfStopped } from './stopped-text.ts';
import { decisionAbout } from './told-decision.ts';

/** Where the calls of an answer wait for people. */
export interface CallWaiting {
  /** The run that has them. */
  readonly runId: string;
  /** What is kept of them from earlier requests. */
  readonly records: readonly PendingRecord[];
  /**
   * Keeps calls that wait, tells of each that is new, and waits for the decisions as long as the config says. Throws
   * RefusedCall when one is not decided then.
   */
  decide(
    calls: readonly PendingCall[],
    tell: (kept: PendingRecord) => Promise<void>,
  ): Promise<readonly PendingRecord[]>;
}

export interface CallJudging extends CallFiltering {
  readonly links: readonly Link[];
  openWaiting(): Promise<CallWaiting>;
}

/** The messages of an answer with what hooks and people made of its calls. Throws RefusedCall. */
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

/** A call, and what has become of it so far. */
interface CallState {
  readonly call: ClientCall;
  /** Its name in the run; another call has another one. */
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

/** What waited once is not asked about a second time: the person's decision stands, whatever a hook says now. */
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
  // The client knows the tool by the name that the model called it by, unless a hook has chosen another tool.
  const name = made.tool.name === tools(call.name).name ? call.name : made.tool.name;
  if (stopped !== undefined) return { kind: 'withheld', call, text: textOfStopped(name, stopped) };
  try {
    if (name === call.name && args.text === argsForHooks(name, call.args).text) return { kind: 'same', call };
    return { kind: 'changed', call, name, args: argsForClient(name, call.args, args) };
  } catch (error) {
    return { kind: 'withheld', call, text: `Tool "${name}" failed: ${toRuntimeError(error).message}` };
  }
}
