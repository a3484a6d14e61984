/** What the answers of a run took, whether its subject made them or they were recorded with these figures. Plain JSON. */
export interface Totals {
  /** One for each run of a case. */
  readonly answers: number;
  /** Those from the cache; their tokens and cost are those of the first time. */
  readonly cached: number;
  /** Those of which there is none, only a fault. */
  readonly failed: number;
  /** Null where no answer tells, as the two below. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** US dollars. */
  readonly cost_usd: number | null;
  /** How many answers do not tell theirs: the sums are at least what they say. */
  readonly unknown: { readonly tokens: number; readonly cost_usd: number };
  /** Of answers that were made, without the time in queues. */
  readonly answer_ms: Times | null;
  /** How long these waited for slots; null where that is unknown. */
  readonly queue_ms: Times | null;
}

/** Milliseconds; the percentiles are within 1 %. */
export interface Times {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly sum: number;
}
