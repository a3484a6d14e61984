import { RuntimeError } from '../../base/errors.ts';
import type { RestartPolicy } from '../binding.ts';

export interface RestartTracker {
  readonly deaths: number;
  readonly isTripped: boolean;
  readonly isRefusing: boolean;
  /** `refused`: the circuit is open, or its trial call is in progress. */
  admit(): 'admitted' | 'trial' | 'refused';
  startDelayMs(): number;
  recordDeath(): boolean;
  recordSuccess(): void;
  /** The trial call failed although the process lives; reopens the circuit. */
  trialFailed(): void;
  /** The trial call proved nothing, so the next call becomes the trial. */
  trialUndecided(): void;
}

/** Counts the deaths of a process in a row: when it may start again, and when calls are refused. */
export function createRestartTracker(
  policy: RestartPolicy,
  now: () => number = () => performance.now(),
): RestartTracker {
  let deaths = 0;
  let diedAt = 0;
  let openUntil = 0;
  let trying = false;
  const isTripped = () => deaths >= policy.circuitDeaths;
  const isRefusing = () => isTripped() && (trying || now() < openUntil);
  const open = () => {
    trying = false;
    openUntil = now() + policy.circuitPauseMs;
  };
  return {
    get deaths() {
      return deaths;
    },
    get isTripped() {
      return isTripped();
    },
    get isRefusing() {
      return isRefusing();
    },
    admit: () => {
      if (!isTripped()) return 'admitted';
      if (isRefusing()) return 'refused';
      trying = true;
      return 'trial';
    },
    startDelayMs: () => {
      if (deaths < 2 || isTripped()) return 0;
      const pause = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (deaths - 2));
      return Math.max(0, diedAt + pause - now());
    },
    recordDeath: () => {
      deaths += 1;
      diedAt = now();
      if (isTripped()) open();
      return isTripped();
    },
    recordSuccess: () => {
      deaths = 0;
      trying = false;
    },
    trialFailed: () => {
      if (trying) open();
    },
    trialUndecided: () => {
      trying = false;
    },
  };
}

export function circuitError(name: string, deaths: number): RuntimeError {
  return new RuntimeError(
    'SERVER_CIRCUIT_OPEN',
    `the server "${name}" died ${deaths} times in a row and is not restarted for now`,
  );
}
