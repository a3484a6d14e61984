import { toDocument } from '../../base/json/document-builder.ts';
import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, type Json, parseLossless } from '../../base/json/json.ts';
import type { EventInput } from '../../calls/hooks/event-input.ts';
import { decisionOf } from '../../calls/hooks/hook-chain.ts';
import type { AgentTools } from '../../calls/tool-call/agent-tool.ts';
import { whyNotDecided } from '../../calls/tool-call/approvals.ts';
import { findRequiredApproval } from '../../calls/tool-call/before-execution.ts';
import { type Call, readArgs, unfilteredCall } from '../../calls/tool-call/callable-tool.ts';
import { toDecisionDocument } from '../../calls/tool-call/document.ts';
import { type DecidedRecord, notifyPending, toPendingCall } from '../../calls/tool-call/pending-call.ts';
import { configOptions } from '../../config/overlay/identity.ts';
import type { PendingRecord } from '../../contract/approval.ts';
import type { DecisionDocument } from '../../contract/document.ts';
import type { Emit } from '../../contract/event.ts';
import { answers } from '../../contract/hook.ts';
import { nextCallId } from '../../contract/tool.ts';
import { createHookContext } from '../../contract/turn.ts';
import type { AgentCaller } from '../../dialects/inbound.ts';
import { type ChangeWaiter, openChangeWaiter } from '../../pipelines/state/change-waiter.ts';
import type { Store } from '../../store/store.ts';
import { type AskedCall, openQuestion, useDecision } from './agent-question.ts';

export interface AgentJudging {
  readonly tools: AgentTools;
  readonly fire: (event: EventInput) => Promise<DecisionDocument>;
  readonly openStore: () => Promise<Store>;
  readonly config: string;
  /** Whether the store outlives the process, so that another process can decide. */
  readonly isDurable: boolean;
  /** The time that the call waits, in milliseconds; 0 refuses it at once. */
  readonly holdMs: number;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** The page on which a person can decide the call, if the config has one. */
  readonly linkOf: (pending: string) => string | undefined;
}

/**
 * A call that waits for a person is denied with a reason that names it; after the approval the same call passes once.
 * For an approved call, returns the decision of the hooks. Throws EVENT_INVALID, ARGS_INVALID, STORE_FAILED, ABORTED.
 */
export async function judgeAgentCall(
  event: EventInput,
  caller: AgentCaller,
  judging: AgentJudging,
): Promise<DecisionDocument> {
  const decision = await judging.fire(event);
  const {
    name: calledAs,
    args: given,
    call_id: callId,
    aliases,
  } = isObject(event.request) ? event.request : {};
  if (event.phase !== 'before_execution' || typeof calledAs !== 'string') return decision;
  if (!goesOn.has(decision.verdict)) return decision;
  const { tools, signal, isDurable } = judging;
  const id = typeof callId === 'string' && callId !== '' ? callId : nextCallId();
  const otherNames = Array.isArray(aliases) ? aliases.filter((each) => typeof each === 'string') : [];
  const call: Call = { tool: tools(calledAs, otherNames), callId: id, signal };
  const { name } = call.tool;
  if (call.tool.approval === undefined) return decision;
  const args = readArgs(name, decision.replace?.['args'] ?? given);
  if (call.tool.approval(args) === undefined) return decision;
  if (!isDurable)
    return refuseCall(
      `tool "${name}" needs a decision of a person, but the state store is memory, so nobody could decide`,
    );
  return await askPeople({ event, decision, call, args }, caller, judging);
}

const goesOn: ReadonlySet<string> = new Set(['allow', 'modify', 'ask']);

interface Waiting {
  readonly event: EventInput;
  readonly decision: DecisionDocument;
  readonly call: Call;
  readonly args: Json;
}

async function askPeople(
  waiting: Waiting,
  caller: AgentCaller,
  judging: AgentJudging,
): Promise<DecisionDocument> {
  const { call, decision } = waiting;
  const { config, emit, holdMs, signal, linkOf } = judging;
  const store = await judging.openStore();
  const asked: AskedCall = {
    ...{ caller, config, tool: call.tool.name, args: waiting.args },
    toPending: (runId) => toPending(waiting, runId),
  };
  const wait = openDecisionWait(store, { holdMs, signal });
  try {
    for (;;) {
      const { record, isNew } = await openQuestion(store, asked);
      if (isNew) {
        const { id, runId: run, step, tool, reason, message } = record;
        emit({ type: 'pending.opened', id, run, step, tool, reason, message });
        await notifyPending(call, record, createHookContext(caller.agent));
      }
      const decided = await wait.until(record);
      if (decided === undefined) return refuseOpen(record, { config, link: linkOf(record.id) });
      const { ruling } = decided;
      const refusal = ruling.kind === 'approved' ? whyNotDecided(call.tool, decided, ruling) : undefined;
      const isApproved = ruling.kind === 'approved' && refusal === undefined;
      // Another call with the same arguments has used the approval, so this call needs a new one.
      if (!(await useDecision(store, decided, isApproved)) && isApproved) continue;
      if (refusal !== undefined) return refuseCall(refusal.message);
      if (ruling.kind !== 'approved') return refuseDecided(decided);
      return ruling.args === null ? decision : await judgeEdited(ruling.args, decided, waiting, judging);
    }
  } finally {
    wait.close();
  }
}

