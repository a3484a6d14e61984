/** Limits of a key; null: none. */
export interface KeyLimits {
  /** In any 60 seconds. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** Calls at once. */
  readonly concurrent: number | null;
  /** Budgets, in billionths of a US dollar: of a day and a month in UTC, and in all. */
  readonly budgetDay: number | null;
  readonly budgetMonth: number | null;
  readonly budgetTotal: number | null;
}

/** A key: its name and rights; times in ms since 1970. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  /** The exact names of the models that it may call; null: all. */
  readonly models: readonly string[] | null;
  /** The name of a hook set of the config; null: all hooks. */
  readonly hooks: string | null;
  readonly limits: KeyLimits;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** One of the texts that present a key; only its digest is kept. */
export interface SecretRecord {
  readonly keyId: string;
  /** SHA-256, in hex. */
  readonly hash: string;
  /** How the text begins, so that people can tell two apart. */
  readonly hint: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** What a key has used in a period. */
export interface UsageRecord {
  /** `2026-11-22`, `2026-11` or `total`. */
  readonly period: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar. */
  readonly cost: number;
  /** Calls whose usage nobody told: what had been set aside for them was counted. */
  readonly estimated: number;
}
