/** What a run can be told of: a call waits or is decided, a fault suspended the run, or it ended, with its work done or not. */
export const noticeEvents = ['pending', 'decided', 'suspended', 'completed', 'failed'] as const;

export type NoticeEvent = (typeof noticeEvents)[number];

/** That runs of a config tell a target of an event. */
export interface NoticeRule {
  readonly target: string;
  readonly event: NoticeEvent;
}

/** Something that a target is to be told, kept until it has been. */
export interface Notice {
  /** Its number in the store. */
  readonly seq: number;
  readonly runId: string;
  readonly target: string;
  readonly event: NoticeEvent;
  /** Of the call that waits or is decided; null: it is about the run. */
  readonly pendingId: string | null;
  /** When it happened; ms since 1970. */
  readonly madeAt: number;
  /** Which attempt to tell it this is, from 1. */
  readonly attempts: number;
}

/**
 * What is to be told of runs. A notice is kept in the transaction of what it tells of, whichever process makes it, by the rules that the
 * run's config has then. All reject with STORE_FAILED.
 */
export interface Outbox {
  /** Those of a config, in place of what it had. */
  setRules(config: string, rules: readonly NoticeRule[]): Promise<void>;
  /**
   * Notices to these targets that are due at `at` (ms since 1970), the oldest first, at most `limit`. Nobody else is given them for
   * `leaseMs`; then they are due again.
   */
  take(
    targets: readonly string[],
    at: number,
    options: { readonly leaseMs: number; readonly limit: number },
  ): Promise<Notice[]>;
  /** It has been told, and is forgotten. */
  remove(seq: number): Promise<void>;
  /** It is due again in so many ms from `at`. */
  postpone(seq: number, at: number, ms: number): Promise<void>;
  /** In how many ms from `at` the next one to these targets is due; undefined: there is none. */
  nextDue(targets: readonly string[], at: number): Promise<number | undefined>;
}