function toPending({ call, args }: Waiting, runId: string) {
  const { outcome } = findRequiredApproval(unfilteredCall(call, args)) ?? {};
  if (outcome?.status !== 'pending') throw new TypeError(`tool "${call.tool.name}" needs no approval`);
  const planned = { name: 'call', tool: call.tool, args, callId: call.callId };
  return toPendingCall(planned, { runId, outcome, round: 1, previous: null });
}

/** Hooks run on arguments that a person has edited. They may deny them but not change them. */
async function judgeEdited(
  args: Json,
  decided: Parameters<typeof changeArgs>[2],
  { event }: Waiting,
  { fire }: AgentJudging,
): Promise<DecisionDocument> {
  const request = isObject(event.request) ? event.request : {};
  const edited = parseLossless(args.text);
  const decision = await fire({ ...event, request: { ...request, args: edited } });
  const { verdict, replace, hook } = decision;
  if (verdict === 'allow' || (verdict === 'modify' && isSameToTheDigit(replace?.['args'], edited)))
    return changeArgs(decision, args, decided);
  if (verdict !== 'modify' && verdict !== 'ask') return decision;
  return refuseCall(
    `hook "${hook}" does not allow the arguments that a person approved instead of the original ones`,
  );
}

interface DecisionWait {
  until(record: PendingRecord): Promise<DecidedRecord | undefined>;
  close(): void;
}

function openDecisionWait(
  store: Store,
  { holdMs, signal }: { readonly holdMs: number; readonly signal: AbortSignal },
): DecisionWait {
  const since = performance.now();
  let waiter: ChangeWaiter | undefined;
  return {
    until: async (record) => {
      let current = record;
      for (;;) {
        if (isDecided(current)) return current;
        const leftMs = holdMs - (performance.now() - since);
        if (leftMs <= 0 || signal.aborted) return undefined;
        if (waiter === undefined) {
          waiter = openChangeWaiter(store, signal);
          // The record is read once more, because it may have been decided before the watch began.
        } else {
          const due = Math.min(Date.now() + leftMs, current.expiresAt ?? Number.POSITIVE_INFINITY);
          await waiter.next(due).catch(unless(signal));
        }
        current = (await store.findPending(record.id, Date.now())) ?? current;
      }
    },
    close: () => waiter?.close(),
  };
}

function isDecided(record: PendingRecord): record is DecidedRecord {
  return record.ruling !== null;
}

function unless(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

const byPeople = { hook: null, dialect: null };

function refuseCall(reason: string): DecisionDocument {
  return toDecisionDocument(decisionOf(byPeople, answers.deny(reason)));
}

function refuseOpen(
  { id, runId, tool, message }: PendingRecord,
  { config, link }: { readonly config: string; readonly link: string | undefined },
): DecisionDocument {
  const approve = `signalbox pending approve ${id}${configOptions(config)}`;
  const refusal = refuseCall(
    `tool "${tool}" waits for a person (${id}), who decides ${link === undefined ? '' : `at ${link}, or `}with \`${approve}\` or \`reject\`; after that make the very same call again. The question is: ${message}`,
  );
  return { ...refusal, pending: { id, run_id: runId } };
}

function changeArgs(before: DecisionDocument, args: Json, { ruling }: DecidedRecord): DecisionDocument {
  const by = 'by' in ruling ? ruling.by : '';
  const reason = `approved by ${by} with other arguments`;
  const changed = toDocument<DecisionDocument>({ ...before, verdict: 'modify', reason, replace: { args } });
  return { ...changed, hook: null, dialect: null };
}

function refuseDecided({ tool, ruling }: DecidedRecord): DecisionDocument {
  switch (ruling.kind) {
    case 'responded': {
      const given = typeof ruling.result.value === 'string' ? ruling.result.value : ruling.result.text;
      return refuseCall(`${ruling.by} answered in place of tool "${tool}": ${given}`);
    }
    case 'expired':
      return refuseCall(`nobody decided about tool "${tool}" in time`);
    case 'approved':
      return refuseCall(`tool "${tool}" may not run`);
    case 'rejected':
    case 'cancelled': {
      const by = ruling.by === '' ? '' : ` by ${ruling.by}`;
      const why = ruling.reason === '' ? '' : `: ${ruling.reason}`;
      return refuseCall(`tool "${tool}" was ${ruling.kind}${by}${why}`);
    }
  }
}
