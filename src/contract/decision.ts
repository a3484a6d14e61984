import type { OperationContext } from './event.ts';
import type { EventKind, HookMode, Verdict } from './hook.ts';
import type { ChatMessage, ProviderRequest } from './provider.ts';

/** Where a hook ran or a model was called; null: not in one, or unknown. */
interface RecordedOrigin {
  /** The kind of the operation, such as `tool`, `model` or `gateway`. */
  readonly operation: string | null;
  readonly operation_id: string | null;
  readonly run_id: string | null;
  readonly step: string | null;
}

/** A recorded decision of a hook. */
export interface RecordedDecision extends RecordedOrigin {
  readonly type: 'decision';
  /** ISO 8601. */
  readonly at: string;
  readonly hook: string;
  readonly dialect: string;
  readonly kind: EventKind | 'host';
  readonly phase: string;
  readonly mode: HookMode;
  readonly verdict: Verdict;
  /** Without secrets, up to 1,000 characters. */
  readonly reason: string;
  /** The code of the error of a hook that failed, else null. */
  readonly error: string | null;
  readonly duration_ms: number;
  /** All hooks that decide on one event have the same. */
  readonly event: string;
}

/** So many decisions or model calls were dropped here, because they could not be stored in time. */
export interface RecordedGap {
  readonly type: 'gap';
  readonly at: string;
  readonly what: 'decisions' | 'model_calls';
  readonly dropped: number;
}

/** Newest first, in the order of writing. Every page has the gaps in its part of that order, whatever the filter. */
export interface DecisionPage {
  readonly decisions: readonly (RecordedDecision | RecordedGap)[];
  /** Given as `after`, it returns the next page; absent on the last one. */
  readonly next?: string;
}

interface DecisionCount {
  readonly hook: string;
  readonly mode: HookMode;
  readonly verdict: Verdict;
  readonly count: number;
}

export interface DecisionCounts {
  readonly total: number;
  readonly counts: readonly DecisionCount[];
  /** With `every`, oldest first: the counts of each hour or day that has decisions, by its start (UTC, ISO 8601). */
  readonly buckets?: readonly (DecisionCount & { readonly at: string })[];
  /** How many decisions were dropped. */
  readonly dropped: number;
}

/** A model call with the messages as the hooks left them. */
export interface RecordedModelCall extends RecordedOrigin {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly provider: string;
  readonly model: string;
  /** How many messages of the call before it on the page, answers included, come before `messages`. */
  readonly repeated: number;
  /** The messages that were sent after the repeated ones; the system prompt is the first one of a call. */
  readonly messages: readonly ChatMessage[];
  /** Empty if the call failed, or if a hook withheld the answer. */
  readonly answers: readonly ChatMessage[];
}

/** Model calls in order. Their messages and answers, one after another, are the conversation. */
export interface Conversation {
  readonly calls: readonly RecordedModelCall[];
  /** Model calls, of any conversation, that were dropped since the first of these calls. */
  readonly dropped: number;
  readonly next?: string;
}

/** A model call as the hooks left it. No answers: it failed, or a hook withheld the answer. */
export interface ModelExchange {
  readonly request: ProviderRequest;
  readonly answers: readonly ChatMessage[];
  readonly origin: OperationContext;
  /** The run that waits for a person because of the answer. */
  readonly run?: string | undefined;
}

/** Records a model call. Returns at once and never throws. */
export type KeepCall = (exchange: ModelExchange) => void;

/** A call of the gateway in its audit. */
export interface AuditedCall {
  /** ISO 8601; only the digits of a time that no calendar has. */
  readonly at: string;
  /** The row's chain; absent if the audit has only one. */
  readonly chain?: string;
  /** The number of the row in its chain. */
  readonly seq: number;
  readonly kind: 'call';
  readonly id: string;
  readonly key_id: string | null;
  readonly caller: string;
  readonly endpoint: string;
  readonly model: string;
  /** In call order, then the provider whose response was used. Null in rows of older versions. */
  readonly asked: readonly string[] | null;
  readonly provider: string | null;
  readonly stream: boolean;
  readonly status: number;
  /** `allowed`, `modified`, `denied`, `failed`, `aborted` or `refused`. */
  readonly outcome: string;
  readonly verdicts: readonly {
    readonly phase: string;
    readonly verdict: string;
    readonly hook: string | null;
    readonly reason: string;
  }[];
  /** HMAC-SHA-256, in hex, of the body's SHA-256. */
  readonly request_digest: string;
  readonly answer_digest: string | null;
  readonly usage: {
    readonly input: number;
    readonly output: number;
    readonly cached_input: number | null;
  } | null;
  /** US dollars. */
  readonly cost: number | null;
  /** Milliseconds. */
  readonly times: { readonly total: number; readonly hooks: number; readonly upstream: number };
  /** SHA-256, in hex, of the bodies; null if they are not recorded. */
  readonly content: string | null;
  readonly hash: string;
}

/** Newest first: by row, and between the chains of several replicas by time. */
export interface AuditPage {
  readonly calls: readonly AuditedCall[];
  /** Given as `after`, it returns the next page; absent on the last one. */
  readonly next?: string;
}
