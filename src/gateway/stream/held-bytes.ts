import { RefusedCall } from '../wire/refusal.ts';

/** Counts the bytes of answers that wait for a decision, of one stream and of all together. */
export class HeldBytes {
  readonly #perStream: number;
  readonly #inTotal: number;
  #held = 0;

  constructor({ perStream, inTotal }: { readonly perStream: number; readonly inTotal: number }) {
    this.#perStream = perStream;
    this.#inTotal = inTotal;
  }

  /** Of all streams at this moment. */
  get held(): number {
    return this.#held;
  }

  /** The share of one stream. */
  open(): HeldShare {
    let own = 0;
    return {
      add: (bytes) => {
        if (own + bytes > this.#perStream) throw new RefusedCall(tooLarge);
        if (this.#held + bytes > this.#inTotal) throw new RefusedCall(overloaded);
        own += bytes;
        this.#held += bytes;
      },
      end: () => {
        this.#held -= own;
        own = 0;
      },
    };
  }
}

/** What one stream holds. */
export interface HeldShare {
  /** Throws RefusedCall: 502 `answer_too_large` for this stream, 503 `overloaded` for all together. */
  add(bytes: number): void;
  /** Gives everything back; may be called again. */
  end(): void;
}

const tooLarge = {
  status: 502,
  code: 'answer_too_large',
  message:
    'The answer is larger than what the gateway holds back of one answer until its hooks have decided.',
  isRetryable: false,
};

const overloaded = {
  status: 503,
  code: 'overloaded',
  message: 'The gateway holds back as much of other answers as it may; try again later.',
  retryAfter: 1,
  isRetryable: true,
};
