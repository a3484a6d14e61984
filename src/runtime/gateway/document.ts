import type { IncomingMessage } from 'node:http';

/** The models, endpoints and settings of a gateway. */
export interface GatewayDocument {
  /** `HOST:PORT`, from `spec.gateway.listen`. */
  readonly listen: string;
  readonly keys_required: boolean;
  /** Whether a valid key exists. */
  readonly has_keys: boolean;
  readonly models: readonly {
    /** The model name that clients use. */
    readonly name: string;
    readonly provider: string;
    /** The IDs of providers that are tried in order if this provider fails. */
    readonly fallback: readonly string[];
    /** Paths, such as `/v1/chat/completions`. */
    readonly endpoints: readonly string[];
  }[];
  /** Providers that no endpoint supports. */
  readonly not_offered: readonly { readonly provider: string; readonly reason: string }[];
  readonly drain_ms: number;
  /** Limits that the serving HTTP server must enforce. */
  readonly limits: {
    readonly headers_ms: number;
    readonly request_ms: number;
    readonly idle_ms: number;
    readonly connections: number;
  };
}

export interface GatewayOptions {
  /**
   * The address at which the gateway is reached, as `HOST:PORT`. Default: `spec.gateway.listen`. Calls need a key
   * unless it is a loopback address.
   */
  readonly listen?: string | undefined;
  /** Receives lines that the config sends to stdout, such as heads of the audit. Default: they are dropped. */
  readonly print?: ((line: string) => void) | undefined;
  /** How many processes serve this config together. Each gets its share of the limits on all calls. Default: 1. */
  readonly processes?: number | undefined;
}

/** The gateway of a runtime, for a server of your own. It closes with the runtime. */
export interface Gateway {
  /**
   * Answers a request to one of the endpoints, and any other with 404. `bindings.incoming` is the request of Node's
   * server from which `request` was made; reading it is faster. Never rejects.
   */
  fetch(request: Request, bindings?: { readonly incoming?: IncomingMessage | undefined }): Promise<Response>;
  /** Opens the gateway and describes it. Throws CONFIG_INVALID, STORE_FAILED, RUNTIME_CLOSED. */
  describe(): Promise<GatewayDocument>;
  /** Refuses new calls and reports that it is not ready. */
  leave(): void;
}

export interface FetchOptions {
  /** Makes the calls that hooks allow. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}
