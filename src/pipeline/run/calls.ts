import { createHash } from 'node:crypto';
import type { PendingCall } from '../../contract/approval.ts';
import { failed } from '../../contract/tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { RuntimeError, toFault } from '../../errors.ts';
import {
  type CallNames,
  type CallPaused,
  type CallResult,
  noMetadata,
  pendingResult,
  resultOf,
  type ToolDenied,
} from '../../hooks/call-result.ts';
import type { Json } from '../../json/json.ts';
import { prepareCall, stoppedCall } from '../../tool-call/call.ts';
import { type CallableTool, type CallContext, readCheckedArgs } from '../../tool-call/callable-tool.ts';
import { prepareDecidedCall } from '../../tool-call/decided-call.ts';
import { type HookApproval, hookApprovalsOf } from '../../tool-call/hook-approval.ts';
import { notifyPending } from '../../tool-call/pending-notification.ts';
import { readArgs } from '../../tool-call/tool-args.ts';
import type { DecidedRecord } from '../state/journal.ts';
import { journalCall } from '../state/journal-call.ts';
import type { RunContext } from '../state/run-context.ts';
import type { Scope } from '../state/step-scope.ts';
import { type CallSlot, paceOf, runCallRound } from './call-round.ts';

/** A tool call of a run. */
export interface PlannedCall {
  /** Its path in the journal. */
  readonly name: string;
  readonly tool: CallableTool;
  readonly args: unknown;
  readonly callId: string;
  /** The model's own id for it, if a model asked. */
  readonly toolUseId?: string | undefined;
}

/**
 * Makes the calls of one round, `concurrency` at once; foreign hooks are asked about one call after another.
 * Pending calls are listed together in call order, and when all are decided each continues by its decision. A
 * call that the journal has is not made again. Throws RunSuspended, ABORTED, STORE_FAILED.
 */
export async function runCalls(
  run: RunContext,
  calls: readonly PlannedCall[],
  { concurrency, ...context }: RoundContext,
): Promise<CallResult[]> {
  const { scope, hookContext } = context;
  const options = { pace: paceOf(calls.flatMap(({ tool }) => tool.links)), concurrency };
  const end: { by?: ToolDenied } = {};
  let results = await runCallRound(calls, options, async (call, slot) => {
    const result = await makeCall(run, call, { ...context, turnEnd: end, slot });
    const { outcome } = result;
    if (outcome.status === 'denied' && outcome.abort !== undefined) end.by ??= outcome;
    return result;
  });
  const histories = new Map<string, DecisionHistory>();
  const notify = async (pending: PendingCall) => {
    const call = calls.find(({ name }) => name === pending.step);
    if (call !== undefined && run.isKept) await notifyPending(call, pending, hookContext);
  };
  for (let round = 1; results.some(isPaused); round += 1) {
    const waiting = calls.flatMap((call, index): PendingCall[] => {
      const outcome = results[index]?.outcome;
      if (outcome?.status !== 'pending') return [];
      return [
        toPendingCall(run.journal.runId, call, {
          outcome,
          round,
          previous: histories.get(call.name)?.id ?? null,
        }),
      ];
    });
    const decided = await waitForDecisions(run, { waiting, tell: notify }, scope);
    const decisions = new Map(decided.map((record) => [record.step, record]));
    for (const record of decisions.values())
      histories.set(record.step, addDecision(histories.get(record.step), record));
    const before = results;
    results = await runCallRound(calls, options, async (call, slot, index) => {
      const record = decisions.get(call.name);
      const result = before[index];
      if (record === undefined && result !== undefined) return result;
      const history = histories.get(call.name);
      return await runDecided(run, call, { ...context, slot, record, history, round });
    });
  }
  return results;
}

interface RoundContext {
  readonly scope: Scope;
  /** The session and turn of the calls. */
  readonly hookContext: HookContext;
  readonly concurrency: number;
  /**
   * Defers the `returned` notification of a call, by its name, until all calls of the response have results.
   */
  readonly deferNotification?: ((name: string, tell: () => Promise<void>) => void) | undefined;
}

/** The decisions about one call so far. */
interface DecisionHistory {
  /** The id of its last pending record. */
  readonly id: string;
  /** The arguments as a person edited them; null: not edited. */
  readonly editedArgs: Json | null;
  readonly approvals: readonly HookApproval[];
}

function addDecision(history: DecisionHistory | undefined, record: DecidedRecord): DecisionHistory {
  const { id, ruling } = record;
  const edited = ruling.kind === 'approved' ? ruling.args : null;
  return {
    id,
    editedArgs: edited ?? history?.editedArgs ?? null,
    approvals: [...(history?.approvals ?? []), ...hookApprovalsOf({ pending: record, ruling })],
  };
}

function isPaused({ outcome }: CallResult): boolean {
  return outcome.status === 'pending';
}

/** The context of one call of a round. */
interface CallInRound extends Omit<RoundContext, 'concurrency'> {
  readonly slot: CallSlot;
}

interface FirstCallInRound extends CallInRound {
  /** The denial of another call that ended the turn meanwhile. */
  readonly turnEnd: { readonly by?: ToolDenied };
}

