import type { Json } from '../base/json/json.ts';

export interface PinChange {
  /** `instructions`, or `tool:` and the name of a tool. */
  readonly item: string;
  /** `unaccepted`: as it was at first sight, and never accepted by a person. */
  readonly change: 'new' | 'changed' | 'unaccepted' | 'removed';
  /** The definition that is pinned, and the one that the server sends now; null: none. */
  readonly pinned: Json | null;
  readonly sent: Json | null;
}

/** The definitions that a server sends now, compared with its pin. */
export interface PinReport {
  readonly server: string;
  /** Of all definitions that the server sends now. */
  readonly digest: string;
  readonly pinned_digest: string;
  /** Whether a person has something to accept: everything but removed tools. */
  readonly waits: boolean;
  readonly accepted_by: string | null;
  /** ISO 8601, UTC. */
  readonly accepted_at: string | null;
  readonly first_seen_at: string;
  readonly changes: readonly PinChange[];
  /** Why some definitions cannot be accepted at all. */
  readonly unusable: readonly string[];
}
