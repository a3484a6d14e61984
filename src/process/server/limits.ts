import { abortedError, timeoutError } from '../../base/time/deadline.ts';
import { DeadlineList } from '../../base/time/deadline-list.ts';
import { whenAborted } from '../../base/time/when-aborted.ts';
import type { Binding } from '../binding.ts';
import { withHint } from '../server-hints.ts';
import type { WaitingRequest } from './waiting-requests.ts';

/** What may end the wait for a reply. */
interface Ending {
  /** Default: the limit of the binding. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The limits of the requests to one life of a server. */
export interface Limits {
  /**
   * Fails the request with PROCESS_TIMEOUT or ABORTED when its time is over or its caller gives up, unless it is settled
   * before. `abandon` stops the wait, and gives the hint for a request that timed out.
   */
  begin(request: WaitingRequest, ending: Ending, abandon: (isLate: boolean) => string | undefined): void;
}

/** The limits of requests by this binding: one timer for all that have the same time. */
export function openLimits({ name, timeoutMs: usualMs }: Binding): Limits {
  const usual = new DeadlineList(usualMs);
  const others = new Map<number, DeadlineList>();
  const listOf = (timeoutMs: number) => {
    const known = others.get(timeoutMs);
    if (known !== undefined) return known;
    const list = new DeadlineList(timeoutMs);
    if (others.size < MOST_LISTS) others.set(timeoutMs, list);
    return list;
  };
  return {
    begin: (request, { timeoutMs = usualMs, signal }, abandon) => {
      const list = timeoutMs === usualMs ? usual : listOf(timeoutMs);
      const limit = list.start(() => {
        const hint = abandon(true);
        request.reject(withHint(timeoutError(name, timeoutMs), hint));
      });
      const forgetSignal =
        signal &&
        whenAborted(signal, () => {
          abandon(false);
          request.reject(abortedError(name, signal));
        });
      request.whenSettled(() => {
        list.clear(limit);
        forgetSignal?.();
      });
    },
  };
}

/** A message has the limit of its point or that of its entry; whoever gives each its own gets a list for each. */
const MOST_LISTS = 16;
