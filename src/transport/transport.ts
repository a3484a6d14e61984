import type { Json } from '../json.ts';

/** One request: a compact JSON object, and the method a server is called by. */
export interface Message {
  readonly method: string;
  readonly body: string;
}

/** What a one-shot process left: its whole stdout, and how it ended. What that means is the dialect's business. */
export interface ProcessReply {
  readonly via: 'process';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Uint8Array;
  /** The last 64 KiB. */
  readonly stderr: string;
}

/** What a server answered: exactly one of the two is present. */
export interface RpcReply {
  readonly via: 'rpc';
  readonly result?: Json;
  /** A JSON object. */
  readonly error?: Json;
}

export type Reply = ProcessReply | RpcReply;

/** Carries messages to one entry's process or processes. */
export interface Transport {
  /**
   * Sends a message and waits for its reply. Rejects with RuntimeError: PROCESS_START, PROCESS_TIMEOUT,
   * OUTPUT_LIMIT, REPLY_MALFORMED, SERVER_EXIT, SERVER_CIRCUIT_OPEN, SERVER_BUSY, ABORTED or RUNTIME_CLOSED.
   */
  exchange(message: Message, signal?: AbortSignal): Promise<Reply>;
  /** Starts what can be started ahead of the first exchange; failures wait for that exchange. */
  warm(): void;
  /** Ends every process, the politest way that works. Never rejects. */
  close(): Promise<void>;
}
