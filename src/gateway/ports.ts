import type { Link } from '../calls/hooks/gate.ts';
import type { HookSet } from '../calls/hooks/links.ts';
import type { GatewayConfig } from '../config/config.ts';
import type { KeepCall } from '../contract/decision.ts';
import type { Emit } from '../contract/event.ts';
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

export interface Lease {
  /** `undefined` means that no upstream was called. Call it once. Never rejects. */
  end(used: Used | undefined): Promise<void>;
}

export interface Admission {
  /** Returns the caller that a key belongs to. Throws RefusedCall (401, 403, 503). */
  authenticate(key: string | undefined): Promise<Caller>;
  /**
   * Reserves tokens and money; `estimate` is called only for callers with a key. Throws RefusedCall (403, 429, 503).
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
  readonly status: number;
  readonly outcome: 'allowed' | 'modified' | 'denied' | 'failed' | 'aborted' | 'refused';
  readonly verdicts: readonly AuditedVerdict[];
  /** SHA-256, in hex, of the bodies sent and received. The audit keys the digests before storing. */
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
  /** Rejects with RefusedCall (503 `audit_failed`) while required rows cannot be written. Does no I/O otherwise. */
  ensureWritable(): Promise<void>;
  /**
   * Await it before the last byte of a response. If it rejects with RefusedCall (503), send no more of the response.
   */
  write(record: AuditRecord): Promise<void>;
  /** Writes pending rows and the last head. Never rejects. */
  close(): Promise<void>;
}

export interface ToolJudge {
  /** Returns the request's messages with the hooks' changes, or the same list if unchanged. Throws RefusedCall. */
  judgeResults(context: JudgeContext): Promise<readonly ChatMessage[]>;
  /**
   * Returns the saved, unstreamed response to an earlier, equal request that waited for an approval; undefined if none.
   * It replaces the upstream's response and passes after_call and `judgeCalls`. Call it after before_call. Throws
   * RefusedCall.
   */
  recall(context: JudgeContext): Promise<string | undefined>;
  /**
   * Returns the messages with the changes of hooks and people, or the same list if unchanged. Waits for an approval as
   * long as the config allows. Throws RefusedCall.
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
  /** Calls of the response wait for a person, in this run. */
  readonly onWait?: (run: string) => void;
}

export interface SeenMessages {
  /**
   * Returns the before_call chain for a request. Hooks with `judge: new` see only messages that they have not allowed.
   */
  watch(caller: Caller, links: readonly Link[]): WatchedChain;
}

interface WatchedChain {
  readonly links: readonly Link[];
  /** Stores which messages the hooks judged. Call it when the request was allowed. Never throws. */
  remember(): void;
}

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
  readonly models: readonly OfferedModel[];
  /** Returns an endpoint's model by name. Throws RefusedCall (404). */
  readonly modelOf: (endpoint: EndpointName, name: string) => OfferedModel;
  readonly codecs: Readonly<Record<EndpointName, EndpointCodec>>;
  readonly rules: WireRules;
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
  /** Receives the events of requests as operations. */
  readonly emit: Emit;
  /** Undefined unless messages of model calls are recorded. */
  readonly keepCall?: KeepCall | undefined;
  /** Receives internal errors of the gateway. */
  readonly report: (thrown: unknown) => void;
  hooksOf(caller: Caller): HookSet;
}

export interface HeldShare {
  /** Throws RefusedCall: 502 `answer_too_large` for this stream, 503 `overloaded` for all streams together. */
  add(bytes: number): void;
  /** Releases all bytes. Safe to call again. */
  end(): void;
}
