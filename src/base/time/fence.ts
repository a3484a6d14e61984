import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The right of a run that this process holds to start processes. Senders check it twice after a message has its slot:
 * `admit` consults the store, and `isLive` is checked immediately before the bytes are sent.
 */
export interface Fence {
  /** Rejects with the reason if nothing may start: RUN_ENDED, STORE_FAILED. */
  admit(): Promise<void>;
  /** Whether the right still holds, by a monotonic clock. */
  isLive(): boolean;
}

/** Runs the work, and everything that it starts, within the fence; undefined removes the current fence. */
export function fenced<Result>(fence: Fence | undefined, work: () => Result): Result {
  return fences.run(fence, work);
}

export function currentFence(): Fence | undefined {
  return fences.getStore();
}

interface Lease {
  confirm(): Promise<void>;
  isLive(): boolean;
}

/** Runs work under a lease. If a start was refused, rejects with that error even if the work resolves. */
export async function fencedBy<Result>(
  { confirm, isLive }: Lease,
  work: () => Promise<Result>,
): Promise<Result> {
  let refused: { readonly error: unknown } | undefined;
  const admit = async () => {
    if (refused !== undefined) throw refused.error;
    if (isLive()) return;
    try {
      await confirm();
    } catch (error) {
      refused ??= { error };
      throw error;
    }
  };
  const result = await fenced({ admit, isLive }, work);
  if (refused !== undefined) throw refused.error;
  return result;
}

const fences = new AsyncLocalStorage<Fence | undefined>();
