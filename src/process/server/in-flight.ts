import { RuntimeError } from '../../base/errors.ts';
import type { Deadline } from '../../base/time/deadline.ts';
import { withHint } from '../server-hints.ts';
import type { InFlight } from './session.ts';

/**
 * The outcome of a message, or the deadline's rejection, whichever comes first; a message that has failed or
 * is late is abandoned. PROCESS_TIMEOUT gets the hint that abandoning it gives.
 */
export async function awaitOutcome<Outcome>(
  inFlight: InFlight<Outcome>,
  deadline: Deadline,
): Promise<Outcome> {
  try {
    return await Promise.race([inFlight.outcome, deadline.expired]);
  } catch (error) {
    const late = error instanceof RuntimeError && error.code === 'PROCESS_TIMEOUT' ? error : undefined;
    const hint = inFlight.abandon(late !== undefined);
    throw late === undefined ? error : withHint(late, hint);
  }
}