async function makeCall(run: RunContext, call: PlannedCall, context: FirstCallInRound): Promise<CallResult> {
  const { tool, args, callId, name } = call;
  const replacement = () => {
    const { by } = context.turnEnd;
    return by && skippedCall({ tool: tool.name, callId }, by);
  };
  return await journalCall(run, context.slot, {
    name,
    prepare: async () => {
      const ended = replacement();
      return ended === undefined
        ? await prepareCall(tool, args, contextOf(run, call, context))
        : stoppedCall(ended);
    },
    mayRepeat: tool.idempotent !== false,
    replacement,
    whenInterrupted: () => interruptedCall(call),
  });
}

function contextOf(
  run: RunContext,
  { name, callId, toolUseId }: PlannedCall,
  { scope, hookContext, slot, deferNotification }: CallInRound,
): CallContext {
  return {
    ...{ callId, toolUseId, hookContext },
    signal: scope.signal,
    idempotencyKey: `${run.journal.runId}/${name}`,
    // The tool that a hook may rename the call to.
    find: (tool) => run.tools.get(tool),
    waitForResults: slot.waitForResults,
    ...(deferNotification && {
      deferNotification: (notify: () => Promise<void>) => deferNotification(name, notify),
    }),
  };
}

interface DecidedCallInRound extends CallInRound {
  readonly record: DecidedRecord | undefined;
  readonly history: DecisionHistory | undefined;
  readonly round: number;
}

async function runDecided(
  run: RunContext,
  call: PlannedCall,
  { record, history, round, ...context }: DecidedCallInRound,
): Promise<CallResult> {
  if (record === undefined || history === undefined)
    throw new RuntimeError('INTERNAL', `${call.name} was to be decided and was not`);
  const { tool } = call;
  const { ruling } = record;
  const isApproved = ruling.kind === 'approved';
  return await journalCall(run, context.slot, {
    name: `${call.name}/ruling-${round}`,
    prepare: async () => {
      const originalArgs = history.editedArgs ?? readArgs(tool.name, call.args);
      const callDecision = { pending: record, decision: ruling, originalArgs, approvals: history.approvals };
      return await prepareDecidedCall(tool, callDecision, contextOf(run, call, context));
    },
    mayRepeat: tool.idempotent !== false || !isApproved,
    replacement: () => undefined,
    whenInterrupted: () =>
      interruptedCall({ ...call, args: (isApproved ? ruling.args : null) ?? record.args }),
  });
}

/** The result of a call that was not made because a hook ended the turn. */
function skippedCall(names: CallNames, { hook, reason, abort }: ToolDenied): CallResult {
  const content = `Tool "${names.tool}" was not run: hook "${hook}" ended the turn: ${reason}`;
  const outcome = { status: 'denied' as const, hook, reason, ...(abort && { abort }) };
  return { outcome, callId: names.callId, content, metadata: noMetadata };
}

/** The pending result of a call of a non-idempotent tool that was begun and never ended. */
function interruptedCall({ tool, args, callId }: PlannedCall): CallResult {
  const names = { tool: tool.name, callId };
  try {
    const outcome: CallPaused = {
      status: 'pending',
      origin: 'interrupted',
      hook: null,
      args: readCheckedArgs(tool, args),
      reason: 'the call was cut off, and the tool is not idempotent',
      message: `Tool "${tool.name}" may or may not have acted. Approve to call it again, or answer in its place.`,
      members: noMetadata,
      expiresMs: null,
    };
    return pendingResult(names, outcome);
  } catch (error) {
    return resultOf(names, failed(toFault(error)));
  }
}

interface PauseInput {
  readonly outcome: CallPaused;
  readonly round: number;
  readonly previous: string | null;
}

/** The record of a call that waits for a person. */
export function toPendingCall(
  runId: string,
  { name, tool, callId }: PlannedCall,
  { outcome, round, previous }: PauseInput,
): PendingCall {
  const { origin, hook, args, reason, message, members, expiresMs } = outcome;
  const createdAt = Date.now();
  return {
    id: pendingId(runId, name, round),
    runId,
    step: name,
    callId,
    tool: tool.name,
    args,
    origin,
    hook,
    reason,
    message,
    members,
    previous,
    createdAt,
    expiresAt: expiresMs === null ? null : createdAt + expiresMs,
  };
}

/** A deterministic id, so that a crash between two writes creates no second pending record. */
function pendingId(runId: string, name: string, round: number): string {
  return `pending_${createHash('sha256').update(`${runId}\n${name}\n${round}`).digest('hex').slice(0, 16)}`;
}

interface PendingCalls {
  readonly waiting: readonly PendingCall[];
  readonly tell: (pending: PendingCall) => Promise<void>;
}

/** Waits for the decisions, with the clocks of the enclosing steps paused. */
async function waitForDecisions(
  run: RunContext,
  { waiting, tell: notify }: PendingCalls,
  { clocks }: Scope,
): Promise<readonly DecidedRecord[]> {
  for (const clock of clocks) clock.pause();
  try {
    return await run.journal.decide(waiting, notify);
  } finally {
    for (const clock of clocks) clock.resume();
  }
}
