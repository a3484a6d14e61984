/** Waits for a pause in what arrives. */
export interface Linger {
  /** Something has arrived: begins to wait, or goes on waiting. */
  extend(): void;
}

/** Calls `onPause` when nothing has arrived for `pauseMs`, and at the latest `mostMs` after the first that did. */
export function newLinger(onPause: () => void, { pauseMs = 5, mostMs = 100 } = {}): Linger {
  let arrivals = 0;
  let isWaiting = false;
  const wait = (seen: number, since: number) => {
    setTimeout(() => {
      if (arrivals > seen && performance.now() - since < mostMs) {
        wait(arrivals, since);
        return;
      }
      isWaiting = false;
      onPause();
    }, pauseMs);
  };
  return {
    extend() {
      arrivals += 1;
      if (isWaiting) return;
      isWaiting = true;
      wait(arrivals, performance.now());
    },
  };
}
