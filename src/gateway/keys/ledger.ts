import { timingSafeEqual } from 'node:crypto';
import type { HookSetUse, KeyRecord, SecretRecord } from '../../store/keys/key-book.ts';
import type { Estimate, Lease } from '../ports.ts';

/** Keys, their usage and their running calls. Methods reject with STORE_FAILED. */
export interface KeyLedger {
  find(text: string): Promise<PresentedKey | undefined>;
  hasKeys(): Promise<boolean>;
  hookSets(): Promise<readonly HookSetUse[]>;
  /** Counts a call and reserves what it may use. Also rejects with RefusedCall. */
  enter(presented: PresentedKey, estimate: Estimate): Promise<Lease>;
  /** Writes pending counts. Never rejects. */
  close(): Promise<void>;
}

export interface PresentedKey {
  readonly key: KeyRecord;
  readonly hash: string;
  /** Milliseconds since 1970; null if the text never expires. */
  readonly expiresAt: number | null;
}

export function presentedKeyOf(key: KeyRecord, { hash, expiresAt }: SecretRecord): PresentedKey {
  return { key, hash, expiresAt: earlier(key.expiresAt, expiresAt) };
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Compares digests in constant time. */
export function findPresented<Key extends PresentedKey>(
  candidates: readonly Key[],
  digest: string,
): Key | undefined {
  const presented = Buffer.from(digest);
  return candidates.find(({ hash }) => timingSafeEqual(Buffer.from(hash), presented));
}

export interface Backlog {
  /** Runs the work now, or retries until it succeeds. Never rejects. */
  keep(work: () => Promise<unknown>): Promise<void>;
  flush(): Promise<void>;
  /** Rejects with the error of pending work: no call may begin that could not be counted. */
  requireEmpty(): Promise<void>;
}

/** Retries work until it succeeds. Work that rejected must have done nothing or be repeatable. */
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

/** Repeats the work without overlap. Ignores failures, because the next round tries again. */
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
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
