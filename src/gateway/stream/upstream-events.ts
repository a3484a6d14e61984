import { type Refusal, RefusedCall } from '../wire/refusal.ts';
import type { SseEvent } from '../wire/sse.ts';

/** An upstream's events, one by one. */
export class UpstreamEvents {
  readonly #events: AsyncIterator<SseEvent>;
  readonly #abandon: (reason: unknown) => void;
  #isComplete = false;

  constructor(events: AsyncIterable<SseEvent>, abandon: (reason: unknown) => void) {
    this.#events = events[Symbol.asyncIterator]();
    this.#abandon = abandon;
  }

  /** The answer is complete: what the upstream does from now on cannot break it off any more. */
  complete(): void {
    this.#isComplete = true;
  }

  /** Undefined at the end. Throws RefusedCall when the upstream fails. */
  async next(): Promise<SseEvent | undefined> {
    try {
      const { done, value } = await (this.#isComplete ? this.#nextSoon() : this.#events.next());
      return done === true ? undefined : value;
    } catch (error) {
      if (this.#isComplete) return undefined;
      if (error instanceof RefusedCall) throw error;
      throw new RefusedCall(brokenOff, error);
    }
  }

  /** Ends the upstream's answer. */
  end(reason: unknown): void {
    this.#abandon(reason);
    // Not awaited: it may be waiting for an upstream that does not listen.
    void this.#events.return?.().then(undefined, () => {});
  }

  async #nextSoon(): Promise<IteratorResult<SseEvent, unknown>> {
    const next = this.#events.next();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<{ readonly done: true; readonly value: undefined }>((resolve) => {
      timer = setTimeout(() => resolve({ done: true, value: undefined }), afterEndMs);
    });
    try {
      return await Promise.race([next, late]);
    } finally {
      clearTimeout(timer);
      next.catch(() => {});
    }
  }
}

/** How long what follows a complete answer, such as its usage, is waited for. */
const afterEndMs = 2000;

const brokenOff: Refusal = {
  status: 502,
  code: 'upstream_failed',
  message: 'The upstream broke its answer off, so it is withheld.',
  isRetryable: true,
};
