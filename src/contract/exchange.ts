import type { RuntimeError } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type { OnProgress } from './progress.ts';
import type { TraceContext } from './trace.ts';

export interface Message {
  readonly method: string;
  readonly body: string;
  /** Variables for this exchange in addition to the binding's; undefined removes one. One-shot only. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Follows the body on stdin; default: a newline. One-shot only. */
  readonly terminator?: '' | '\n';
  readonly timeoutMs?: number;
  /** Whether `body` is an object that may have `_meta`. Servers only. */
  readonly takesMeta?: boolean;
  /** Receives the progress that a server reports about the request. */
  readonly onProgress?: OnProgress;
  /** The trace for the process: variables of a one-shot process, `_meta` of a request that takes it. */
  readonly trace?: TraceContext;
  /** Called immediately before the message is sent, in the same event loop turn. An error prevents the sending. */
  readonly requireStart?: () => void;
}

/** The outcome of a one-shot process: its whole stdout, and how it ended. The dialect's codec interprets it. */
export interface ProcessReply {
  readonly via: 'process';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Uint8Array;
  readonly stderr: string;
  /** The HTTP status of an endpoint's reply: `stdout` is its body, `exitCode` is null. Absent for a process. */
  readonly httpStatus?: number;
  readonly sandbox?: SandboxMark;
}

/** The sandbox in which a process failed, and a hint about it. */
export interface SandboxMark {
  readonly name: string;
  readonly mode: string;
  readonly hint?: string;
}

/** A server's reply: exactly one of `result` and `error` is present. */
export interface RpcReply {
  readonly via: 'rpc';
  readonly result?: Json;
  /** A JSON object. */
  readonly error?: Json;
  /** The result of a reply that also has an error; the error counts. */
  readonly ignoredResult?: Json;
}

export type Reply = ProcessReply | RpcReply;

export interface Handshake {
  /** Its timeout is separate from those of the waiting calls. */
  readonly message: Message;
  /**
   * Returns an error to refuse the server, which is then killed; its callers get that error. It may accept
   * REPLY_MALFORMED. Any other error in place of a reply refuses the server in any case.
   */
  readonly check: (reply: Reply | RuntimeError) => RuntimeError | undefined;
}

/** The lines of REPLY_MALFORMED errors. They are not members of the errors, so that they are never printed. */
const lines = new WeakMap<RuntimeError, string>();

/** Attaches the unusable line, so that a codec can look for a denial in it. Returns the error. */
export function attachUnusableLine(error: RuntimeError, bytes: Uint8Array): RuntimeError {
  lines.set(error, Buffer.from(bytes).toString());
  return error;
}

export function unusableLineOf(error: RuntimeError): string | undefined {
  return lines.get(error);
}
