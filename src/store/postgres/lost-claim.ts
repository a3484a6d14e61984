import { RuntimeError } from '../../base/errors.ts';

/** STORE_FAILED: the run is another process's by now, so nothing more of it is written here. */
export function lostClaimError(runId: string, location: string): RuntimeError {
  return new RuntimeError(
    'STORE_FAILED',
    `run ${runId} is claimed here no more: the connection to the state store ${location} was lost, or this process was not heard of for too long`,
    { hint: 'Nothing was written. Another process may go on with the run; resume it, if none does.' },
  );
}
