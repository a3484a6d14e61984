/** Events of runs: a call waits or is decided, a failure suspended the run, or the run ended. */
export const noticeEvents = ['pending', 'decided', 'suspended', 'completed', 'failed'] as const;

export type NoticeEvent = (typeof noticeEvents)[number];

export interface NoticeRule {
  readonly target: string;
  readonly event: NoticeEvent;
}

export interface Notice {
  readonly seq: number;
  readonly runId: string;
  readonly target: string;
  readonly event: NoticeEvent;
  /** The call that waits or is decided; null if the notice is about the run. */
  readonly pendingId: string | null;
  /** When the event happened; ms since 1970. */
  readonly madeAt: number;
  readonly attempts: number;
}

/**
 * Pending notices about runs. A notice is stored in the transaction of its event, by any process, according to the
 * rules of the run's config at that time. All methods reject with STORE_FAILED.
 */
export interface Outbox {
  setRules(config: string, rules: readonly NoticeRule[]): Promise<void>;
  /**
   * Takes up to `limit` notices to these targets that are due at `at` (ms since 1970), oldest first. Nobody else gets
   * them for `leaseMs`; then they are due again.
   */
  take(
    targets: readonly string[],
    at: number,
    options: { readonly leaseMs: number; readonly limit: number },
  ): Promise<Notice[]>;
  remove(seq: number): Promise<void>;
  postpone(seq: number, at: number, ms: number): Promise<void>;
  /** The milliseconds from `at` until the next notice to these targets is due; undefined if there is none. */
  nextDue(targets: readonly string[], at: number): Promise<number | undefined>;
}
