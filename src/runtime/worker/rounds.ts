import { setTimeout as sleep } from 'node:timers/promises';
import { toRuntimeError } from '../../base/errors.ts';

/** Work that is done again and again until it is stopped. */
export interface Rounds {
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

/** Does the work about every so many ms, never twice at once; of faults in a row the first is reported. */
export function startRounds(
  everyMs: number,
  work: () => Promise<unknown>,
  report: (message: string) => void,
): Rounds {
  const stopping = new AbortController();
  const go = async () => {
    let isReported = false;
    while (!stopping.signal.aborted) {
      try {
        await work();
        isReported = false;
      } catch (error) {
        if (!isReported) report(toRuntimeError(error).message);
        isReported = true;
      }
      const pauseMs = everyMs * (0.8 + 0.4 * Math.random());
      await sleep(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  };
  const going = go();
  return {
    stop: async () => {
      stopping.abort();
      await going;
    },
  };
}
