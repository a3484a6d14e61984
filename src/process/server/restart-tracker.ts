import type { RestartPolicy } from '../binding.ts';

/** Decides whether and when a server that has died may be started and called again. */
export interface RestartTracker {
  /** Deaths since the last good reply. */
  readonly deaths: number;
  /** Too many deaths in a row: only `admit` decides about a call. */
  readonly isTripped: boolean;
  /** Whether a call now would be refused. */
  readonly isRefusing: boolean;
  /**
   * Whether one call may be made. `refused` while the circuit is open, or while the trial call after its
   * pause is underway.
   */
  admit(): 'admitted' | 'trial' | 'refused';
  /** Milliseconds to wait before a start. */
  startDelayMs(): number;
  /** A process ended, or could not be started. Returns true when that opened the circuit. */
  recordDeath(): boolean;
  recordSuccess(): void;
  /** The trial call failed though the process did not die; reopens the circuit. */
  trialFailed(): void;
  /** The trial call had no reply to prove anything by, or was given up, so the next call is the trial. */
  trialUndecided(): void;
}

/** Counts deaths and keeps the time; `now` gives milliseconds on a clock that only goes forward. */
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
