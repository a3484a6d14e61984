import { RuntimeError } from '../errors.ts';
import type { Deadline } from './deadline.ts';
import { withHint } from './hints.ts';
import type { InFlight } from './server/session.ts';

/** What a message comes to; it is forgotten at the deadline. Rejects as both do. */
export async function settle<Outcome>(inFlight: InFlight<Outcome>, deadline: Deadline): Promise<Outcome> {
  try {
    return await Promise.race([inFlight.outcome, deadline.expired]);
  } catch (error) {
    const hint = inFlight.forget();
    throw error instanceof RuntimeError && error.code === 'PROCESS_TIMEOUT' ? withHint(error, hint) : error;
  }
}
