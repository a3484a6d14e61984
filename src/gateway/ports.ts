import type { Link } from '../calls/hooks/gate.ts';
import type { HookSet } from '../calls/hooks/links.ts';
import type { GatewayConfig } from '../config/config.ts';
import type { Decision } from '../contract/hook.ts';
import type { ChatMessage } from '../contract/provider.ts';
import type { Breaker } from '../models/fallback.ts';
import type { HeaderMap, OfferedModel } from './upstream/upstream.ts';
import type {
  ClientHeaders,
  EndpointCodec,
  EndpointName,
  TokenUsage,
  WireAnswer,
  WireRequest,
  WireRules,
} from './wire/codec.ts';

/** The key that makes a call, or an anonymous caller if the gateway requires no keys. */
export interface Caller {
  /** The key's ID; null without keys. */
  readonly keyId: string | null;
  readonly name: string;
  /** The models that the caller may use; undefined allows all. */
  readonly models: readonly string[] | undefined;
  /** The names of the hooks that run on the caller's calls; undefined runs all. */
  readonly hooks: readonly string[] | undefined;
  /** Whether a token or cost limit applies to the caller. */
  readonly hasBudget: boolean;
}

export interface Estimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null if no price is known. */
  readonly cost: number | null;
}

export interface Used {
  /** Undefined if the upstream reported no usage. The reserved amount counts then. */
  readonly usage: TokenUsage | undefined;
  /** US dollars; null if the price or the usage is unknown. */
  readonly cost: number | null;
}

/** A call's slot among the concurrent calls of its key, held until `end`. */
export interface Lease {
  /**
   * Releases the slot and counts the actual usage; undefined means that no upstream was called. Call it once. Never
   * rejects.
   */
  end(used: Used | undefined): Promise<void>;
}

export interface Admission {
  /** Returns the caller that a key belongs to. Throws RefusedCall (401, 403, 503). */
  authenticate(key: string | undefined): Promise<Caller>;
  /**
   * Counts the call against the rate and concurrency limits, and reserves tokens and money. Throws RefusedCall: 403 for
   * a forbidden or unpriced model, 429, 503. `estimate` is called only for callers with a key.
   */
  enter(caller: Caller, model: string, estimate: () => Estimate): Promise<Lease>;
  close(): Promise<void>;
}

export interface AuditedVerdict {
  readonly phase: string;
  readonly verdict: string;
  readonly hook: string | null;
  readonly reason: string;
}

export interface AuditRecord {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly keyId: string | null;
  readonly caller: string;
  readonly endpoint: EndpointName;
  readonly model: string;
  /** The IDs of the providers that were called, in order, and of the provider whose response was used. */
  readonly asked: readonly string[];
  readonly provider: string | null;
  readonly isStream: boolean;
  /** The HTTP status sent to the client. */
  readonly status: number;
  readonly outcome: 'allowed' | 'modified' | 'denied' | 'failed' | 'aborted' | 'refused';
  readonly verdicts: readonly AuditedVerdict[];
  /**
   * The digests are the SHA-256, in hex, of the bodies that the client sent and received. The audit keys them before
   * storing.
   */
  readonly requestDigest: string;
  readonly answerDigest: string | null;
  readonly usage: TokenUsage | undefined;
  /** US dollars; null if no price is known. */
  readonly cost: number | null;
  /** Milliseconds: in total, in hooks, at the upstream. */
  readonly times: { readonly total: number; readonly hooks: number; readonly upstream: number };
  /** Present only if the config stores content. */
  readonly content?: { readonly request: string; readonly answer: string } | undefined;
}

export interface AuditLog {
  /**
   * Called before a call proceeds. Rejects with RefusedCall (503 `audit_failed`) while rows are required but cannot be
   * written. Does no I/O otherwise.
   */
  ensureWritable(): Promise<void>;
  /**
   * Await it before sending the last byte of a response. Resolves when the row is durable, or at once if the config
   * does not require rows. Rejects with RefusedCall (503 `audit_failed`) if a required row was not written; the rest of
   * the response must not be sent then.
   */
  write(record: AuditRecord): Promise<void>;
  /** Writes pending rows and the last head. Never rejects. */
  close(): Promise<void>;
}

