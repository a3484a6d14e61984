import { startTimer } from '../../base/time/deadline.ts';

/** A step's timeout, which is paused while the run waits for a person. */
export interface StepClock {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  pause(): void;
  resume(): void;
}

/** Starts a clock. Pauses nest; the timer keeps the process alive unless the clock is paused. */
export function startClock(timeoutMs: number): StepClock {
  const timeout = new AbortController();
  const timer = startTimer({ timeoutMs }, () => timeout.abort());
  let pauses = 0;
  return {
    signal: timeout.signal,
    pause: () => {
      pauses += 1;
      if (pauses === 1) timer.pause();
    },
    resume: () => {
      pauses -= 1;
      if (pauses === 0 && !timeout.signal.aborted) timer.resume();
    },
  };
}
