import type { ListenAddress } from './listen.ts';
import type { passableHeaders } from './schema/gateway.ts';

/** A model under the name that clients ask for. */
export interface GatewayModelConfig {
  readonly name: string;
  /** The id of a provider. */
  readonly provider: string;
  /** The upstream's name of the model. */
  readonly model: string;
}

/** What a client may use up; times in milliseconds. */
export interface GatewayLimits {
  readonly bodyBytes: number;
  readonly answerBytes: number;
  readonly depth: number;
  readonly headersMs: number;
  readonly requestMs: number;
  /** Until an upstream begins to answer. */
  readonly upstreamMs: number;
  /** For the rest of an answer once it has begun, however slowly it comes. */
  readonly answerMs: number;
  /** Between two parts of a streamed answer, read or written. */
  readonly idleMs: number;
  readonly connections: number;
  /** Of one stream. */
  readonly heldBytes: number;
  readonly totalHeldBytes: number;
}

export interface GatewayAuditConfig {
  /** Whether calls are refused while rows cannot be kept. */
  readonly required: boolean;
  readonly content: boolean;
  /** The environment variable that holds the signing key; absent: one is made beside the audit. */
  readonly keyEnv?: string;
  readonly keepMs: number;
  readonly head?: {
    /** Absolute. */
    readonly file?: string;
    readonly stdout: boolean;
    readonly everyMs: number;
  };
}

/** `spec.gateway`, with its defaults. */
export interface GatewayConfig {
  readonly listen: ListenAddress;
  /** Undefined: every provider under its own model's name. */
  readonly models: readonly GatewayModelConfig[] | undefined;
  /** Sets of hooks by name. */
  readonly hooks: ReadonlyMap<string, readonly string[]>;
  readonly onDeny: 'error' | 'answer';
  readonly stream: 'hold' | 'windowed';
  /** UTF-16 units. */
  readonly window: number;
  /** By hook; one that is not there judges all messages. */
  readonly judge: ReadonlyMap<string, 'all' | 'new'>;
  readonly opaque: readonly string[];
  readonly references: readonly string[];
  readonly redactsEmbeddings: boolean;
  readonly tools: { readonly hooks: boolean; readonly pending: 'hold' | 'refuse'; readonly holdMs: number };
  readonly passThrough: readonly (typeof passableHeaders)[number][];
  /** Lower-case names of further headers of clients that go upstream. */
  readonly forwardHeaders: readonly string[];
  readonly limits: GatewayLimits;
  /** Undefined: other than on loopback. */
  readonly requiresKeys: boolean | undefined;
  /** Undefined: no row is kept. */
  readonly audit: GatewayAuditConfig | undefined;
  readonly drainMs: number;
}
