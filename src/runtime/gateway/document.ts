import type { IncomingMessage } from 'node:http';

/** What a gateway offers. */
export interface GatewayDocument {
  /** Of `spec.gateway.listen`: `HOST:PORT`. */
  readonly listen: string;
  readonly keys_required: boolean;
  /** Whether there is a key that lets anybody in. */
  readonly has_keys: boolean;
  readonly models: readonly {
    /** As clients ask for it. */
    readonly name: string;
    readonly provider: string;
    /** The providers that are asked one after another where that one is at fault. */
    readonly fallback: readonly string[];
    /** Paths, such as `/v1/chat/completions`. */
    readonly endpoints: readonly string[];
  }[];
  /** Providers that no endpoint speaks to. */
  readonly not_offered: readonly { readonly provider: string; readonly reason: string }[];
  readonly drain_ms: number;
  /** What a server in front of it has to keep. */
  readonly limits: {
    readonly headers_ms: number;
    readonly request_ms: number;
    readonly idle_ms: number;
    readonly connections: number;
  };
}

export interface GatewayOptions {
  /** Where it will be reached, as `HOST:PORT`; default: `spec.gateway.listen`. Other than on loopback calls need a key. */
  readonly listen?: string | undefined;
  /** Gets lines that the config wants on stdout, such as heads of the audit; default: nobody does. */
  readonly print?: ((line: string) => void) | undefined;
}

/** The gateway of a runtime, for a server of one's own. It ends with the runtime. */
export interface Gateway {
  /**
   * Answers a request to one of the endpoints; anything else is 404. `bindings.incoming` is the request of Node's server
   * that it was made from, which is read with less work. Never rejects.
   */
  fetch(request: Request, bindings?: { readonly incoming?: IncomingMessage | undefined }): Promise<Response>;
  /** Opens it, and tells what it offers. Throws CONFIG_INVALID, STORE_FAILED, RUNTIME_CLOSED. */
  describe(): Promise<GatewayDocument>;
  /** Refuses calls that come from now on, and is not ready any more. */
  leave(): void;
}

export interface FetchOptions {
  /** What makes the calls that hooks have let pass; default: the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}
