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

/** Who calls: a key, or nobody in particular where the gateway asks for none. */
export interface Caller {
  /** Of the key; null without keys. */
  readonly keyId: string | null;
  readonly name: string;
  /** The models that it may call; undefined: all. */
  readonly models: readonly string[] | undefined;
  /** The names of the hooks that its calls pass; undefined: all. */
  readonly hooks: readonly string[] | undefined;
  /** Whether tokens or money of its calls are limited. */
  readonly hasBudget: boolean;
}

/** What a call is about to cost at most. */
export interface Estimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null where no price is known. */
  readonly cost: number | null;
}

/** What a call has used. */
export interface Used {
  /** Undefined: nobody told; what was set aside counts then. */
  readonly usage: TokenUsage | undefined;
  /** US dollars; null where no price or no usage is known. */
  readonly cost: number | null;
}

/** The place that a call takes among those of its key, until `end`. */
export interface Lease {
  /**
   * Gives the place back, and counts what was really used; undefined: the upstream was not asked. Once; never rejects.
   */
  end(used: Used | undefined): Promise<void>;
}

/** Keys and their limits. */
export interface Admission {
  /** The caller of a presented key. Throws RefusedCall (401, 403, 503). */
  authenticate(key: string | undefined): Promise<Caller>;
  /**
   * Counts the call against rates and concurrency, and sets tokens and money aside. Throws RefusedCall (403 for a model, also one
   * without a price, 429, 503). `estimate` is asked only for a caller with a key.
   */
  enter(caller: Caller, model: string, estimate: () => Estimate): Promise<Lease>;
  close(): Promise<void>;
}

/** The verdict of a chain in one phase. */
export interface AuditedVerdict {
  readonly phase: string;
  readonly verdict: string;
  readonly hook: string | null;
  readonly reason: string;
}

/** What is kept of a call. */
export interface AuditRecord {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly keyId: string | null;
  readonly caller: string;
  readonly endpoint: EndpointName;
  readonly model: string;
  /** The ids of the providers that were asked, in turn, and of the one whose answer it is. */
  readonly asked: readonly string[];
  readonly provider: string | null;
  readonly isStream: boolean;
  /** HTTP status that the client got. */
  readonly status: number;
  readonly outcome: 'allowed' | 'modified' | 'denied' | 'failed' | 'aborted' | 'refused';
  readonly verdicts: readonly AuditedVerdict[];
  /** SHA-256 in hex of the bodies as the client sent and got them; the audit keys them before they are kept. */
  readonly requestDigest: string;
  readonly answerDigest: string | null;
  readonly usage: TokenUsage | undefined;
  /** US dollars; null where no price is known. */
  readonly cost: number | null;
  /** Milliseconds: in all, in hooks, at the upstream. */
  readonly times: { readonly total: number; readonly hooks: number; readonly upstream: number };
  /** Only where the config asks for it. */
  readonly content?: { readonly request: string; readonly answer: string } | undefined;
}

export interface AuditLog {
  /**
   * Asked before a call goes on: rejects with RefusedCall (503 `audit_failed`) while rows cannot be kept and have to be. Costs
   * nothing while they can.
   */
  ensureWritable(): Promise<void>;
  /**
   * To be awaited before the last byte of an answer goes out. Resolves when the row is durable, and at once where the
   * config can do without it. Rejects with RefusedCall (503 `audit_failed`) when it could not be kept; then the rest of
   * the answer must not go out.
   */
  write(record: AuditRecord): Promise<void>;
  /** Keeps what was asked for, and gives out the last head. Never rejects. */
  close(): Promise<void>;
}

/** Tool hooks over the calls and results of tools that the client runs. */
export interface ToolJudge {
  /**
   * Judges results that the client sends back, before the provider hooks see the request: the messages of
   * `context.request.payload` with what hooks changed, the very list when they changed nothing. Throws RefusedCall.
   */
  judgeResults(context: JudgeContext): Promise<readonly ChatMessage[]>;
  /**
   * The unstreamed body of the answer that an earlier, equal request of this caller got, and that was kept while a person
   * decides about its calls. It stands in for the upstream, which is not asked, and is judged as the upstream's would be,
   * by after_call and `judgeCalls`. Undefined: nothing was kept. Asked after before_call. Throws RefusedCall.
   */
  recall(context: JudgeContext): Promise<string | undefined>;
  /**
   * Judges the calls of an answer after after_call: its messages with what hooks and people changed, the very list when
   * they changed nothing. Waits for a person as long as the config says. Throws RefusedCall.
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
  /** As the client calls it. */
  readonly model: string;
  /** As the client sent it. */
  readonly request: WireRequest;
  readonly signal: AbortSignal;
  /** Told of every decision that was taken. */
  readonly onDecision: (phase: string, decision: Decision) => void;
}

/** Which messages a key's earlier, allowed requests had. */
export interface SeenMessages {
  /**
   * The chain for before_call of one request of that caller: hooks of `judge: new` are asked only about what they have
   * not allowed before, and what they replace is joined with the rest. The very same links where no hook is of `new`.
   */
  watch(caller: Caller, links: readonly Link[]): WatchedChain;
}

interface WatchedChain {
  readonly links: readonly Link[];
  /** Called when the request was allowed: remembers what its hooks have judged. Never throws. */
  remember(): void;
}

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

/** An upstream whose turn it is to answer a call. */
export interface Turn {
  readonly offered: OfferedModel;
  /** Whether it stands in for the one that the model is offered from. */
  readonly isFallback: boolean;
  /** Whether somebody is asked after it; undefined: it is the only one of its model. */
  readonly hasNext: boolean | undefined;
}

/** What a gateway knows of its upstreams' faults, and whom it tells. */
export interface FallbackWatch {
  readonly breaker: Breaker;
  /** Called when a provider has failed and the next one is about to be asked; `why` quotes nothing of an answer. */
  readonly onFallback: (from: string, to: string, why: string) => void;
  /** Called when a provider is left out from now on. */
  readonly onOpen: (id: string) => void;
}

/** What the calls of a gateway use. */
export interface GatewayServices {
  readonly config: GatewayConfig;
  /** What is offered, in the order of the config. */
  readonly models: readonly OfferedModel[];
  /** The model of that name at an endpoint. Throws RefusedCall (404). */
  readonly modelOf: (endpoint: EndpointName, name: string) => OfferedModel;
  readonly codecs: Readonly<Record<EndpointName, EndpointCodec>>;
  readonly rules: WireRules;
  /** What streams hold, all together. */
  readonly heldBytes: { readonly held: number; open(): HeldShare };
  readonly fallback: FallbackWatch;
  readonly admission: Admission;
  /** Whether every call needs a key. */
  readonly requiresKeys: boolean;
  /** Undefined: no row is kept. */
  readonly audit: AuditLog | undefined;
  /** Undefined: tool hooks do not judge. */
  readonly tools: ToolJudge | undefined;
  /** Undefined: every hook judges all messages. */
  readonly seen: SeenMessages | undefined;
  /** Told of faults of the gateway itself. */
  readonly report: (thrown: unknown) => void;
  /** The hooks that a caller's calls pass. */
  hooksOf(caller: Caller): HookSet;
}

/** What one stream holds. */
export interface HeldShare {
  /** Throws RefusedCall: 502 `answer_too_large` for this stream, 503 `overloaded` for all together. */
  add(bytes: number): void;
  /** Gives everything back; may be called again. */
  end(): void;
}
