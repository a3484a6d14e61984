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
  let timer: NodeJS.Timeout | undefined;
  let leftMs = timeoutMs;
  let startedAt = 0;
  let pauses = 1;
  const go = () => {
    pauses -= 1;
    if (pauses > 0 || timeout.signal.aborted) return;
    startedAt = performance.now();
    timer = setTimeout(() => timeout.abort(), leftMs);
  };
  const stop = () => {
    pauses += 1;
    if (pauses > 1) return;
    clearTimeout(timer);
    leftMs = Math.max(0, leftMs - (performance.now() - startedAt));
  };
  go();
  return { signal: timeout.signal, pause: stop, resume: go };
}
