import type { Fault } from '../../base/errors.ts';
import type { Head } from './head.ts';
import type { AuditKeys } from './keys.ts';
import type { NewCall } from './row.ts';

/** What the thread that writes the audit is started with. */
export interface AuditThreadData {
  readonly file: string;
  /** The file that was opened, so that the thread does not write to one that has taken its place. */
  readonly identity: string;
  readonly keys: AuditKeys;
  /** How long other processes may be in the way, in ms. */
  readonly waitMs: number;
}

/** One transaction; null: the end. */
export type AuditWork =
  | { readonly what: 'append'; readonly calls: readonly NewCall[] }
  | { readonly what: 'prune'; readonly before: number }
  | { readonly what: 'touch' };

export interface AuditDone {
  readonly head: Head;
  /** Whether there is more to prune. */
  readonly isPartial: boolean;
  readonly removed: number;
}

/** What comes back: once that it is ready, then for each request what was done or why nothing was. */
export type AuditReply =
  | { readonly status: 'ready' }
  | ({ readonly status: 'done' } & AuditDone)
  | { readonly status: 'failed'; readonly fault: Fault };
