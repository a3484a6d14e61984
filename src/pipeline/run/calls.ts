import { createHash } from 'node:crypto';
import type { PendingCall } from '../../contract/approval.ts';
import { failed } from '../../contract/tool.ts';
import type { Scene } from '../../contract/turn.ts';
import { RuntimeError, toFault } from '../../errors.ts';
import {
  type CallNames,
  type CallPaused,
  type CallResult,
  noMetadata,
  paused,
  settled,
  type ToolDenied,
} from '../../hooks/call-result.ts';
import type { Json } from '../../json/json.ts';
import { type Consent, consentsIn } from '../../tool-call/allowance.ts';
import { readArgs } from '../../tool-call/args.ts';
import { judgeCall, stoppedAt } from '../../tool-call/call.ts';
import { type CallableTool, type CallContext, readCheckedArgs } from '../../tool-call/callable.ts';
import { judgeRuling } from '../../tool-call/decide.ts';
import { tellPending } from '../../tool-call/tell-pending.ts';
import type { Ruled } from '../state/journal.ts';
import { journalCall } from '../state/journal-call.ts';
import type { RunContext } from '../state/run-context.ts';
import type { Scope } from '../state/scope.ts';
import { inRound, type Place, paceOf } from './round.ts';

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
 * Makes the calls of one turn, so many at once. Hooks of other systems are asked about one call after another. Calls
 * that wait for a person wait together, in the order of the calls; when all of them are decided, each goes on by its
 * ruling. Every call is made once: what the journal has is not made again. Throws RunPaused, ABORTED, STORE_FAILED.
 */
export async function runCalls(
  run: RunContext,
  calls: readonly PlannedCall[],
  { concurrency, ...making }: Making,
): Promise<CallResult[]> {
  const { scope, scene } = making;
  const rhythm = { pace: paceOf(calls.flatMap(({ tool }) => tool.links)), concurrency };
  const end: { by?: ToolDenied } = {};
  let results = await inRound(calls, rhythm, async (call, place) => {
    const result = await makeCall(run, call, { ...making, end, place });
    const { outcome } = result;
    if (outcome.status === 'denied' && outcome.abort !== undefined) end.by ??= outcome;
    return result;
  });
  const stories = new Map<string, Story>();
  const tell = async (pending: PendingCall) => {
    const call = calls.find(({ name }) => name === pending.step);
    if (call !== undefined && run.isKept) await tellPending(call, pending, scene);
  };
  for (let round = 1; results.some(isPaused); round += 1) {
    const waiting = calls.flatMap((call, index): PendingCall[] => {
      const outcome = results[index]?.outcome;
      if (outcome?.status !== 'pending') return [];
      return [
        toPending(run.journal.runId, call, { outcome, round, previous: stories.get(call.name)?.id ?? null }),
      ];
    });
    const decided = await waitFor(run, { waiting, tell }, scope);
    const ruled = new Map(decided.map((record) => [record.step, record]));
    for (const record of ruled.values()) stories.set(record.step, goOn(stories.get(record.step), record));
    const before = results;
    results = await inRound(calls, rhythm, async (call, place, index) => {
      const record = ruled.get(call.name);
      const result = before[index];
      if (record === undefined && result !== undefined) return result;
      const story = stories.get(call.name);
      return await carryOut(run, call, { ...making, place, record, story, round });
    });
  }
  return results;
}

interface Making {
  readonly scope: Scope;
  /** Where the calls happen. */
  readonly scene: Scene;
  readonly concurrency: number;
  /** Takes what is told of a call, by its name, when all calls of its response have their results. */
  readonly holdBack?: ((name: string, tell: () => Promise<void>) => void) | undefined;
}

/** What was decided about one call so far. */
interface Story {
  /** Of its last pending. */
  readonly id: string;
  /** The arguments that somebody has put in the place of the call's own. */
  readonly edited: Json | null;
  readonly consents: readonly Consent[];
}

function goOn(story: Story | undefined, record: Ruled): Story {
  const { id, ruling } = record;
  const edited = ruling.kind === 'approved' ? ruling.args : null;
  return {
    id,
    edited: edited ?? story?.edited ?? null,
    consents: [...(story?.consents ?? []), ...consentsIn({ pending: record, ruling })],
  };
}

