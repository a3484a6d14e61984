import { RuntimeError } from '../../errors.ts';
import type { CallResult } from '../../hooks/call-result.ts';
import type { Judged } from '../../tool-call/call.ts';
import type { Place } from '../run/round.ts';
import { readCallResult, writeCallResult } from './call-record.ts';
import type { RunContext } from './run-context.ts';
import { requireFinished } from './suspend.ts';

/** A call of a run as a step of its journal. */
export interface CallStep {
  /** Its path. */
  readonly name: string;
  readonly judge: () => Promise<Judged>;
  /** Whether it may be made again after it was cut off. */
  readonly repeats: boolean;
  /** What it came to while it waited to be made, if it did. */
  readonly instead: () => CallResult | undefined;
  /** What it is where it must not be made again. */
  readonly interrupted: () => CallResult;
}

/**
 * Asks the hooks in the call's turn, then makes it as a step of the journal: that the step has begun says that the tool
 * may have acted, and that hooks were asked says nothing of the kind. Throws ABORTED, STORE_FAILED.
 */
export async function journalCall(run: RunContext, place: Place, step: CallStep): Promise<CallResult> {
  const { name, judge, repeats, instead, interrupted } = step;
  const known = run.journal.find(name);
  if (known !== undefined) return readCallResult(known);
  await place.turn();
  requireOngoing(run);
  run.journal.requireWanted?.(name);
  const isInterrupted = !repeats && run.journal.wasCutOff(name);
  const judged = isInterrupted ? undefined : await judge();
  if (judged?.stopped !== undefined) complete(run, judged.stopped);
  else await place.pass();
  requireOngoing(run);
  const entry = await run.journal.step(name, async () => {
    if (judged === undefined) return writeCallResult(interrupted());
    const otherwise = judged.stopped === undefined ? instead() : undefined;
    return writeCallResult(otherwise ?? complete(run, await judged.finish()));
  });
  return readCallResult(entry);
}

/** Nothing is begun when the run is to be set down. */
function requireOngoing({ signal }: RunContext): void {
  if (signal.aborted) throw new RuntimeError('ABORTED', 'the call was not made');
}

/** A call that the end of the run cut off has no outcome: it is made again when the run goes on. */
function complete(run: RunContext, result: CallResult): CallResult {
  const { outcome } = result;
  if (outcome.status === 'failed' || outcome.status === 'denied') requireFinished(run, outcome.error);
  return result;
}
