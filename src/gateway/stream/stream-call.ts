import type { Decision } from '../../contract/hook.ts';
import type { AnswerJudge } from '../judge/provider-hooks.ts';
import type { GatewayServices, HeldShare } from '../ports.ts';
import type { EndpointCodec, TokenUsage, WireRequest, WireRules } from '../wire/codec.ts';
import { isSaidAsAnswer, type Refusal, RefusedCall, refusal } from '../wire/refusal.ts';
import type { SseEvent } from '../wire/sse.ts';

/** How streamed answers are let through. */
export interface StreamSettings {
  /** What filters look at together before it goes out, in UTF-16 units; undefined: the answer is held until it is complete. */
  readonly windowChars: number | undefined;
  /** What a denial becomes as long as the client has nothing of the answer. */
  readonly onDeny: 'error' | 'answer';
  /** How long a client gets nothing before it is sent an event to wait by, in milliseconds. */
  readonly waitMs: number;
  /** Shared by all streams. */
  readonly heldBytes: GatewayServices['heldBytes'];
}

/** An answer that an upstream streams. */
export interface StreamedCall {
  readonly codec: EndpointCodec;
  readonly rules: WireRules;
  readonly request: WireRequest;
  /** What the client calls the model. */
  readonly model: string;
  /** Read only as fast as the client reads, or as the answer may be held. What it throws ends the stream. */
  readonly events: AsyncIterable<SseEvent>;
  readonly judge: AnswerJudge;
  /**
   * Whether somebody decides on the answer, as by default. If not, it goes out as it comes, and observers are told of it at
   * the end.
   */
  readonly isJudged?: boolean | undefined;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Ends the upstream's answer; may be called when it has ended. */
  readonly abandon: (reason: unknown) => void;
}

/** What became of a streamed answer. */
export interface StreamReport {
  readonly outcome: 'allowed' | 'modified' | 'denied' | 'failed' | 'aborted';
  /** Of after_call: on the message of each choice, and on the piece that was stopped. */
  readonly decisions: readonly Decision[];
  /** Why the client has no answer, or not all of it. */
  readonly refusal: Refusal | undefined;
  /** Undefined where the upstream has not told it. */
  readonly usage: TokenUsage | undefined;
  /** Milliseconds since the stream was opened. */
  readonly times: { readonly total: number; readonly hooks: number };
}

export type OpenedStream =
  /** Nothing was sent, so that the client can be given a status. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly report: StreamReport }
  | {
      readonly kind: 'stream';
      /** Whole events. Never rejects; ended by `return`, which ends the upstream's answer too. */
      readonly chunks: AsyncIterableIterator<string>;
      /** Known when `chunks` have ended; never rejects. */
      readonly report: Promise<StreamReport>;
    };

/** What a stream's report is made of, as it becomes known. */
export class StreamLog {
  outcome: StreamReport['outcome'] = 'aborted';
  refusal: Refusal | undefined;
  usage: TokenUsage | undefined;
  /** How many pieces filters were asked about. */
  windows = 0;
  /** Whether the client was sent something. */
  hasBegun = false;
  readonly #startedAt = performance.now();
  readonly #decisions: Decision[] = [];
  #hooks = 0;

  /** The client went away before it had everything. */
  breakOff(): void {
    if (this.refusal === undefined) this.outcome = 'aborted';
  }

  refuse(refusal: Refusal): void {
    this.refusal = refusal;
    this.outcome = isSaidAsAnswer(refusal) ? 'denied' : 'failed';
  }

  /** The judge, whose decisions and time are noted, and which asks until the signal aborts. */
  watch(judge: AnswerJudge, signal: AbortSignal): AnswerJudge {
    const { judgeCalls } = judge;
    return {
      ask: async (message) => {
        const outcome = await this.#timed(judge.ask(message, signal));
        this.#decisions.push(outcome.decision);
        return outcome;
      },
      askAboutPiece: async (message, window) => {
        this.windows = window;
        const outcome = await this.#timed(judge.askAboutPiece(message, window, signal));
        if (outcome.kind !== 'pass') this.#decisions.push(outcome.decision);
        return outcome;
      },
      judgeCalls: judgeCalls && ((answer, messages) => this.#timed(judgeCalls(answer, messages))),
    };
  }

  report(): StreamReport {
    const { outcome, refusal, usage } = this;
    const times = { total: performance.now() - this.#startedAt, hooks: this.#hooks };
    return { outcome, decisions: this.#decisions, refusal, usage, times };
  }

  async #timed<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work;
    } finally {
      this.#hooks += performance.now() - startedAt;
    }
  }
}

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

const tooLarge = refusal(
  502,
  'answer_too_large',
  'The answer is larger than what the gateway holds back of one answer until its hooks have decided.',
);

const overloaded = refusal(
  503,
  'overloaded',
  'The gateway holds back as much of other answers as it may; try again later.',
  { retryAfter: 1, isRetryable: true },
);
