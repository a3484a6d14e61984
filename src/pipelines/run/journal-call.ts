import { RuntimeError } from '../../base/errors.ts';
import type { CallResult } from '../../calls/hooks/call-result.ts';
import type { PreparedCall } from '../../calls/tool-call/call.ts';
import { callRecord, type JournaledCall } from '../state/call-record.ts';
import type { AskedCall } from '../state/journal.ts';
import { findRecord, journalStep } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import { requireFinished } from '../state/suspension.ts';
import type { CallSlot } from './call-round.ts';

/** A call of a run as a step of its journal. */
export interface CallStep {
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
export async function journalCall(run: RunContext, slot: CallSlot, step: CallStep): Promise<CallResult> {
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

/** Throws ABORTED when the run is being suspended. */
function requireNotAborted({ signal }: RunContext): void {
  if (signal.aborted) throw new RuntimeError('ABORTED', 'the call was not made');
}

/**
 * Returns the result. Throws ABORTED if the end of the run cut the call off, so that it is made again on
 * resume.
 */
function complete(run: RunContext, result: CallResult): CallResult {
  const { outcome } = result;
  if (outcome.status === 'failed' || outcome.status === 'denied') requireFinished(run, outcome.error);
  return result;
}
