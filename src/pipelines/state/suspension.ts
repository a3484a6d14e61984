import { type Fault, isCancelled, RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { RunSuspended } from './journal.ts';
import type { RunContext } from './run-context.ts';

/** Whether an error suspends or ends the whole run, rather than being the outcome of a step. */
export function isSuspension({ signal }: Pick<RunContext, 'signal'>, thrown: unknown): boolean {
  if (thrown instanceof RunSuspended) return true;
  const { code } = toRuntimeError(thrown);
  return code === 'STORE_FAILED' || code === 'RUN_ENDED' || (code === 'ABORTED' && signal.aborted);
}

/** The hook or tool was cancelled or not started. That is not a decision, so it runs again on resume. */
export function requireFinished({ signal }: Pick<RunContext, 'signal'>, error: Fault | undefined): void {
  if (error === undefined) return;
  const { code, message, hint } = error;
  if (signal.aborted && isCancelled(error)) throw new RuntimeError('ABORTED', message);
  if (code === 'STORE_FAILED' || code === 'RUN_ENDED') throw new RuntimeError(code, message, { hint });
}
