/** The chance that of k epochs, drawn from the n that were run, one is among the c that passed; k is at most n. */
export function estimatePassAt({ n, c, k }: EpochCounts): number {
  if (n - c < k) return 1;
  let allFail = 1;
  for (let i = n - c + 1; i <= n; i++) allFail *= 1 - k / i;
  return 1 - allFail;
}

/** The chance that all k of them are among the c that passed (pass^k of τ-bench, https://arxiv.org/abs/2406.12045). */
export function estimatePassHat({ n, c, k }: EpochCounts): number {
  let allPass = 1;
  for (let i = 0; i < k; i++) allPass *= Math.max(0, c - i) / (n - i);
  return allPass;
}

export interface EpochCounts {
  readonly n: number;
  readonly c: number;
  readonly k: number;
}
