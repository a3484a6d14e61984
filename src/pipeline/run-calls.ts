import { createHash } from 'node:crypto';
import type { PendingCall } from '../contract/approval.ts';
import { failed } from '../contract/tool.ts';
import { RuntimeError, toFault } from '../errors.ts';
import type { Json } from '../json.ts';
import { readArgs } from './args.ts';
import { atOnce } from './at-once.ts';
import { type CallableTool, callTool, readCheckedArgs } from './call.ts';
import { readCallResult, writeCallResult } from './call-record.ts';
import { type CallPaused, type CallResult, noMetadata, paused, settled } from './call-result.ts';
import { type Consent, consentsIn } from './consent.ts';
import type { Ruled } from './journal.ts';
import { ruleCall } from './rule-call.ts';
import type { RunContext } from './run-context.ts';
import type { Scope } from './scope.ts';

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
  { scope, concurrency }: { readonly scope: Scope; readonly concurrency: number },
): Promise<CallResult[]> {
  let results = await atOnce(calls, concurrency, (call) => makeCall(run, call, scope.signal));
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
        signal: scope.signal,
      });
    });
  }
  return results;
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

async function makeCall(run: RunContext, call: PlannedCall, signal: AbortSignal): Promise<CallResult> {
  const { tool, args, callId, name } = call;
  const entry = await run.journal.step(name, async ({ attempt }) => {
    if (attempt > 1 && tool.idempotent === false) return writeCallResult(interrupted(call));
    const idempotencyKey = `${run.journal.runId}/${name}`;
    return writeCallResult(complete(run, await callTool(tool, args, { callId, signal, idempotencyKey })));
  });
  return readCallResult(entry);
}

interface Decided {
  readonly record: Ruled | undefined;
  readonly story: Story | undefined;
  readonly round: number;
  readonly signal: AbortSignal;
}

async function carryOut(
  run: RunContext,
  call: PlannedCall,
  { record, story, round, signal }: Decided,
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
    const result = await ruleCall(tool, ruled, { signal, idempotencyKey });
    return writeCallResult(complete(run, result));
  });
  return readCallResult(entry);
}

/** A call that the end of the run cut off has no outcome: it is made again when the run goes on. */
function complete(run: RunContext, result: CallResult): CallResult {
  const { outcome } = result;
  if (run.signal.aborted && outcome.status === 'failed' && outcome.error.code === 'ABORTED') {
    throw new RuntimeError('ABORTED', outcome.error.message);
  }
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
