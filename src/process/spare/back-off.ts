/** Decides whether and when a process may be started ahead of its call, where earlier ones ended before they were asked. */
export interface BackOff {
  /** False for files from which too many in a row have ended unasked. */
  admits(stamp: string): boolean;
  /** Milliseconds to wait before the next start. */
  delayMs(): number;
  /** One ended unasked, or could not be started. True when that was the last that is tried with these files. */
  recordDeath(stamp: string): boolean;
  /** One was there when it was needed. */
  recordTaken(): void;
}

/** Starts at once after the first death, then 100 ms, doubling; gives up after the fifth in a row, until the files change. */
export function createBackOff(): BackOff {
  let deaths = 0;
  let deadStamp = '';
  return {
    admits: (stamp) => {
      if (stamp !== deadStamp) deaths = 0;
      return deaths < MOST_DEATHS;
    },
    delayMs: () => (deaths < 2 || deaths >= MOST_DEATHS ? 0 : FIRST_DELAY_MS * 2 ** (deaths - 2)),
    recordDeath: (stamp) => {
      deaths = stamp === deadStamp ? deaths + 1 : 1;
      deadStamp = stamp;
      return deaths === MOST_DEATHS;
    },
    recordTaken: () => {
      deaths = 0;
    },
  };
}

const FIRST_DELAY_MS = 100;
const MOST_DEATHS = 5;
