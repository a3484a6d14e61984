import type { RuntimeError } from '../base/errors.ts';
import type { McpServerConfig } from '../config/config.ts';
import type { Binding } from '../process/binding.ts';

export interface UpstreamServer {
  readonly config: McpServerConfig;
  /** Of a server with a `url`: its name, limits and secrets. */
  readonly binding: Binding;
}

export interface ChannelHandlers {
  /** Receives one JSON value as the server sent it, which should be a JSON-RPC message. */
  readonly onText: (text: string) => void;
  /** Called once, with the reason unless `close` was called. */
  readonly onClose?: ((fault?: RuntimeError) => void) | undefined;
}

/** Only for HTTP, where each message is a request of its own. */
interface SendOptions {
  /** Further headers, such as `Mcp-Param-*`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Ends the exchange of the message, which cancels a request of 2026-07-28. */
  readonly requestSignal?: AbortSignal | undefined;
  /** The stream of the answer has ended and is not resumed. */
  readonly onRequestStreamEnd?: (() => void) | undefined;
}

/** Carries JSON-RPC messages to and from an MCP server, as texts that nothing rewrites. */
export interface UpstreamChannel {
  /** Throws a coded error if the server cannot take the message. */
  send(text: string, options?: SendOptions): Promise<void>;
  /** For HTTP: the version on which the handshake of 2025 agreed. */
  setProtocolVersion?(version: string): void;
  /** Ends the process or the session. Never rejects. */
  close(): Promise<void>;
  /** Resolves after the end. */
  readonly closed: Promise<void>;
}

export interface LoginOptions {
  /** Receives the URL that a person opens in a browser on this machine. */
  readonly onUrl: (url: string) => void;
  /** Scopes to ask for, separated by spaces. Default: those of the config, or of the server. */
  readonly scope?: string | undefined;
  /** Default: 5 minutes. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LoginInfo {
  readonly server: string;
  /** Null if the server does not say. */
  readonly scope: string | null;
}
