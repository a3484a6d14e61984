import type { Decision } from '../../contract/hook.ts';
import type { TokenUsage } from '../wire/codec.ts';
import { isSaidAsAnswer, type Refusal } from '../wire/refusal.ts';
import type { AnswerJudge } from './answer-judge.ts';
import type { StreamReport } from './stream-call.ts';

/** What a stream's report is made of, as it becomes known. */
export class StreamLog {
  outcome: StreamReport['outcome'] = 'aborted';
  refusal: Refusal | undefined;
  usage: TokenUsage | undefined;
  windows = 0;
  readonly #startedAt = performance.now();
  readonly #decisions: Decision[] = [];
  #firstByte: number | null = null;
  #hooks = 0;

  /** Whether the client was sent something. */
  get hasBegun(): boolean {
    return this.#firstByte !== null;
  }

  begin(): void {
    this.#firstByte ??= this.#elapsed();
  }

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
    const { outcome, refusal, usage, windows } = this;
    const times = { firstByte: this.#firstByte, total: this.#elapsed(), hooks: this.#hooks };
    return { outcome, decisions: this.#decisions, refusal, usage, windows, times };
  }

  async #timed<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work;
    } finally {
      this.#hooks += performance.now() - startedAt;
    }
  }

  #elapsed(): number {
    return performance.now() - this.#startedAt;
  }
}
