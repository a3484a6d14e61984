import type { Ruling } from '../contract/approval.ts';
import type { RunStatus } from '../contract/run.ts';
import { RuntimeError } from '../errors.ts';

/** What every store has to say in the same words. `place` is the store's. */

export const endedStatuses = ['completed', 'failed', 'denied', 'cancelled'] as const;

/** Whether a run of this status stays as it is for good. */
export function isEnded(status: RunStatus): boolean {
  return endedStatuses.some((ended) => ended === status);
}

/** What becomes of the calls that still wait for a person when their run has ended: nobody may approve them any more. */
export function rulingOfEndedRun(status: RunStatus): Extract<Ruling, { kind: 'cancelled' }> {
  return { kind: 'cancelled', by: 'signalbox', reason: `the run is ${status}` };
}

/** Throws USAGE unless the id is safe as the name of a file, which a claim may need. */
export function checkRunId(id: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return;
  throw new RuntimeError('USAGE', `${JSON.stringify(id.slice(0, 130))} cannot be the id of a run`, {
    hint: 'An id has up to 128 letters, digits, points, dashes and underscores, and begins with a letter or digit.',
  });
}

export function runUnknown(id: string, place: string): RuntimeError {
  return new RuntimeError('RUN_UNKNOWN', `there is no run "${id}" in the state store ${place}`);
}

export function runExists(id: string, place: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `there is a run "${id}" in the state store ${place} already`, {
    hint: 'Give every run an id of its own.',
  });
}

export function storeClosed(place: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `the state store ${place} has been closed`, {
    hint: 'Open the runtime anew.',
  });
}

/** A run whose results cannot be kept, because somebody removed it, or never began it. */
export function runGone(id: string, place: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `there is no run "${id}" in ${place} whose results could be kept`, {
    hint: 'It may have been removed meanwhile: run the suite again.',
  });
}

export function storeRefused(reason: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', reason, {
    hint: 'Correct spec.state_store; `type: sqlite` and `type: memory` can be used.',
  });
}
