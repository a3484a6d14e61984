import type { Decision } from '../../contract/hook.ts';
import type { AnswerJudge } from '../judge/provider-hooks.ts';
import type { GatewayServices, HeldShare } from '../ports.ts';
import type { EndpointCodec, TokenUsage, WireRequest, WireRules } from '../wire/codec.ts';
import { isSaidAsAnswer, type Refusal, RefusedCall, refusal } from '../wire/refusal.ts';
import type { SseEvent } from '../wire/sse.ts';

export interface StreamSettings {
  /** The size of the text window that filters see, in UTF-16 units; undefined buffers the whole response. */
  readonly windowChars: number | undefined;
  readonly onDeny: 'error' | 'answer';
  readonly waitMs: number;
  readonly heldBytes: GatewayServices['heldBytes'];
}

export interface StreamedCall {
  readonly codec: EndpointCodec;
  readonly rules: WireRules;
  readonly request: WireRequest;
  readonly model: string;
  /** Read only as fast as the client reads or the buffer allows. An error ends the stream. */
  readonly events: AsyncIterable<SseEvent>;
  readonly judge: AnswerJudge;
  /** Default: true. If false, events pass at once and observers get the response at the end. */
  readonly isJudged?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Ends the upstream's response. Safe to call after its end. */
  readonly abandon: (reason: unknown) => void;
}

export interface StreamReport {
  readonly outcome: 'allowed' | 'modified' | 'denied' | 'failed' | 'aborted';
  /** The after_call decisions on each choice's message and on a stopped piece. */
  readonly decisions: readonly Decision[];
  readonly refusal: Refusal | undefined;
  readonly usage: TokenUsage | undefined;
  readonly times: { readonly total: number; readonly hooks: number };
}

export type OpenedStream =
  /** Nothing was sent, so the client can still get an error status. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly report: StreamReport }
  | {
      readonly kind: 'stream';
      /** Whole events. Never rejects. `return` also ends the upstream's response. */
      readonly chunks: AsyncIterableIterator<string>;
      /** Resolves when `chunks` end. Never rejects. */
      readonly report: Promise<StreamReport>;
    };

export class StreamLog {
  outcome: StreamReport['outcome'] = 'aborted';
  refusal: Refusal | undefined;
  usage: TokenUsage | undefined;
  windows = 0;
  hasBegun = false;
  readonly #startedAt = performance.now();
  readonly #decisions: Decision[] = [];
  #hooks = 0;

  breakOff(): void {
    if (this.refusal === undefined) this.outcome = 'aborted';
  }

  refuse(refusal: Refusal): void {
    this.refusal = refusal;
    this.outcome = isSaidAsAnswer(refusal) ? 'denied' : 'failed';
  }

  /** Wraps a judge to record its decisions and time, and to stop at the signal. */
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

/** Counts the bytes of buffered responses, per stream and in total. */
export class HeldBytes {
  readonly #perStream: number;
  readonly #inTotal: number;
  #held = 0;

  constructor({ perStream, inTotal }: { readonly perStream: number; readonly inTotal: number }) {
    this.#perStream = perStream;
    this.#inTotal = inTotal;
  }

  get held(): number {
    return this.#held;
  }

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
  'The answer is larger than the gateway may hold back until its hooks have decided.',
);

const overloaded = refusal(
  503,
  'overloaded',
  'The gateway holds back too much of other answers at the moment; try again later.',
  { retryAfter: 1, isRetryable: true },
);
