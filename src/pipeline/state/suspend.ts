import { isCutOff } from '../../capability/cut-off.ts';
import { type Fault, RuntimeError, toRuntimeError } from '../../errors.ts';
import { RunPaused } from './journal.ts';
import type { RunContext } from './run-context.ts';

/** Whether what was thrown ends the work on a run for now, rather than being the outcome of a step. */
export function setsDown({ signal }: Pick<RunContext, 'signal'>, thrown: unknown): boolean {
  if (thrown instanceof RunPaused) return true;
  const { code } = toRuntimeError(thrown);
  return code === 'STORE_FAILED' || code === 'RUN_ENDED' || (code === 'ABORTED' && signal.aborted);
}

/**
 * Throws ABORTED where the run was set down while somebody was asked: whoever was not allowed to finish has decided
 * nothing, and is asked again when the run goes on.
 */
export function requireFinished({ signal }: Pick<RunContext, 'signal'>, error: Fault | undefined): void {
  if (signal.aborted && error !== undefined && isCutOff(error))
    throw new RuntimeError('ABORTED', error.message);
}
