import type { QueueClock } from '../base/time/stopwatch.ts';
import type { Message, Reply } from '../contract/exchange.ts';

export type * from '../contract/exchange.ts';

/** Carries messages to one entry's process or processes. */
export interface Transport {
  /**
   * Sends a message and waits for its reply. Rejects with RuntimeError: PROCESS_START, PROCESS_TIMEOUT,
   * OUTPUT_LIMIT, LIMIT_EXCEEDED, REPLY_MALFORMED, SERVER_EXIT, SERVER_CIRCUIT_OPEN, SERVER_BUSY, ABORTED or RUNTIME_CLOSED. The clock
   * hears of the wait for a slot; default: the stopwatch that runs around the call.
   */
  exchange(message: Message, signal?: AbortSignal, clock?: QueueClock): Promise<Reply>;
  /**
   * Sends what has no reply, in order with the requests; resolves when the process's stdin has taken it. Rejects as
   * `exchange` does. Servers only.
   */
  notify?(message: Message, signal?: AbortSignal): Promise<void>;
  /** How many processes there have been so far, of all instances together. Servers only. */
  startCount?(): number;
  /** Starts processes ahead of the first exchange; that exchange reports their failures. */
  warm(): void;
  /** Ends every process: end of stdin, SIGTERM, SIGKILL, each after a grace period. Never rejects. */
  close(): Promise<void>;
}
