import PQueue from 'p-queue';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { tryJson } from '../../base/json/parse.ts';
import type { Link } from '../../calls/hooks/gate.ts';
import { type PreparedCall, prepareCall, stoppedCall, trackToolCall } from '../../calls/tool-call/call.ts';
import {
  type CallContext,
  type CallNames,
  type CallPaused,
  type CallResult,
  pendingResult,
  readCheckedArgs,
  resultOf,
  type ToolDenied,
} from '../../calls/tool-call/callable-tool.ts';
import {
  type DecidedInRound,
  type DecidedRecord,
  notifyPending,
  type PlannedCall,
  prepareDecidedCall,
  runCallLoop,
} from '../../calls/tool-call/pending-call.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import { inStep } from '../../contract/operation.ts';
import { failed } from '../../contract/tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { noMetadata } from '../../dialects/metadata.ts';
import { callRecord, type JournaledCall } from '../state/call-record.ts';
import type { AskedCall } from '../state/journal.ts';
import { findRecord, journalStep } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import type { Scope } from '../state/step-scope.ts';
import { requireFinished } from '../state/suspension.ts';
import { mapConcurrently } from './loops.ts';

interface RoundContext {
  readonly scope: Scope;
  readonly hookContext: HookContext;
  readonly concurrency: number;
  readonly isDeferred?: boolean;
  /** Defers the `returned` notification of a call until all calls of the response have results. */
  readonly deferNotification?: ((name: string, notify: () => Promise<void>) => void) | undefined;
}

/** Journaled calls are not made again. Throws RunSuspended, ABORTED, STORE_FAILED. */
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

interface CallInRound extends RoundContext {
  readonly slot: CallSlot;
}

interface FirstCallInRound extends CallInRound {
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
    ...{ name, callId },
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
    isByHost: run.isByHost,
    signal: scope.signal,
    idempotencyKey: `${run.journal.keyRunId ?? run.journal.runId}/${key}`,
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
    callId: call.callId,
    asked: askedOf(call),
    prepare: () => prepareDecidedCall(call, decided, contextOf(run, call, context)),
    isHeard: call.tool.links.length > 0,
    isDeferred: context.isDeferred === true,
    mayRepeat: call.tool.idempotent !== false || decision.kind !== 'approved',
    replacement: () => undefined,
    whenInterrupted: () => interruptedCall({ ...call, args: editedArgs ?? args }),
  });
}

function skippedCall(names: CallNames, { hook, reason, abort }: ToolDenied): CallResult {
  const content = `Tool "${names.tool}" was not run: hook "${hook}" ended the turn: ${reason}`;
  const outcome = { status: 'denied' as const, hook, reason, ...(abort && { abort }) };
  return { outcome, callId: names.callId, content, metadata: noMetadata };
}

