import type { KeyRecord, SecretRecord, UsageRecord } from './key.ts';

/** A key with its texts, in the order in which these were made. */
export interface KeyEntry {
  readonly key: KeyRecord;
  readonly secrets: readonly SecretRecord[];
}

/** What is to be changed of one key, all of it or nothing. */
export interface KeyChanges {
  /** A new key. */
  readonly key?: KeyRecord;
  readonly revokedAt?: number;
  /** Texts, by digest, that end at a time if they would not end earlier. */
  readonly ended?: readonly { readonly hash: string; readonly at: number }[];
  /** A new text. */
  readonly secret?: SecretRecord;
}

/** Makes, shows and changes keys. What a method resolves is on the disk. All reject with STORE_FAILED. */
export interface KeyBook {
  /** The file or database, for error messages. */
  readonly location: string;
  /** In the order in which they were made. */
  list(): Promise<KeyEntry[]>;
  /** By id, or by name: the one that is not revoked, else the last one that was. */
  find(which: string): Promise<KeyEntry | undefined>;
  /** How many calls of a key are under way, and what it has used in these periods. */
  usageOf(
    id: string,
    periods: readonly string[],
  ): Promise<{ readonly calls: number; readonly usage: UsageRecord[] }>;
  /**
   * Makes the changes that `plan` wants of what is found by id or name, in one transaction; resolves to what is there then. What
   * `plan` throws changes nothing. `plan` may be asked twice, of which the last time counts.
   */
  change(which: string, plan: (found: KeyEntry | undefined) => KeyChanges): Promise<KeyEntry>;
  /** Never rejects. */
  close(): Promise<void>;
}
