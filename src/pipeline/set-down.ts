import { toRuntimeError } from '../errors.ts';
import { RunPaused } from './journal.ts';
import type { RunContext } from './run-context.ts';

/** Whether what was thrown ends the work on a run for now, rather than being the outcome of a step. */
export function setsDown({ signal }: Pick<RunContext, 'signal'>, thrown: unknown): boolean {
  if (thrown instanceof RunPaused) return true;
  const { code } = toRuntimeError(thrown);
  return code === 'STORE_FAILED' || code === 'RUN_ENDED' || (code === 'ABORTED' && signal.aborted);
}
