/** Longest time that a timer can wait: 2^31 - 1 milliseconds. */
export const longestMs = 2_147_483_647;
