import type { QueueClock } from '../base/time/stopwatch.ts';
import type { Message, Reply } from '../contract/exchange.ts';

export type * from '../contract/exchange.ts';

export interface AskedMessage {
  readonly message: Message;
  readonly signal: AbortSignal | undefined;
  readonly clock: QueueClock | undefined;
}

/** What a caller makes of an exchange. Called when the exchange ends, so that no promise stands in between. */
export interface Ending<Result> {
  onReply(reply: Reply): Result | PromiseLike<Result>;
  onError(error: unknown): Result | PromiseLike<Result>;
}

/** Leaves the end of an exchange to its promise. */
export const passedOn: Ending<Reply> = {
  onReply: (reply) => reply,
  onError: (error) => {
    throw error;
  },
};

/** Sends messages to the processes of one entry. */
export interface Transport {
  /**
   * Rejects with PROCESS_START, PROCESS_TIMEOUT, OUTPUT_LIMIT, LIMIT_EXCEEDED, REPLY_MALFORMED, SERVER_EXIT,
   * SERVER_CIRCUIT_OPEN, SERVER_BUSY, ABORTED or RUNTIME_CLOSED. The clock measures the wait for a slot.
   */
  exchange(message: Message, signal?: AbortSignal, clock?: QueueClock): Promise<Reply>;
  /**
   * Makes an exchange if the message can be sent at once; undefined: use `exchange`. Rejects only with what the ending
   * throws. Absent from a transport that sees or changes its exchanges. Servers only.
   */
  ask?<Result>(asked: AskedMessage, ending: Ending<Result>): Promise<Result> | undefined;
  /** Resolves when stdin has taken the message, in order with requests. Rejects as `exchange` does. Servers only. */
  notify?(message: Message, signal?: AbortSignal): Promise<void>;
  /** The number of processes started so far, across all instances. Servers only. */
  startCount?(): number;
  /** Starts processes in advance; the first exchange reports their failures. */
  warm(): void;
  /** Ends every process: end of stdin, SIGTERM, SIGKILL, each after a grace period. Never rejects. */
  close(): Promise<void>;
}
