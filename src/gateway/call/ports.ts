import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { EndpointName, RequestPayload, TokenUsage, WireAnswer, WireRequest } from '../wire/codec.ts';

/** Who calls: a key, or nobody in particular where the gateway asks for none. */
export interface Caller {
  /** Of the key; null without keys. */
  readonly keyId: string | null;
  readonly name: string;
  /** The models that it may call; undefined: all. */
  readonly models: readonly string[] | undefined;
  /** The names of the hooks that its calls pass; undefined: all. */
  readonly hooks: readonly string[] | undefined;
}

/** What a call is about to cost at most. */
export interface Estimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly cost: number;
}

/** The place that a call takes among those of its key, until `end`. */
export interface Lease {
  /** Sets tokens and money aside. Throws RefusedCall (429). */
  reserve(estimate: Estimate): Promise<void>;
  /** Gives the place back, and counts what was really used; undefined: nothing was. Once; never rejects. */
  end(used: { readonly usage: TokenUsage | undefined; readonly cost: number } | undefined): Promise<void>;
}

/** Keys and their limits. */
export interface Admission {
  /** The caller of a presented key. Throws RefusedCall (401, 403). */
  authenticate(key: string | undefined): Promise<Caller>;
  /** Counts the call against rates and concurrency. Throws RefusedCall (403 for a model, 429). */
  enter(caller: Caller, model: string): Promise<Lease>;
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
  readonly isStream: boolean;
  /** HTTP status that the client got. */
  readonly status: number;
  readonly outcome: 'allowed' | 'modified' | 'denied' | 'failed' | 'aborted' | 'refused';
  readonly verdicts: readonly AuditedVerdict[];
  /** SHA-256 in hex of the bodies as the client sent and got them. */
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
  /** Resolves when the row is durable. */
  write(record: AuditRecord): Promise<void>;
  close(): Promise<void>;
}

/** Tool hooks over the calls and results of tools that the client runs. */
export interface ToolJudge {
  /** Judges results that the client sends back: the payload's messages with what hooks changed. Throws RefusedCall. */
  judgeResults(
    request: WireRequest,
    payload: RequestPayload,
    context: JudgeContext,
  ): Promise<readonly ChatMessage[]>;
  /** Judges the calls of an answer: its messages with what hooks changed. Throws RefusedCall. */
  judgeCalls(
    answer: WireAnswer,
    messages: readonly ChatMessage[],
    context: JudgeContext,
  ): Promise<readonly ChatMessage[]>;
}

export interface JudgeContext {
  readonly caller: Caller;
  readonly model: string;
  readonly request: WireRequest;
  readonly signal: AbortSignal;
  /** Told of every decision that was taken. */
  readonly onDecision: (phase: string, decision: Decision) => void;
}

/** Which messages a key's earlier, allowed requests had. */
export interface SeenMessages {
  /** How many of the first messages were allowed before, all of them in this order, for that caller and hook. */
  countSeen(
    caller: Caller,
    hook: string,
    messages: readonly ChatMessage[],
    systemPrompt: string,
  ): Promise<number>;
  /** Remembers an allowed request. Never rejects. */
  remember(
    caller: Caller,
    hook: string,
    messages: readonly ChatMessage[],
    systemPrompt: string,
  ): Promise<void>;
}