/** Runs tool hooks on the calls and results of tools that the client executes. */
export interface ToolJudge {
  /**
   * Judges the tool results that the client sends, before the provider hooks run. Returns the messages of
   * `context.request.payload` with the hooks' changes, or the same list if nothing changed. Throws RefusedCall.
   */
  judgeResults(context: JudgeContext): Promise<readonly ChatMessage[]>;
  /**
   * Returns the saved response body of an earlier, equal request of this caller that was waiting for an approval. The
   * body is not a stream. It replaces the upstream's response and passes after_call and `judgeCalls`. Returns undefined
   * if nothing was saved. Call it after before_call. Throws RefusedCall.
   */
  recall(context: JudgeContext): Promise<string | undefined>;
  /**
   * Judges the tool calls of a response after after_call. Returns its messages with the changes of hooks and people, or
   * the same list if nothing changed. Waits for an approval as long as the config allows. Throws RefusedCall.
   */
  judgeCalls(
    answer: WireAnswer,
    messages: readonly ChatMessage[],
    context: JudgeContext,
  ): Promise<readonly ChatMessage[]>;
}

export interface JudgeContext {
  readonly caller: Caller;
  readonly endpoint: EndpointName;
  readonly model: string;
  readonly request: WireRequest;
  readonly signal: AbortSignal;
  readonly onDecision: (phase: string, decision: Decision) => void;
}

export interface SeenMessages {
  /**
   * Returns the before_call chain for one request of a caller. Hooks with `judge: new` see only messages that they have
   * not yet allowed; their replacements are merged into the rest. Returns the same links if no hook has `judge: new`.
   */
  watch(caller: Caller, links: readonly Link[]): WatchedChain;
}

interface WatchedChain {
  readonly links: readonly Link[];
  /** Stores which messages the hooks judged. Call it when the request was allowed. Never throws. */
  remember(): void;
}

/** A call received over HTTP or made by an SDK in this process. */
export interface ClientCall {
  readonly endpoint: EndpointName;
  /** The query string with its question mark; empty if there is none. */
  readonly query: string;
  readonly headers: ClientHeaders;
  /** Reads the body. Throws RefusedCall (413) if it is too large, and the error that interrupts the transfer. */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Closes the client's connection; absent if the gateway has no connection to close. */
  readonly cut?: (() => void) | undefined;
}

export interface ClientReply {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
}

export interface Turn {
  readonly offered: OfferedModel;
  readonly isFallback: boolean;
  /** Whether a further upstream follows; undefined if the model has only one upstream. */
  readonly hasNext: boolean | undefined;
}

export interface FallbackWatch {
  readonly breaker: Breaker;
  /** Called when a provider has failed and the next one is tried. `why` quotes nothing of a response. */
  readonly onFallback: (from: string, to: string, why: string) => void;
  readonly onOpen: (id: string) => void;
}

export interface GatewayServices {
  readonly config: GatewayConfig;
  /** The offered models, in the order of the config. */
  readonly models: readonly OfferedModel[];
  /** Returns an endpoint's model by name. Throws RefusedCall (404). */
  readonly modelOf: (endpoint: EndpointName, name: string) => OfferedModel;
  readonly codecs: Readonly<Record<EndpointName, EndpointCodec>>;
  readonly rules: WireRules;
  /** The bytes that all streams buffer together. */
  readonly heldBytes: { readonly held: number; open(): HeldShare };
  readonly fallback: FallbackWatch;
  readonly admission: Admission;
  readonly requiresKeys: boolean;
  /** Undefined without an audit. */
  readonly audit: AuditLog | undefined;
  /** Undefined if tool hooks do not run. */
  readonly tools: ToolJudge | undefined;
  /** Undefined if every hook judges all messages. */
  readonly seen: SeenMessages | undefined;
  /** Receives internal errors of the gateway. */
  readonly report: (thrown: unknown) => void;
  hooksOf(caller: Caller): HookSet;
}

export interface HeldShare {
  /**
   * Throws RefusedCall: 502 `answer_too_large` if this stream buffers too much, 503 `overloaded` if all streams
   * together do.
   */
  add(bytes: number): void;
  /** Releases all bytes. Safe to call again. */
  end(): void;
}
