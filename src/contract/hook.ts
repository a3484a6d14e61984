import { type Fault, isCancelled, withCatalogueText } from '../base/errors.ts';
import { Json } from '../base/json/json.ts';
import type { ChatMessage, ProviderRequest, ProviderResponse } from './provider.ts';
import type { FinishedCall, Turn } from './turn.ts';

export const phasesOf = {
  provider: ['before_call', 'after_call'],
  tool: ['before_execution', 'after_execution'],
  session: ['session_start', 'session_update', 'session_end'],
  eval: ['scored'],
} as const;

export type HookKind = keyof typeof phasesOf;
export type Phase = (typeof phasesOf)[HookKind][number];
/** `filter`: its verdict counts. `observe`: it is only notified. `shadow`: its verdict is only recorded. */
export type HookMode = 'filter' | 'observe' | 'shadow';

interface AnswerBase {
  readonly reason: string;
  readonly metadata: Json;
  readonly context?: readonly string[];
}

export interface Allow extends AnswerBase {
  readonly verdict: 'allow';
  /** The hook does not handle this point and need not be called for it again during its process's life. */
  readonly isUnsubscribed?: boolean;
}

/** The hook replaces parts of the event; `replace` has the shape of the phase or point. */
export interface Modify extends AnswerBase {
  readonly verdict: 'modify';
  readonly replace: Json;
}

/** The hook stops the event. `enforced` requests a replacement text; `error` is set if a fault caused the denial. */
export interface Deny extends AnswerBase {
  readonly verdict: 'deny';
  readonly enforced: boolean;
  readonly error?: Fault;
}

/** The hook wants a person to decide whether the tool runs; with `replace`, on the modified call. */
export interface Ask extends AnswerBase {
  readonly verdict: 'ask';
  readonly replace?: Json;
}

export interface Respond extends AnswerBase {
  readonly verdict: 'respond';
  readonly result: Json;
  /** The result is that of a failed tool. */
  readonly isError?: boolean;
  /** A text for the caller. If all calls of a round have one, the model is not called again. */
  readonly handled?: string;
}

/** The hook ends the turn or the session; `error` is set if a fault caused the abort. */
export interface Abort extends AnswerBase {
  readonly verdict: 'abort';
  readonly scope: 'turn' | 'session';
  readonly error?: Fault;
}

export type Answer = Allow | Modify | Deny | Ask | Respond | Abort;
export type Verdict = Answer['verdict'];

export interface Decision {
  readonly verdict: Verdict;
  /** The hook that decided, or the last one that modified; null if every hook only allowed. */
  readonly hook: string | null;
  readonly dialect: string | null;
  readonly reason: string;
  readonly enforced: boolean;
  /** All replacements by member, the last one of each; null without any. */
  readonly replace: Json | null;
  /** Replaces the work itself: the text of an enforced denial, or the result of a `respond`; else null. */
  readonly result: Json | null;
  readonly context: readonly string[];
  /** What an abort ends; null for other verdicts. */
  readonly abort: 'turn' | 'session' | null;
  /** From the deciding hook, else merged from all hooks in order. */
  readonly metadata: Json;
  readonly error?: Fault;
}

export interface AnswerDetails {
  readonly reason?: string;
  readonly metadata?: Json;
  readonly context?: readonly string[];
}

const answerBase = ({ reason = '', metadata = new Json('{}'), context }: AnswerDetails): AnswerBase => ({
  reason,
  metadata,
  ...(context !== undefined && context.length > 0 && { context }),
});

export const allow = (reason: string, metadata: Json): Allow => ({ verdict: 'allow', reason, metadata });
export const modify = (replace: Json, reason: string, metadata: Json): Modify => ({
  verdict: 'modify',
  replace,
  reason,
  metadata,
});
export const ask = (reason: string, metadata: Json): Ask => ({ verdict: 'ask', reason, metadata });
export const deny = (reason: string, enforced: boolean, metadata: Json): Deny => ({
  verdict: 'deny',
  reason,
  enforced,
  metadata,
});

