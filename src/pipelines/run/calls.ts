import PQueue from 'p-queue';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { tryJson } from '../../base/json/parse.ts';
import type { Link } from '../../calls/hooks/gate.ts';
import { type PreparedCall, prepareCall, stoppedCall } from '../../calls/tool-call/call.ts';
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
  /** Its path. */
  readonly name: string;
  /** What is asked for. */
  readonly asked: AskedCall & { readonly key?: string };
  readonly prepare: () => Promise<PreparedCall>;
  /** Whether hooks hear of it before it is made. */
  readonly isHeard: boolean;
  /** Whether nobody acts on its result before the next step of the journal begins. */
  readonly isDeferred: boolean;
  /** Whether it may be made again after it was cut off. */
  readonly mayRepeat: boolean;
  /** The result to use instead of making the call, if the turn ended meanwhile. */
  readonly replacement: () => CallResult | undefined;
  /** The result of a call that was cut off and must not be repeated. */
  readonly whenInterrupted: () => CallResult;
}

/**
 * Asks the call's hooks when its turn comes, then makes it as a journal step. The step begins after the hooks
 * were asked and once the tool has its slot, so that a step that was begun means that the tool may have acted. Throws ABORTED,
 * STORE_FAILED.
 */
async function journalCall(run: RunContext, slot: CallSlot, step: CallStep): Promise<CallResult> {
  const { name, asked, prepare, mayRepeat, replacement, whenInterrupted, isHeard, isDeferred } = step;
  const known = findRecord(run.journal, name, callRecord);
  if (known !== undefined) return known;
  await slot.waitForTurn();
  requireNotAborted(run);
  run.journal.requireWritable?.(name);
  const isInterrupted = !mayRepeat && run.journal.wasCutOff(name);
  // Hooks act on what came before.
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

/** Throws ABORTED if the end of the run cut the call off, so that it is made again on resume. */
function complete(run: RunContext, result: CallResult): CallResult {
  const { outcome } = result;
  if (outcome.status === 'failed' || outcome.status === 'denied') requireFinished(run, outcome.error);
  return result;
}

/**
 * How the calls of one round are ordered. at_once: not at all. judged: their hooks are asked one call after
 * another. judged_first: likewise, and no call is made before the hooks of all were asked. one_by_one: one
 * whole call after another.
 */
type Pace = 'at_once' | 'judged' | 'judged_first' | 'one_by_one';

function paceOf(links: readonly Link[]): Pace {
  const wanted = links.map((link) => ('group' in link ? link.group.dialect.callOrder : 'at_once'));
  return paces.findLast((pace) => wanted.includes(pace)) ?? 'at_once';
}

const paces: readonly Pace[] = ['at_once', 'judged', 'judged_first', 'one_by_one'];

interface CallSlot {
  /** Resolves when the hooks of all calls before have been asked. */
  waitForTurn(): Promise<void>;
  /**
   * Reports that this call passed its hooks, so that the next call’s are asked. Resolves when the call may be
   * made.
   */
  finishHooks(): Promise<void>;
  /** Resolves when all earlier calls have their results, after their hooks. */
  waitForResults(): Promise<void>;
}

interface RoundOptions {
  readonly pace: Pace;
  /** Calls made at once, at most. */
  readonly concurrency: number;
}

/** Does the work of every call of a round in the order that its pace requires. */
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

/** Gates in a row: each may be left at any time, and waiting for one waits for all before it. */
function createOrderedGates(length: number) {
  const places = Array.from({ length }, () => Promise.withResolvers<void>());
  const before: Promise<unknown>[] = [Promise.resolve()];
  for (const [index, { promise }] of places.entries()) before.push(Promise.all([before[index], promise]));
  return {
    leave: (index: number) => places[index]?.resolve(),
    /** Resolves when all gates before this one have been left. */
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
