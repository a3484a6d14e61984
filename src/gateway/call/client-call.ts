import type { ClientHeaders, HeaderMap } from '../upstream/headers.ts';
import type { EndpointName } from '../wire/codec.ts';

/** A call as it came in over HTTP, or from an SDK in this process. */
export interface ClientCall {
  readonly endpoint: EndpointName;
  /** Behind the path, with its question mark; empty where there is none. */
  readonly query: string;
  readonly headers: ClientHeaders;
  /** The bytes of the body. Throws RefusedCall (413) when there are more, and what breaks it off. */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Cuts the client's connection; absent where there is none of ours. */
  readonly cut?: (() => void) | undefined;
}

/** What a client gets. */
export interface ClientReply {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
}
