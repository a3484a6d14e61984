import type { QueueClock } from '../base/time/stopwatch.ts';
import type { Message, Reply } from '../contract/exchange.ts';

export type * from '../contract/exchange.ts';

/**
 * An exchange that waits, and what becomes of it. One of the two methods is called once, when the exchange ends, in the
 * async context of the process. Neither throws. Not the message, which may be long, and is not needed once it is sent.
 */
export interface AskedExchange extends Ending {
  readonly signal: AbortSignal | undefined;
  readonly clock?: QueueClock | undefined;
}

export interface Ending {
  onReply(reply: Reply): void;
  onError(error: unknown): void;
}

/** Sends messages to the processes of one entry. */
export interface Transport {
  /**
   * Rejects with PROCESS_START, PROCESS_TIMEOUT, OUTPUT_LIMIT, LIMIT_EXCEEDED, REPLY_MALFORMED, SERVER_EXIT,
   * SERVER_CIRCUIT_OPEN, SERVER_BUSY, ABORTED or RUNTIME_CLOSED. The clock measures the wait for a slot.
   */
  exchange(message: Message, signal?: AbortSignal, clock?: QueueClock): Promise<Reply>;
  /**
   * Makes an exchange without a promise if the message can be sent at once; false: use `exchange`. Absent from a
   * transport that sees or changes its exchanges. Servers only.
   */
  ask?(message: Message, asked: AskedExchange): boolean;
  /** Resolves when stdin has taken the message, in order with requests. Rejects as `exchange` does. Servers only. */
  notify?(message: Message, signal?: AbortSignal): Promise<void>;
  /** The number of processes started so far, across all instances. Servers only. */
  startCount?(): number;
  /** Starts processes in advance; the first exchange reports their failures. */
  warm(): void;
  /** Ends every process: end of stdin, SIGTERM, SIGKILL, each after a grace period. Never rejects. */
  close(): Promise<void>;
}
