import type { RuntimeError } from '../errors.ts';
import type { Json } from '../json/json.ts';

/** One request: a compact JSON object, and the method a server is called by. */
export interface Message {
  readonly method: string;
  readonly body: string;
  /** Variables of this exchange alone, beside the binding's; undefined takes one away. One-shot only. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What stands after the body on stdin; default: a newline. One-shot only. */
  readonly ending?: '' | '\n';
  /** Overrides the binding's limit. */
  readonly timeoutMs?: number;
}

/** What a one-shot process left: its whole stdout, and how it ended. What that means is the dialect's business. */
export interface ProcessReply {
  readonly via: 'process';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Uint8Array;
  /** The last 64 KiB. */
  readonly stderr: string;
  /** Of an HTTP endpoint, which stands in a process's place: `stdout` is the body, `exitCode` null. */
  readonly httpStatus?: number;
}

/** What a server answered: exactly one of `result` and `error` is present. */
export interface RpcReply {
  readonly via: 'rpc';
  readonly result?: Json;
  /** A JSON object. */
  readonly error?: Json;
  /** The result that stood beside an error, which counts in its place. */
  readonly beside?: Json;
}

export type Reply = ProcessReply | RpcReply;

/** The first exchange of every life of a server, before which it is asked nothing. */
export interface Greeting {
  /** Its limit is apart from those of the calls that wait for it. */
  readonly message: Message;
  /**
   * Why the server may not be used, if so; it is then killed and its callers are given the error. Given REPLY_MALFORMED,
   * it decides too; any other fault in the place of a reply refuses whatever it says.
   */
  readonly check: (reply: Reply | RuntimeError) => RuntimeError | undefined;
}

/** Carries messages to one entry's process or processes. */
export interface Transport {
  /**
   * Sends a message and waits for its reply. Rejects with RuntimeError: PROCESS_START, PROCESS_TIMEOUT,
   * OUTPUT_LIMIT, REPLY_MALFORMED, SERVER_EXIT, SERVER_CIRCUIT_OPEN, SERVER_BUSY, ABORTED or RUNTIME_CLOSED.
   */
  exchange(message: Message, signal?: AbortSignal): Promise<Reply>;
  /**
   * Sends what has no reply, in order with the requests; resolves when the process's stdin has taken it. Rejects as
   * `exchange` does. Servers only.
   */
  notify?(message: Message, signal?: AbortSignal): Promise<void>;
  /** How many processes there have been so far, of all instances together. Servers only. */
  lives?(): number;
  /** Starts what can be started ahead of the first exchange; failures wait for that exchange. */
  warm(): void;
  /** Ends every process, the politest way that works. Never rejects. */
  close(): Promise<void>;
}