/** Constructors with the optional members that foreign dialects use. */
export const answers = {
  allow: (beside: AnswerDetails = {}): Allow => ({ verdict: 'allow', ...answerBase(beside) }),
  modify: (replace: unknown, beside: AnswerDetails = {}): Modify => ({
    verdict: 'modify',
    replace: Json.from(replace),
    ...answerBase(beside),
  }),
  deny: (
    reason: string,
    { error, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly error?: Fault } = {},
  ): Deny => ({
    verdict: 'deny',
    enforced: false,
    ...answerBase({ ...beside, reason }),
    ...(error && { error }),
  }),
  ask: (
    reason: string,
    { replace, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly replace?: Json } = {},
  ): Ask => ({
    verdict: 'ask',
    ...answerBase({ ...beside, reason }),
    ...(replace && { replace }),
  }),
  respond: (result: unknown, beside: AnswerDetails = {}): Respond => ({
    verdict: 'respond',
    result: Json.from(result),
    ...answerBase(beside),
  }),
  abort: (
    reason: string,
    scope: Abort['scope'],
    { error, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly error?: Fault } = {},
  ): Abort => ({ verdict: 'abort', scope, ...answerBase({ ...beside, reason }), ...(error && { error }) }),
} as const;

/**
 * An answer or decision for callers, agents and models. It reduces a hook's fault to its code and the catalogue's text,
 * since process output may quote another caller. Only the log and `wholeFault` have the rest.
 */
export function withoutFaultText<Given extends { readonly reason: string; readonly error?: Fault }>(
  answer: Given,
): Given {
  if (answer.error === undefined) return answer;
  // Our own cancellation has no text of a peer.
  if (isCancelled(answer.error) || wholeFaults.has(answer.error)) return answer;
  const error = withCatalogueText(answer.error);
  wholeFaults.set(error, { reason: answer.reason, error: answer.error });
  return { ...answer, reason: `the hook failed: ${error.message}`, error };
}

/** The details that `withoutFaultText` removed, for the person who runs the hook at the command line. */
export function wholeFault({ error }: Pick<Decision, 'error'>): WholeFault | undefined {
  return error && wholeFaults.get(error);
}

interface WholeFault {
  readonly reason: string;
  readonly error: Fault;
}

const wholeFaults = new WeakMap<Fault, WholeFault>();

/** A tool call before its execution; `args` is an object. */
export interface ToolHookRequest {
  readonly name: string;
  readonly args: unknown;
  readonly call_id: string;
  /** The model's own id of the call, if a model requested it. Not part of the native payload. */
  readonly tool_use_id?: string | undefined;
  /** The kind of work as configured: fs_read, fs_write, shell, network, … */
  readonly category?: string | undefined;
  /** The tool's names in other systems; foreign hooks receive the first. */
  readonly aliases?: readonly string[] | undefined;
  /** The tool does not exist, and no hook supplied a result. */
  readonly isUnknown?: boolean | undefined;
}

/** A finished tool call as the model reads it; `error` is empty on success. */
export interface ToolHookResponse {
  readonly name: string;
  readonly call_id: string;
  readonly content: string;
  readonly error: string;
  readonly latency_ms: number;
  /** The result of a successful call. Not part of the native payload. */
  readonly result?: Json | undefined;
}

