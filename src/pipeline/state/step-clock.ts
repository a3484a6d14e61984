/** A step's timeout, which can be stopped while a person is waited for. */
export interface StepClock {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  stop(): void;
  go(): void;
}

/** Starts a clock; it keeps the process alive until `stop` is called as often as `go`, and once more. */
export function startClock(timeoutMs: number): StepClock {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let leftMs = timeoutMs;
  let startedAt = 0;
  let stops = 1;
  const go = () => {
    stops -= 1;
    if (stops > 0 || over.signal.aborted) return;
    startedAt = performance.now();
    timer = setTimeout(() => over.abort(), leftMs);
  };
  const stop = () => {
    stops += 1;
    if (stops > 1) return;
    clearTimeout(timer);
    leftMs = Math.max(0, leftMs - (performance.now() - startedAt));
  };
  go();
  return { signal: over.signal, stop, go };
}
