import { timingSafeEqual } from 'node:crypto';
import type { HookSetUse, KeyRecord, SecretRecord } from '../../store/keys/key-book.ts';
import type { Estimate, Lease } from '../ports.ts';

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

/** A key, and the text that presents it. */
export interface PresentedKey {
  readonly key: KeyRecord;
  /** The digest of the text. */
  readonly hash: string;
  /** When the text ends; milliseconds since 1970, null: never. */
  readonly expiresAt: number | null;
}

/** A key, as that text presents it. */
export function presentedKeyOf(key: KeyRecord, { hash, expiresAt }: SecretRecord): PresentedKey {
  return { key, hash, expiresAt: earlier(key.expiresAt, expiresAt) };
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** The one with this digest, compared in constant time. */
export function findPresented<Key extends PresentedKey>(
  candidates: readonly Key[],
  digest: string,
): Key | undefined {
  const presented = Buffer.from(digest);
  return candidates.find(({ hash }) => timingSafeEqual(Buffer.from(hash), presented));
}

/** What has to be counted, and is kept until it could be. */
export interface Backlog {
  /** Counts now, or as soon as that can be done again. Never rejects. */
  keep(work: () => Promise<unknown>): Promise<void>;
  /** Tries what waits again. Never rejects. */
  flush(): Promise<void>;
  /** Rejects as the work does while some of it waits: no call may begin that could not be counted. */
  requireEmpty(): Promise<void>;
}

/** Works that are done until they succeed; one that rejects has done nothing, or may be done twice. */
export function createBacklog(): Backlog {
  const waiting = new Set<() => Promise<unknown>>();
  let flushing: Promise<void> | undefined;
  const tryAgain = async (work: () => Promise<unknown>) => {
    await work();
    waiting.delete(work);
  };
  const flushOnce = () => {
    flushing ??= flushAll().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };
  const flushAll = async () => {
    const tried = await Promise.allSettled([...waiting].map(tryAgain));
    const failed = tried.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  };
  return {
    keep: async (work) => {
      try {
        await work();
      } catch {
        waiting.add(work);
      }
    },
    flush: async () => {
      if (waiting.size > 0) await flushOnce().catch(() => {});
    },
    requireEmpty: async () => {
      if (waiting.size > 0) await flushOnce();
    },
  };
}

/** Does the work every so often, once at a time. What fails is tried again the next time, and says so to the calls meanwhile. */
export function repeat(work: () => Promise<void>, everyMs: number) {
  let running: Promise<void> | undefined;
  const run = async () => {
    await work().catch(() => {});
    running = undefined;
  };
  const timer = setInterval(() => {
    running ??= run();
  }, everyMs).unref();
  return {
    /** Waits for work that is under way. Never rejects. */
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