function interruptedCall({ tool, args, callId }: PlannedCall): CallResult {
  const names = { tool: tool.name, callId };
  try {
    const outcome: CallPaused = {
      status: 'pending',
      origin: 'interrupted',
      hook: null,
      args: readCheckedArgs(tool, args),
      reason: 'the call was interrupted, and the tool is not idempotent',
      message: `Tool "${tool.name}" may or may not have run. Approve to call it again, or answer in its place.`,
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

interface CallStep {
  readonly name: string;
  readonly callId: string;
  readonly asked: AskedCall & { readonly key?: string };
  readonly prepare: () => Promise<PreparedCall>;
  readonly isHeard: boolean;
  /** Whether no one acts on the result before the next journal step begins. */
  readonly isDeferred: boolean;
  readonly mayRepeat: boolean;
  readonly replacement: () => CallResult | undefined;
  /** The result of an interrupted call that must not be repeated. */
  readonly whenInterrupted: () => CallResult;
}

/** The step begins once the tool has its slot, so a begun step means that the tool may have acted. */
async function journalCall(run: RunContext, slot: CallSlot, step: CallStep): Promise<CallResult> {
  const known = findRecord(run.journal, step.name, callRecord);
  if (known !== undefined) return known;
  await slot.waitForTurn();
  requireNotAborted(run);
  run.journal.requireWritable?.(step.name);
  const names = { tool: step.asked.tool, callId: step.callId };
  const make = () => makeJournaled(run, slot, step);
  return await inStep(step.name, () => trackToolCall(run.emit, names, make, ({ outcome }) => outcome));
}

async function makeJournaled(run: RunContext, slot: CallSlot, step: CallStep): Promise<CallResult> {
  const { name, asked, prepare, mayRepeat, replacement, whenInterrupted, isHeard, isDeferred } = step;
  const isInterrupted = !mayRepeat && run.journal.wasCutOff(name);
  // Hooks must see earlier outcomes stored.
  if (isHeard) await run.journal.settle?.();
  const prepared = isInterrupted ? undefined : await prepare();
  if (prepared?.stopped !== undefined) complete(run, prepared.stopped);
  else await slot.finishHooks();
  requireNotAborted(run);
  const work = async (): Promise<JournaledCall> => {
    if (prepared === undefined) return { ...whenInterrupted(), ...asked };
    const otherwise = prepared.stopped === undefined ? replacement() : undefined;
    return { ...(otherwise ?? complete(run, await prepared.finish())), ...asked };
  };
  return await journalStep(run.journal, { name, kind: callRecord }, work, { isDeferred, beginsInSlot: true });
}

function requireNotAborted({ signal }: RunContext): void {
  if (signal.aborted) throw new RuntimeError('ABORTED', 'the call was not made');
}

/** Throws ABORTED if the end of the run interrupted the call, so that it is made again on resume. */
function complete(run: RunContext, result: CallResult): CallResult {
  const { outcome } = result;
  if (outcome.status === 'failed' || outcome.status === 'denied') requireFinished(run, outcome.error);
  return result;
}

/**
 * judged: hooks see one call after another. judged_first: as judged, and calls start after all hooks are done.
 * one_by_one: hooks and calls are sequential.
 */
type Pace = 'at_once' | 'judged' | 'judged_first' | 'one_by_one';

function paceOf(links: readonly Link[]): Pace {
  const wanted = links.map((link) => ('group' in link ? link.group.dialect.callOrder : 'at_once'));
  return paces.findLast((pace) => wanted.includes(pace)) ?? 'at_once';
}

const paces: readonly Pace[] = ['at_once', 'judged', 'judged_first', 'one_by_one'];

interface CallSlot {
  waitForTurn(): Promise<void>;
  /** Reports that this call has passed its hooks. Resolves when the call may start. */
  finishHooks(): Promise<void>;
  /** Resolves when all earlier calls have their results, after their hooks. */
  waitForResults(): Promise<void>;
}

interface RoundOptions {
  readonly pace: Pace;
  readonly concurrency: number;
}

async function runCallRound<Item, Result>(
  items: readonly Item[],
  { pace, concurrency }: RoundOptions,
  work: (item: Item, slot: CallSlot, index: number) => Promise<Result>,
): Promise<Result[]> {
  if (pace === 'at_once' || pace === 'one_by_one' || items.length === 1) {
    const limit = pace === 'one_by_one' ? 1 : concurrency;
    return await mapConcurrently(items, limit, (item, index) => work(item, unorderedSlot, index));
  }
  const slots = new PQueue({ concurrency: Math.max(1, concurrency) });
  const hooksDone = createOrderedGates(items.length);
  const callsDone = createOrderedGates(items.length);
  return await mapConcurrently(items, items.length, async (item, index) => {
    let releaseSlot = () => {};
    const slot: CallSlot = {
      waitForTurn: () => hooksDone.before(index),
      finishHooks: async () => {
        hooksDone.leave(index);
        if (pace === 'judged_first') await hooksDone.before(items.length);
        releaseSlot = await takeQueueSlot(slots);
      },
      waitForResults: () => callsDone.before(index),
    };
    try {
      return await work(item, slot, index);
    } finally {
      releaseSlot();
      hooksDone.leave(index);
      callsDone.leave(index);
    }
  });
}

const unorderedSlot: CallSlot = {
  waitForTurn: async () => {},
  finishHooks: async () => {},
  waitForResults: async () => {},
};

/** Gates may open in any order; waiting for one waits for all before it. */
function createOrderedGates(length: number) {
  const places = Array.from({ length }, () => Promise.withResolvers<void>());
  const before: Promise<unknown>[] = [Promise.resolve()];
  for (const [index, { promise }] of places.entries()) before.push(Promise.all([before[index], promise]));
  return {
    leave: (index: number) => places[index]?.resolve(),
    before: async (index: number): Promise<void> => {
      await before[index];
    },
  };
}

async function takeQueueSlot(slots: PQueue): Promise<() => void> {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  await new Promise<void>((resolve) => {
    void slots.add(async () => {
      resolve();
      await left;
    });
  });
  return leave;
}
