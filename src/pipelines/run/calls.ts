import { toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { tryJson } from '../../base/json/try-parse.ts';
import {
  type CallNames,
  type CallPaused,
  type CallResult,
  pendingResult,
  resultOf,
  type ToolDenied,
} from '../../calls/hooks/call-result.ts';
import { prepareCall, stoppedCall } from '../../calls/tool-call/call.ts';
import { type DecidedInRound, runCallLoop } from '../../calls/tool-call/call-loop.ts';
import type { CallContext } from '../../calls/tool-call/callable-tool.ts';
import { prepareDecidedCall } from '../../calls/tool-call/decided-call.ts';
import { type DecidedRecord, notifyPending, type PlannedCall } from '../../calls/tool-call/pending-call.ts';
import { readCheckedArgs } from '../../calls/tool-call/tool-args.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import { failed } from '../../contract/tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { noMetadata } from '../../dialects/metadata.ts';
import { callRecord } from '../state/call-record.ts';
import { findRecord } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import type { Scope } from '../state/step-scope.ts';
import { type CallSlot, paceOf, runCallRound } from './call-round.ts';
import { type CallStep, journalCall } from './journal-call.ts';

interface RoundContext {
  readonly scope: Scope;
  /** The session and turn of the calls. */
  readonly hookContext: HookContext;
  readonly concurrency: number;
  /** Whether nobody acts on the results before the next step of the journal begins. */
  readonly isDeferred?: boolean;
  /**
   * Defers the `returned` notification of a call, by its name, until all calls of the response have results.
   */
  readonly deferNotification?: ((name: string, notify: () => Promise<void>) => void) | undefined;
}

/**
 * Makes the calls of one round, `concurrency` at once; foreign hooks are asked about one call after another.
 * Pending calls are listed together in call order, and when all are decided each continues by its decision. A
 * call that the journal has is not made again. Throws RunSuspended, ABORTED, STORE_FAILED.
 */
export async function runCalls(
  run: RunContext,
  calls: readonly PlannedCall[],
  round: RoundContext,
): Promise<CallResult[]> {
  const options = { pace: paceOf(calls.flatMap(({ tool }) => tool.links)), concurrency: round.concurrency };
  let turnEnd: ToolDenied | undefined;
  return await runCallLoop<CallSlot>(calls, {
    runId: run.journal.runId,
    runRound: (items, work) => runCallRound(items, options, work),
    make: async (call, slot) => {
      const result = await makeCall(run, call, { ...round, slot, skipReason: () => turnEnd });
      const { outcome } = result;
      if (outcome.status === 'denied' && outcome.abort !== undefined) turnEnd ??= outcome;
      return result;
    },
    decide: (waiting) => waitForDecisions(run, { waiting, calls }, round),
    resume: (call, decided, slot) => resumeCall(run, call, { ...round, slot, decided }),
  });
}

/** The context of one call of a round. */
interface CallInRound extends RoundContext {
  readonly slot: CallSlot;
}

interface FirstCallInRound extends CallInRound {
  /** The denial of another call that ended the turn meanwhile. */
  readonly skipReason: () => ToolDenied | undefined;
}

async function makeCall(
  run: RunContext,
  planned: PlannedCall,
  context: FirstCallInRound,
): Promise<CallResult> {
  const call = withKey(run, planned);
  const { tool, args, callId, name } = call;
  const replacement = () => {
    const by = context.skipReason();
    return by && skippedCall({ tool: tool.name, callId }, by);
  };
  return await journalCall(run, context.slot, {
    name,
    asked: askedOf(call),
    prepare: async () => {
      const skipped = replacement();
      return skipped === undefined
        ? await prepareCall(tool, args, contextOf(run, call, context))
        : stoppedCall(skipped);
    },
    isHeard: tool.links.length > 0,
    isDeferred: context.isDeferred === true,
    mayRepeat: tool.idempotent !== false,
    replacement,
    whenInterrupted: () => interruptedCall(call),
  });
}

function askedOf({ name, tool, args, composed, key }: PlannedCall): CallStep['asked'] {
  return {
    tool: tool.name,
    args: composed ?? composeJson(typeof args === 'string' ? (tryJson(args) ?? args) : args),
    ...(key !== undefined && key !== name && { key }),
  };
}

/** The call with the key that it has in a run that was retried. */
function withKey({ journal }: RunContext, call: PlannedCall): PlannedCall {
  const { name, key = name } = call;
  if (journal.keyOf === undefined) return call;
  const kept = findRecord(journal, name, callRecord);
  return { ...call, key: kept === undefined ? journal.keyOf(name, key, askedOf(call)) : (kept.key ?? key) };
}

function contextOf(
  run: RunContext,
  { name, callId, toolUseId, key = name }: PlannedCall,
  { scope, hookContext, slot, deferNotification }: CallInRound,
): CallContext {
  return {
    ...{ callId, toolUseId, hookContext },
    signal: scope.signal,
    idempotencyKey: `${run.journal.keyRunId ?? run.journal.runId}/${key}`,
    // The tool that a hook may rename the call to.
    find: (tool) => run.tools.get(tool),
    waitForResults: slot.waitForResults,
    ...(deferNotification && {
      deferNotification: (notify: () => Promise<void>) => deferNotification(name, notify),
    }),
  };
}

async function resumeCall(
  run: RunContext,
  planned: PlannedCall,
  { decided, ...context }: CallInRound & { readonly decided: DecidedInRound },
): Promise<CallResult> {
  const call = withKey(run, planned);
  const { record, round } = decided;
  const { ruling: decision, args } = record;
  const editedArgs = decision.kind === 'approved' ? decision.args : null;
  return await journalCall(run, context.slot, {
    // `ruling` is the stored name of a decision.
    name: `${call.name}/ruling-${round}`,
    asked: askedOf(call),
    prepare: () => prepareDecidedCall(call, decided, contextOf(run, call, context)),
    isHeard: call.tool.links.length > 0,
    isDeferred: context.isDeferred === true,
    mayRepeat: call.tool.idempotent !== false || decision.kind !== 'approved',
    replacement: () => undefined,
    whenInterrupted: () => interruptedCall({ ...call, args: editedArgs ?? args }),
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

interface WaitingCalls {
  readonly waiting: readonly PendingCall[];
  readonly calls: readonly PlannedCall[];
}

/** Stores the calls that wait, notifies hooks, and waits with the clocks of the enclosing steps paused. */
async function waitForDecisions(
  run: RunContext,
  { waiting, calls }: WaitingCalls,
  { scope: { clocks, signal }, hookContext }: RoundContext,
): Promise<readonly DecidedRecord[]> {
  for (const clock of clocks) clock.pause();
  try {
    const notify = async (pending: PendingRecord) => {
      const call = calls.find(({ name }) => name === pending.step);
      if (call !== undefined && run.isKept) await notifyPending(call, pending, hookContext);
    };
    return await run.journal.decide(waiting, { notify, signal });
  } finally {
    for (const clock of clocks) clock.resume();
  }
}
