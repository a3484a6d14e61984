import type { KeyRecord } from '../../store/keys/key.ts';
import type { HookSetUse } from '../../store/keys/key-table.ts';
import type { Estimate, Lease } from '../ports.ts';

/** A key, and the text that presents it. */
export interface PresentedKey {
  readonly key: KeyRecord;
  /** The digest of the text. */
  readonly hash: string;
  /** When the text ends; milliseconds since 1970, null: never. */
  readonly expiresAt: number | null;
}

/** Keys, what they have used, and their calls that are under way. Methods reject with STORE_FAILED. */
export interface KeyLedger {
  /** The key that a text presents. */
  find(text: string): Promise<PresentedKey | undefined>;
  /** Whether there is any key that is not revoked. */
  hasKeys(): Promise<boolean>;
  /** The hook sets of those that are not revoked. */
  hookSets(): Promise<readonly HookSetUse[]>;
  /** Counts a call, and sets aside what it may use. Rejects with RefusedCall too. */
  enter(presented: PresentedKey, estimate: Estimate): Promise<Lease>;
  /** Counts what has ended. Never rejects. */
  close(): Promise<void>;
}
