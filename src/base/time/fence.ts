import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The right of some work to start processes: that of a run which this process holds. Whoever gives a message to a process asks
 * for it twice, once the message has its slot: `admit` looks at the store, and `isLive` is looked at again in the moment in
 * which the bytes go out.
 */
export interface Fence {
  /** Rejects with why nothing may be started: RUN_ENDED, STORE_FAILED. */
  admit(): Promise<void>;
  /** Whether what `admit` saw cannot have changed hands yet, by a clock that never goes back. */
  isLive(): boolean;
}

/** Does the work, and all that it begins and waits for, within the fence; undefined: within none. */
export function fenced<Result>(fence: Fence | undefined, work: () => Result): Result {
  return fences.run(fence, work);
}

/** The fence around this code, if any. */
export function currentFence(): Fence | undefined {
  return fences.getStore();
}

/** What gives a right to work for as long as it is renewed. */
interface Lease {
  /** Renews it. Rejects once it is lost. */
  confirm(): Promise<void>;
  isLive(): boolean;
}

/** Does the work that a lease gives the right to. Rejects with what a start in it was refused with, whatever the work made of that. */
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
