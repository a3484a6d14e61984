import type { RestartPolicy } from '../../binding/binding.ts';

/** Whether and when a server that has died may be started and asked again. */
export interface Restarts {
  /** Deaths since the last good reply. */
  readonly deaths: number;
  /**
   * Asks for leave to make one call. `refused` while the circuit is open, or while the one call that tries
   * again after it is underway.
   */
  admit(): 'admitted' | 'trial' | 'refused';
  /** Milliseconds to wait before a start. */
  startDelayMs(): number;
  /** A process ended, or could not be started. Returns true when that opened the circuit. */
  died(): boolean;
  succeeded(): void;
  /** The trial call came to nothing, though no process died of it. */
  trialFailed(): void;
  /** The trial call proved nothing either way, so the next one tries at once. */
  trialUndecided(): void;
}

/** Counts deaths and keeps the time; `now` gives milliseconds on a clock that only goes forward. */
export function createRestarts(policy: RestartPolicy, now: () => number = () => performance.now()): Restarts {
  let deaths = 0;
  let diedAt = 0;
  let openUntil = 0;
  let trying = false;
  const isTripped = () => deaths >= policy.circuitDeaths;
  const open = () => {
    trying = false;
    openUntil = now() + policy.circuitPauseMs;
  };
  return {
    get deaths() {
      return deaths;
    },
    admit: () => {
      if (!isTripped()) return 'admitted';
      if (trying || now() < openUntil) return 'refused';
      trying = true;
      return 'trial';
    },
    startDelayMs: () => {
      if (deaths < 2 || isTripped()) return 0;
      const pause = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (deaths - 2));
      return Math.max(0, diedAt + pause - now());
    },
    died: () => {
      deaths += 1;
      diedAt = now();
      if (isTripped()) open();
      return isTripped();
    },
    succeeded: () => {
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
