import { createHash } from 'node:crypto';
import type { PendingCall } from '../contract/approval.ts';
import { failed } from '../contract/tool.ts';
import type { Scene } from '../contract/turn.ts';
import { RuntimeError, toFault } from '../errors.ts';
import type { Json } from '../json.ts';
import { readArgs } from './args.ts';
import { atOnce } from './at-once.ts';
import { callTool } from './call.ts';
import { readCallResult, writeCallResult } from './call-record.ts';
import {
  type CallNames,
  type CallPaused,
  type CallResult,
  noMetadata,
  paused,
  settled,
  type ToolDenied,
} from './call-result.ts';
import { type CallableTool, readCheckedArgs } from './callable.ts';
import { type Consent, consentsIn } from './consent.ts';
import type { Ruled } from './journal.ts';
import { ruleCall } from './rule-call.ts';
import type { RunContext } from './run-context.ts';
import type { Scope } from './scope.ts';
import { requireFinished } from './set-down.ts';

/** A tool call of a run. */
export interface PlannedCall {
  /** Its path in the journal. */
  readonly name: string;
  readonly tool: CallableTool;
  readonly args: unknown;
  readonly callId: string;
}

/**
 * Makes the calls of one turn, so many at once. Those that wait for a person wait together, in the order of
 * the calls; when all of them are decided, each goes on by its ruling. Every call is made once: what the
 * journal has is not made again. Throws RunPaused, ABORTED, STORE_FAILED.
 */
export async function runCalls(
  run: RunContext,
  calls: readonly PlannedCall[],
  { scope, scene, concurrency, holdBack }: Making,
): Promise<CallResult[]> {
  let ended: ToolDenied | undefined;
  let results = await atOnce(calls, concurrency, async (call) => {
    const result = await makeCall(run, call, { scope, scene, ended, holdBack });
    const { outcome } = result;
    if (outcome.status === 'denied' && outcome.abort !== undefined) ended ??= outcome;
    return result;
  });
  const stories = new Map<string, Story>();
  for (let round = 1; results.some(isPaused); round += 1) {
    const waiting = calls.flatMap((call, index): PendingCall[] => {
      const outcome = results[index]?.outcome;
      if (outcome?.status !== 'pending') return [];
      return [
        toPending(run.journal.runId, call, { outcome, round, previous: stories.get(call.name)?.id ?? null }),
      ];
    });
    const ruled = new Map((await waitFor(run, waiting, scope)).map((record) => [record.step, record]));
    for (const record of ruled.values()) stories.set(record.step, goOn(stories.get(record.step), record));
    const before = results;
    results = await atOnce(calls, concurrency, async (call, index) => {
      const record = ruled.get(call.name);
      const result = before[index];
      if (record === undefined && result !== undefined) return result;
      return await carryOut(run, call, {
        record,
        story: stories.get(call.name),
        round,
        scene,
        signal: scope.signal,
        holdBack,
      });
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
  readonly holdBack?: ((name: string, tell: () => void) => void) | undefined;
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

interface MakingOne extends Omit<Making, 'concurrency'> {
  /** What ended the turn in the meantime. */
  readonly ended: ToolDenied | undefined;
}

async function makeCall(
  run: RunContext,
  call: PlannedCall,
  { scope, scene, ended, holdBack }: MakingOne,
): Promise<CallResult> {
  const { tool, args, callId, name } = call;
  const { signal } = scope;
  const entry = await run.journal.step(name, async ({ attempt }) => {
    if (ended !== undefined) return writeCallResult(notMade({ tool: tool.name, callId }, ended));
    if (attempt > 1 && tool.idempotent === false) return writeCallResult(interrupted(call));
    const idempotencyKey = `${run.journal.runId}/${name}`;
    const context = {
      callId,
      signal,
      idempotencyKey,
      scene,
      find: findTool(run),
      ...holding(name, holdBack),
    };
    return writeCallResult(complete(run, await callTool(tool, args, context)));
  });
  return readCallResult(entry);
}

function holding(name: string, holdBack: Making['holdBack']) {
  return holdBack === undefined ? {} : { holdBack: (tell: () => void) => holdBack(name, tell) };
}

interface Decided extends Pick<Making, 'holdBack'> {
  readonly record: Ruled | undefined;
  readonly story: Story | undefined;
  readonly round: number;
  readonly scene: Scene;
  readonly signal: AbortSignal;
}

async function carryOut(
  run: RunContext,
  call: PlannedCall,
  { record, story, round, scene, signal, holdBack }: Decided,
): Promise<CallResult> {
  if (record === undefined || story === undefined)
    throw new RuntimeError('INTERNAL', `${call.name} was to be decided and was not`);
  const { tool } = call;
  const { ruling } = record;
  const entry = await run.journal.step(`${call.name}/ruling-${round}`, async ({ attempt }) => {
    if (attempt > 1 && tool.idempotent === false && ruling.kind === 'approved') {
      return writeCallResult(interrupted({ ...call, args: ruling.args ?? record.args }));
    }
    const idempotencyKey = `${run.journal.runId}/${call.name}`;
    const from = story.edited ?? readArgs(tool.name, call.args);
    const ruled = { pending: record, ruling, from, consents: story.consents };
    const context = { signal, idempotencyKey, scene, find: findTool(run), ...holding(call.name, holdBack) };
    const result = await ruleCall(tool, ruled, context);
    return writeCallResult(complete(run, result));
  });
  return readCallResult(entry);
}

/** The tool that a hook may rename a call to. */
function findTool(run: RunContext) {
  return (name: string) => run.tools.get(name);
}

/** A hook ended the turn before this call was made. */
function notMade(names: CallNames, { hook, reason, abort }: ToolDenied): CallResult {
  const content = `Tool "${names.tool}" was not run: hook "${hook}" ended the turn: ${reason}`;
  const outcome = { status: 'denied' as const, hook, reason, ...(abort && { abort }) };
  return { outcome, callId: names.callId, content, metadata: noMetadata };
}

/** A call that the end of the run cut off has no outcome: it is made again when the run goes on. */
function complete(run: RunContext, result: CallResult): CallResult {
  const { outcome } = result;
  if (outcome.status === 'failed' || outcome.status === 'denied') requireFinished(run, outcome.error);
  return result;
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

/** The clocks of the steps around stand still as long as people take. */
async function waitFor(
  run: RunContext,
  calls: readonly PendingCall[],
  { clocks }: Scope,
): Promise<readonly Ruled[]> {
  for (const clock of clocks) clock.stop();
  try {
    return await run.journal.decide(calls);
  } finally {
    for (const clock of clocks) clock.go();
  }
}