function isPaused({ outcome }: CallResult): boolean {
  return outcome.status === 'pending';
}

/** What one call of a round is made with. */
interface MakingOne extends Omit<Making, 'concurrency'> {
  readonly place: Place;
}

interface MakingFirst extends MakingOne {
  /** What ended the turn in the meantime. */
  readonly end: { readonly by?: ToolDenied };
}

async function makeCall(run: RunContext, call: PlannedCall, making: MakingFirst): Promise<CallResult> {
  const { tool, args, callId, name } = call;
  const instead = () => {
    const { by } = making.end;
    return by && notMade({ tool: tool.name, callId }, by);
  };
  return await journalCall(run, making.place, {
    name,
    judge: async () => {
      const ended = instead();
      return ended === undefined
        ? await judgeCall(tool, args, contextOf(run, call, making))
        : stoppedAt(ended);
    },
    repeats: tool.idempotent !== false,
    instead,
    interrupted: () => interrupted(call),
  });
}

function contextOf(
  run: RunContext,
  { name, callId, toolUseId }: PlannedCall,
  { scope, scene, place, holdBack }: MakingOne,
): CallContext {
  return {
    ...{ callId, toolUseId, scene },
    signal: scope.signal,
    idempotencyKey: `${run.journal.runId}/${name}`,
    // The tool that a hook may rename the call to.
    find: (tool) => run.tools.get(tool),
    results: place.results,
    ...(holdBack && { holdBack: (tell: () => Promise<void>) => holdBack(name, tell) }),
  };
}

interface Decided extends MakingOne {
  readonly record: Ruled | undefined;
  readonly story: Story | undefined;
  readonly round: number;
}

async function carryOut(
  run: RunContext,
  call: PlannedCall,
  { record, story, round, ...making }: Decided,
): Promise<CallResult> {
  if (record === undefined || story === undefined)
    throw new RuntimeError('INTERNAL', `${call.name} was to be decided and was not`);
  const { tool } = call;
  const { ruling } = record;
  const isApproved = ruling.kind === 'approved';
  return await journalCall(run, making.place, {
    name: `${call.name}/ruling-${round}`,
    judge: async () => {
      const from = story.edited ?? readArgs(tool.name, call.args);
      const ruled = { pending: record, ruling, from, consents: story.consents };
      return await judgeRuling(tool, ruled, contextOf(run, call, making));
    },
    repeats: tool.idempotent !== false || !isApproved,
    instead: () => undefined,
    interrupted: () => interrupted({ ...call, args: (isApproved ? ruling.args : null) ?? record.args }),
  });
}

/** A hook ended the turn before this call was made. */
function notMade(names: CallNames, { hook, reason, abort }: ToolDenied): CallResult {
  const content = `Tool "${names.tool}" was not run: hook "${hook}" ended the turn: ${reason}`;
  const outcome = { status: 'denied' as const, hook, reason, ...(abort && { abort }) };
  return { outcome, callId: names.callId, content, metadata: noMetadata };
}

/** A call that was begun and never ended, of a tool that must not be called twice. */
function interrupted({ tool, args, callId }: PlannedCall): CallResult {
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
    return paused(names, outcome);
  } catch (error) {
    return settled(names, failed(toFault(error)));
  }
}

interface Pause {
  readonly outcome: CallPaused;
  readonly round: number;
  readonly previous: string | null;
}

/** The record of a call that waits for a person. */
export function toPending(
  runId: string,
  { name, tool, callId }: PlannedCall,
  { outcome, round, previous }: Pause,
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

/** The same id whenever the run gets here, so that a crash between two writes makes no second pending. */
function pendingId(runId: string, name: string, round: number): string {
  return `pending_${createHash('sha256').update(`${runId}\n${name}\n${round}`).digest('hex').slice(0, 16)}`;
}

interface Waiting {
  readonly waiting: readonly PendingCall[];
  readonly tell: (pending: PendingCall) => Promise<void>;
}

/** The clocks of the steps around stand still as long as people take. */
async function waitFor(
  run: RunContext,
  { waiting, tell }: Waiting,
  { clocks }: Scope,
): Promise<readonly Ruled[]> {
  for (const clock of clocks) clock.stop();
  try {
    return await run.journal.decide(waiting, tell);
  } finally {
    for (const clock of clocks) clock.go();
  }
}
