import type { RuntimeError } from '../base/errors.ts';
import type { McpServerConfig } from '../config/config.ts';
import type { Binding } from '../process/binding.ts';

export interface UpstreamServer {
  readonly config: McpServerConfig;
  /** Of a server with a `url`: its name, limits and secrets. */
  readonly binding: Binding;
}

export interface ChannelHandlers {
  /** Receives one JSON-RPC message as the server sent it. The text is JSON, and may be anything. */
  readonly onText: (text: string) => void;
  /** Called once. `fault`: the server ended the connection; absent after `close`. */
  readonly onClose?: ((fault?: RuntimeError) => void) | undefined;
}

export interface SendOptions {
  /** HTTP only: further headers of the request, such as `Mcp-Param-*`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** HTTP only: ends the exchange of the message, which cancels a request of 2026. */
  readonly signal?: AbortSignal | undefined;
  /** HTTP only: the stream of the answer has ended and is not resumed. */
  readonly onStreamEnd?: (() => void) | undefined;
}

/** Carries JSON-RPC messages to and from a server, as texts that nothing rewrites. */
export interface UpstreamChannel {
  /** Throws PROCESS_START, SERVER_EXIT, SERVER_BUSY, PROCESS_TIMEOUT, OUTPUT_LIMIT, RUNTIME_CLOSED. */
  send(text: string, options?: SendOptions): Promise<void>;
  /** HTTP only: the version that the handshake agreed on, for the header of all further requests. */
  setProtocolVersion?(version: string): void;
  /** Ends the process or the session. Never rejects. */
  close(): Promise<void>;
  /** Resolves after the end. */
  readonly closed: Promise<void>;
}
