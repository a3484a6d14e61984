import PQueue from 'p-queue';
import { whenAborted } from '../../base/time/when-aborted.ts';
import type { StreamLimitsConfig } from '../../config/config.ts';

/** What keeps the streams of one provider to its limits. */
export interface StreamLimits {
  /** Waits until fewer streams are open than may be; gives the place back once. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>;
  /** Whether the budget of retries has room for one more, which then counts. */
  mayRetry(): boolean;
}

export function createStreamLimits(config: StreamLimitsConfig, now = () => performance.now()): StreamLimits {
  const { maxConcurrent = Number.POSITIVE_INFINITY, retry } = config;
  const queue = new PQueue({ concurrency: maxConcurrent });
  const take = async (signal: AbortSignal) => {
    signal.throwIfAborted();
    // The signal ends the wait only: a stream keeps its place until it is given back.
    const waiting = new AbortController();
    const forget = whenAborted(signal, () => waiting.abort(signal.reason));
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    await new Promise<void>((enter, refuse) => {
      const hold = async () => {
        forget();
        enter();
        await left;
      };
      queue.add(hold, { signal: waiting.signal }).catch(refuse);
    });
    return leave;
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
