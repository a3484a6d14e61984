import { toRuntimeError } from '../../base/errors.ts';
import type { RunDocument } from '../../contract/run.ts';
import type { SharedWork } from '../../store/shared-work.ts';
import type { Handled } from '../dispatch/dispatcher.ts';

export interface ContinueContext {
  readonly work: SharedWork;
  /** Executes a run until it ends or waits. Throws as `runs.resume` does. */
  readonly resume: (id: string, signal: AbortSignal) => Promise<RunDocument>;
  /** Tells what became of a run. */
  readonly note: (level: 'info' | 'warn', message: string) => void;
}

/** Goes on with a run that is to be worked on, until it ends, waits for a person, or is to be left to others. Rejects with STORE_FAILED. */
export async function continueRun(
  { work, resume, note }: ContinueContext,
  id: string,
  signal: AbortSignal,
): Promise<Handled> {
  const beganAt = performance.now();
  try {
    let document = await resume(id, signal);
    // All was decided while it was being suspended.
    while (document.status === 'pending' && document.pending.length === 0)
      document = await resume(id, signal);
    note('info', `run ${id} ${document.status} after ${Math.round(performance.now() - beganAt)} ms`);
    return 'done';
  } catch (thrown) {
    const { code, message } = toRuntimeError(thrown);
    // Removed or ended by somebody else, or somebody has it: if he leaves it, the next sweep tells of it.
    if (code === 'RUN_UNKNOWN' || code === 'RUN_ENDED' || code === 'RUN_BUSY') return 'done';
    if (code === 'ABORTED' && signal.aborted) {
      await work.giveBack(id);
      note('info', `run ${id} is given back`);
      return 'done';
    }
    note('warn', `run ${id} was left: [${code}] ${message}`);
    return { retryMs: code === 'STORE_FAILED' ? FAULT_MS : REFUSED_MS };
  }
}

/** A store that was gone may be there again; what it holds of the run may be damaged too. */
const FAULT_MS = 5_000;
/** What this worker cannot read, another one of the same build cannot either. */
const REFUSED_MS = 60_000;
