import type { StreamLimitsConfig } from '../../config/config.ts';
import { whenAborted } from '../../time/when-aborted.ts';

/** What keeps the streams of one provider to its limits. */
export interface StreamLimits {
  /** Waits until fewer streams are open than may be; gives the place back once. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>;
  /** Whether the budget of retries has room for one more, which then counts. */
  mayRetry(): boolean;
}

export function createStreamLimits(config: StreamLimitsConfig, now = () => performance.now()): StreamLimits {
  const { maxConcurrent = Number.POSITIVE_INFINITY, retry } = config;
  const waiting: (() => void)[] = [];
  let open = 0;
  const release = () => {
    open -= 1;
    waiting.shift()?.();
  };
  const take = async (signal: AbortSignal) => {
    signal.throwIfAborted();
    if (open >= maxConcurrent) {
      await new Promise<void>((resolve, reject) => {
        const begin = () => {
          forget();
          // Counted here: a call that comes before the waiting one goes on must not take the same place.
          open += 1;
          resolve();
        };
        const forget = whenAborted(signal, () => {
          waiting.splice(waiting.indexOf(begin), 1);
          reject(signal.reason);
        });
        waiting.push(begin);
      });
    } else open += 1;
    let isHeld = true;
    return () => {
      if (isHeld) release();
      isHeld = false;
    };
  };
  const { ratePerSecond = 0, burst = 0 } = retry?.budget ?? {};
  let tokens = burst;
  let filledAt = now();
  const mayRetry = () => {
    if (ratePerSecond <= 0 || burst <= 0) return true;
    const at = now();
    tokens = Math.min(burst, tokens + ((at - filledAt) / 1000) * ratePerSecond);
    filledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
  return { take, mayRetry };
}
