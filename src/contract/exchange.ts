import type { RuntimeError } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';

/** One request: a compact JSON object, and the method a server is called by. */
export interface Message {
  readonly method: string;
  readonly body: string;
  /** Variables of this exchange alone, beside the binding's; undefined takes one away. One-shot only. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What stands after the body on stdin; default: a newline. One-shot only. */
  readonly terminator?: '' | '\n';
  /** Overrides the binding's limit. */
  readonly timeoutMs?: number;
  /** Called right before the message reaches a process, in the same turn; what it throws keeps it from being sent. */
  readonly requireStart?: () => void;
}

/** The outcome of a one-shot process: its whole stdout, and how it ended. The dialect's codec interprets it. */
export interface ProcessReply {
  readonly via: 'process';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Uint8Array;
  /** The last 64 KiB. */
  readonly stderr: string;
  /** The status of an HTTP endpoint's reply: `stdout` is its body, `exitCode` null. Absent for a process. */
  readonly httpStatus?: number;
  /** Of a process in a sandbox that ended badly. */
  readonly sandbox?: SandboxMark;
}

/** The sandbox in which a process failed, and what may be done about it there. */
export interface SandboxMark {
  readonly name: string;
  readonly mode: string;
  readonly hint?: string;
}

/** What a server answered: exactly one of `result` and `error` is present. */
export interface RpcReply {
  readonly via: 'rpc';
  readonly result?: Json;
  /** A JSON object. */
  readonly error?: Json;
  /** The result of a reply that has an error as well; the error counts. */
  readonly ignoredResult?: Json;
}

export type Reply = ProcessReply | RpcReply;

/** The first exchange with every new process of a server; requests are sent only after it. */
export interface Handshake {
  /** Its limit is apart from those of the calls that wait for it. */
  readonly message: Message;
  /**
   * Returns the error if the server may not be used; the server is then killed and its callers get that error. It decides about
   * REPLY_MALFORMED too; with any other error in place of a reply the server is refused anyway.
   */
  readonly check: (reply: Reply | RuntimeError) => RuntimeError | undefined;
}

/** The lines that REPLY_MALFORMED errors are about. Kept beside the errors, so that they are never printed. */
const lines = new WeakMap<RuntimeError, string>();

/** Keeps the unusable line beside the error, so that a codec can look for a denial in it. Returns the error. */
export function attachUnusableLine(error: RuntimeError, bytes: Uint8Array): RuntimeError {
  lines.set(error, Buffer.from(bytes).toString());
  return error;
}

/** The line that could not be used; undefined where an error is not about one. */
export function unusableLineOf(error: RuntimeError): string | undefined {
  return lines.get(error);
}
