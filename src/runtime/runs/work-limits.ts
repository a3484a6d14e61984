/** Whoever goes on with runs of others holds a `wait` step of up to so many ms; a longer one sets the run down. */
export const HELD_WAIT_MS = 1_000;
