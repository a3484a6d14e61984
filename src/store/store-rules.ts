import { RuntimeError } from '../base/errors.ts';
import type { PendingDecision } from '../contract/approval.ts';
import type { RunStatus } from '../contract/run.ts';

export const endedStatuses = ['completed', 'failed', 'denied', 'cancelled'] as const;

export const endedInSql = endedStatuses.map((status) => `'${status}'`).join(', ');

/** The source of a run with pending calls of an agent, at a gateway or through a hook; such a run is not resumed. */
export const AGENT_SOURCE = 'signalbox gateway';

/** The name of a run with the calls of an answer that a gateway keeps. */
export const GATEWAY_RUN = 'gateway';

/** How long a gateway keeps an answer for a client that does not come back, and the decisions about its calls. */
export const KEPT_FOR_MS = 90 * 24 * 3_600_000;

export function isOfAgent({ source }: { readonly source: string }): boolean {
  return source === AGENT_SOURCE;
}

export function isReopenable(status: RunStatus): boolean {
  return status === 'failed' || status === 'denied';
}

export function isEnded(status: RunStatus): boolean {
  return endedStatuses.some((ended) => ended === status);
}

export function decisionOfEndedRun(status: RunStatus): Extract<PendingDecision, { kind: 'cancelled' }> {
  return { kind: 'cancelled', by: 'signalbox', reason: `the run is ${status}` };
}

export function statusBelow(status: RunStatus): RunStatus {
  return status === 'cancelled' ? 'cancelled' : 'failed';
}

export const errorBelow = JSON.stringify({
  code: 'ABORTED',
  message: 'the parent run has ended',
  hint: '',
});

/** Throws USAGE unless the ID is safe as a file name, which claims may use. */
export function checkRunId(id: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return;
  throw new RuntimeError('USAGE', `${JSON.stringify(id.slice(0, 130))} is not a valid run id`, {
    hint: 'An id has up to 128 letters, digits, dots, dashes and underscores, and begins with a letter or digit.',
  });
}

/** RUN_ENDED: nothing more can be done with the run. */
export function endedRunError(id: string, status: string): RuntimeError {
  return new RuntimeError(
    'RUN_ENDED',
    status === 'cancelled' ? `run ${id} was cancelled` : `run ${id} is already ${status}`,
  );
}

export function unknownRunError(id: string, location: string): RuntimeError {
  return new RuntimeError('RUN_UNKNOWN', `there is no run "${id}" in the state store ${location}`);
}

export function duplicateRunError(id: string, location: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `the state store ${location} already has a run "${id}"`, {
    hint: 'Give every run its own id.',
  });
}

export function closedStoreError(location: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `the state store ${location} has been closed`, {
    hint: 'Open the runtime again.',
  });
}

/** STORE_FAILED: the run of a result does not exist. */
export function missingRunError(id: string, location: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `${location} has no run "${id}" to store results for`, {
    hint: 'It may have been removed: run the suite again.',
  });
}

export function unusableStoreError(reason: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', reason, {
    hint: 'Correct spec.state_store; valid types are `sqlite`, `postgres` and `memory`.',
  });
}
