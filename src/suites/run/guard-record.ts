import type { EventKind, Verdict } from '../../contract/hook.ts';

/** What a guardrail decided of a labelled event. */
export interface GuardRecord {
  readonly hook: EventKind | 'host';
  readonly phase: string;
  readonly verdict: Verdict;
  /** The hook that decided; null when all merely allowed. */
  readonly decided_by: string | null;
  /** Whether the event should have been stopped or changed; null where it has no label. */
  readonly expected: boolean | null;
  /** Whether it was: any verdict but allow. */
  readonly flagged: boolean;
  /**
   * The confidence of the guard that the event should be flagged, 0..1, from its metadata; null without
   * one.
   */
  readonly confidence: number | null;
  /** Each hook that was asked, with its milliseconds. */
  readonly hooks: readonly {
    readonly name: string;
    readonly verdict: string;
    readonly duration_ms: number;
  }[];
}
