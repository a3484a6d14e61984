import type { QueueClock } from '../base/time/stopwatch.ts';
import type { Message, Reply } from '../contract/exchange.ts';

export type * from '../contract/exchange.ts';

/** Sends messages to the processes of one entry. */
export interface Transport {
  /**
   * Rejects with PROCESS_START, PROCESS_TIMEOUT, OUTPUT_LIMIT, LIMIT_EXCEEDED, REPLY_MALFORMED, SERVER_EXIT,
   * SERVER_CIRCUIT_OPEN, SERVER_BUSY, ABORTED or RUNTIME_CLOSED. The clock measures the wait for a slot.
   */
  exchange(message: Message, signal?: AbortSignal, clock?: QueueClock): Promise<Reply>;
  /** Resolves when stdin has taken the message, in order with requests. Rejects as `exchange` does. Servers only. */
  notify?(message: Message, signal?: AbortSignal): Promise<void>;
  /** The number of processes started so far, across all instances. Servers only. */
  startCount?(): number;
  /** Starts processes in advance; the first exchange reports their failures. */
  warm(): void;
  /** Ends every process: end of stdin, SIGTERM, SIGKILL, each after a grace period. Never rejects. */
  close(): Promise<void>;
}
