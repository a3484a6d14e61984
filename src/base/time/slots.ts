/** Lets a number of pieces of work go on at once; the others wait in order. */
export interface Slots {
  /** Undefined where there is a slot; else a promise of one. */
  take(): Promise<void> | undefined;
  /** Gives one back. */
  release(): void;
}

/** That many slots. */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    take: () => {
      if (free === 0) return new Promise((resolve) => waiting.push(resolve));
      free -= 1;
      return undefined;
    },
    release: () => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