export interface SessionEvent {
  readonly session_id: string;
  readonly conversation_id: string;
  readonly messages: readonly ChatMessage[];
  readonly turn_index: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A finished eval as an eval hook reads it. If it is unscored, `score` is absent and `error` has the reason. */
export interface EvalEvent {
  readonly eval_id: string;
  readonly type: string;
  readonly score?: number;
  readonly passed: boolean;
  readonly explanation?: string;
  readonly duration_ms: number;
  readonly error?: string;
  readonly details?: unknown;
  readonly session_id?: string;
  readonly turn_index?: number;
}

/** The events of native hooks, with the members of the native payload. */
export type NativeEvent =
  | { readonly hook: 'provider'; readonly phase: 'before_call'; readonly request: ProviderRequest }
  | {
      readonly hook: 'provider';
      readonly phase: 'after_call';
      readonly request: ProviderRequest;
      readonly response: ProviderResponse;
    }
  | { readonly hook: 'tool'; readonly phase: 'before_execution'; readonly request: ToolHookRequest }
  | {
      readonly hook: 'tool';
      readonly phase: 'after_execution';
      readonly request: ToolHookRequest;
      readonly response: ToolHookResponse;
    }
  | {
      readonly hook: 'session';
      readonly phase: 'session_start' | 'session_update' | 'session_end';
      readonly event: SessionEvent;
    }
  | { readonly hook: 'eval'; readonly phase: 'scored'; readonly event: EvalEvent };

/** A finished call, and what the model reads of it. `asked` contains the arguments as the model wrote them. */
export interface EndedCall {
  readonly hook: 'tool';
  readonly request: ToolHookRequest;
  readonly asked: unknown;
  readonly response: ToolHookResponse;
  readonly status: 'ok' | 'failed' | 'denied';
  readonly denial?:
    | { readonly reason: string; readonly stage: 'before_execution' | 'approval' | 'after_execution' }
    | undefined;
  /** A flow control call: no process ran. */
  readonly isFlow: boolean;
}

/** A phase of a tool call that only foreign dialects support. */
export type CallEvent =
  /** A decision after all filters, on the call as they left it. `asked`: a hook wants a person to decide. */
  | {
      readonly hook: 'tool';
      readonly phase: 'approval';
      readonly request: ToolHookRequest;
      readonly asked: { readonly hook: string; readonly reason: string } | null;
    }
  /** The call was denied before it ran; `content` is what the model would read. */
  | {
      readonly hook: 'tool';
      readonly phase: 'blocked';
      readonly request: ToolHookRequest;
      readonly response: ToolHookResponse;
      readonly reason: string;
      /** Where it was denied; absent: unknown. */
      readonly stage?: 'before_execution' | 'approval' | undefined;
    }
  /** Notification: the process is about to run with these arguments. */
  | { readonly hook: 'tool'; readonly phase: 'started'; readonly request: ToolHookRequest }
  | (EndedCall & { readonly phase: 'finished' })
  /** Notification, in call order: all calls of the response ended. */
  | (EndedCall & { readonly phase: 'returned' })
  /** Notification: the call is pending and waits for a person. */
  | {
      readonly hook: 'tool';
      readonly phase: 'pending';
      readonly request: ToolHookRequest;
      /** The id of the pending call, which is already stored. */
      readonly id: string;
      readonly message: string;
    };

/** A turn phase that only foreign dialects support. Hooks decide in the first seven phases and observe the others. */
export type TurnEvent =
  /** A person's message begins the turn. `replace` may have `prompt`. */
  | { readonly hook: 'turn'; readonly phase: 'prompt'; readonly turn: Turn }
  /** `replace` may have `system_prompt`. */
  | { readonly hook: 'turn'; readonly phase: 'system_prompt'; readonly turn: Turn }
  /** `replace` may have `tools: {include?, exclude?}`, lists of names. */
  | { readonly hook: 'turn'; readonly phase: 'tool_list'; readonly turn: Turn }
  /** `replace` may have `model`, `system_prompt`, `messages`, `tools`, `options`. */
  | { readonly hook: 'turn'; readonly phase: 'request'; readonly turn: Turn }
  /** `replace` may have `fallback`, `fuel`, `fuel_delta`. */
  | { readonly hook: 'turn'; readonly phase: 'loop'; readonly turn: Turn }
  /** After the last result of a response; `replace` as for `loop`. */
  | {
      readonly hook: 'turn';
      readonly phase: 'batch';
      readonly turn: Turn;
      readonly calls: readonly FinishedCall[];
    }
  /** An answer without tool calls, or the round limit. `replace` may have `follow_up`. */
  | {
      readonly hook: 'turn';
      readonly phase: 'stop';
      readonly turn: Turn;
      readonly response: string;
      readonly end: 'final_response' | 'max_iterations';
    }
  | { readonly hook: 'turn'; readonly phase: 'turn_start'; readonly turn: Turn }
  /** An answer to `turn.prompt` without tool calls was accepted. Further answers may follow in the turn. */
  | {
      readonly hook: 'turn';
      readonly phase: 'answered';
      readonly turn: Turn;
      readonly response: string;
      readonly original_prompt: string;
    }
  | { readonly hook: 'turn'; readonly phase: 'model_asked'; readonly turn: Turn }
  | {
      readonly hook: 'turn';
      readonly phase: 'model_retried';
      readonly turn: Turn;
      /** From 1. */
      readonly retry: number;
      readonly max_retries: number;
      readonly error: Fault;
      readonly backoff_ms: number;
    }
  | {
      readonly hook: 'turn';
      readonly phase: 'model_answered';
      readonly turn: Turn;
      readonly message: ChatMessage;
    }
  | {
      readonly hook: 'turn';
      readonly phase: 'turn_end';
      readonly turn: Turn;
      /** The final answer; empty without one. */
      readonly response: string;
      readonly status: 'completed' | 'failed' | 'denied';
      /** A flow control tool, not the model, ended the turn. */
      readonly isHandedBack: boolean;
      readonly original_prompt: string;
      readonly duration_ms: number;
    }
  | {
      readonly hook: 'turn';
      readonly phase: 'error';
      readonly turn: Turn;
      readonly stage: 'llm';
      readonly error: Fault;
    };

export type HookEvent = NativeEvent | CallEvent | TurnEvent;
export type EventKind = HookEvent['hook'];
export type EventPhase = HookEvent['phase'];
