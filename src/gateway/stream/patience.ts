import { whenAborted } from '../../base/time/when-aborted.ts';

export interface PatienceOptions {
  /** How long a client gets nothing before it is told to wait, in milliseconds. */
  readonly waitMs: number;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** What a waiting client is sent; empty for nothing. */
  readonly wait: () => string;
}

/** Waits for work, and keeps the client awake meanwhile. */
export class Patience {
  readonly #options: PatienceOptions;
  #fedAt = performance.now();

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  /** The client was sent something. */
  feed(): void {
    this.#fedAt = performance.now();
  }

  /** The result of the work; yields what the client is sent meanwhile. Throws the signal's reason once it is aborted. */
  async *during<T>(work: Promise<T>): AsyncGenerator<string, T> {
    for (;;) {
      const done = await this.#within(work);
      if (done !== undefined) {
        if (this.#isHungry()) yield* this.#feedWait();
        return done.value;
      }
      yield* this.#feedWait();
    }
  }

  #isHungry(): boolean {
    return performance.now() - this.#fedAt >= this.#options.waitMs;
  }

  *#feedWait(): Generator<string> {
    if (!this.#isHungry()) return;
    this.feed();
    const text = this.#options.wait();
    if (text !== '') yield text;
  }

  /** Undefined when the time to wait is over first. */
  #within<T>(work: Promise<T>): Promise<{ readonly value: T } | undefined> {
    const { waitMs, signal } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => resolve(undefined)), waitMs);
      const forget = whenAborted(signal, () => settle(() => reject(signal.reason)));
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        forget();
        act();
      };
      work.then(
        (value) => settle(() => resolve({ value })),
        (error: unknown) => settle(() => reject(error)),
      );
      if (signal.aborted) settle(() => reject(signal.reason));
    });
  }
}
